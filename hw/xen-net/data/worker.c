/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * worker.c - a thread that serves queues
 *
 * Theory of operation
 *
 * A worker runs one epoll loop. What epoll reports only marks directions of queues as ready; then
 * each queue that is ready gets one turn in each ready direction; then epoll is asked again,
 * without waiting while anything is ready. So a turn is bounded, every source is looked at between
 * two turns of the same queue, and neither a neighbour nor the other direction starves.
 *
 * The main thread and the worker exchange commands: one at a time, the main thread waits. Commands
 * are executed between rounds, when no queue has its turn and no epoll event is outstanding, so a
 * removed queue is never touched again.
 *
 * An event from the guest that brings no work costs the guest more than us: from the
 * SPURIOUS_FREE-th in a row on, the channel is unmasked only after a delay that doubles from 1 ms
 * to 1 s, until there is work again (XSA-332). The kernel's own protection does not cover channels
 * of user programs.
 */
#include <errno.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/rights.h"
#include "data/neighbours.h"
#include "data/queue-inspect.h"
#include "data/queue-private.h"
#include "trace.h"

#define WORKER_EVENTS 64
/* Events without work that a well-behaved guest may send in a row, when it races with us. */
#define SPURIOUS_FREE 8u
/* Doublings of 1 ms: about a second. */
#define SPURIOUS_DOUBLINGS 10u
/* How soon a guest that posts buffers without telling is noticed. */
#define SLOTS_POLL_NS (100 * XN_NS_PER_MS)

enum XnCommandKind {
    XN_COMMAND_NONE,
    /* nothing but to say that it is there */
    XN_COMMAND_GREET,
    XN_COMMAND_ADD,
    XN_COMMAND_REMOVE,
    XN_COMMAND_INSPECT,
    XN_COMMAND_KICK,
    XN_COMMAND_QUIT,
};

struct XnWorker {
    struct XnWorkerConfig config;
    struct XnGnttab *gnttab;
    struct XnTurn *turn;
    int epoll_fd;
    struct XnPollSource command_source;
    /* how often epoll was asked */
    uint64_t round;
    GThread *thread;
    /* all its queues, each once; the worker's thread only */
    GPtrArray *queues;

    GMutex lock;
    GCond done;
    /* guarded by lock */
    enum XnCommandKind command;
    struct XnQueue *command_queue;
    struct XnQueueView *command_view;
};

static void worker_watch(struct XnWorker *worker, struct XnPollSource *source, uint32_t events)
{
    struct epoll_event event = {.events = events, .data.ptr = source};

    if (source->events == events) {
        return;
    }
    if (epoll_ctl(worker->epoll_fd,
                  events == 0           ? EPOLL_CTL_DEL
                  : source->events == 0 ? EPOLL_CTL_ADD
                                        : EPOLL_CTL_MOD,
                  source->fd, &event) < 0) {
        log_shared(XN_LOG_ERROR, NULL, "epoll on descriptor %d failed: %s", source->fd,
                   g_strerror(errno));
        return;
    }
    source->events = events;
}

/* Other queues that wait for room in the queue's guest_rx ring look again. */
static void worker_end_waiting(struct XnWorker *worker, struct XnQueue *queue)
{
    struct XnQueue *const *steered = queue->config.shared->steered;

    for (uint32_t i = 0; i < XN_VIF_QUEUES_MAX && steered[i]; i++) {
        if (steered[i]->guest_rx_waits_for == queue) {
            steered[i]->guest_rx_ready = true;
        }
    }
    if (!queue->guest_rx_waited_for) {
        return;
    }
    queue->guest_rx_waited_for = false;
    for (guint i = 0; i < worker->queues->len; i++) {
        struct XnQueue *other = g_ptr_array_index(worker->queues, i);

        if (other->guest_tx_waits_for == queue) {
            other->guest_tx_waits_for = NULL;
            other->guest_tx_ready = !other->guest_tx_port_full;
        }
    }
}

static void worker_take_event(struct XnWorker *worker, struct XnQueue *queue)
{
    uint32_t channel = evtchn_take(queue->config.evtchn);

    if (channel == 0) {
        return;
    }
    counter_add(&queue->config.counters->evtchn_events, 1);
    queue->event_since_work = true;
    trace_evtchn_event(queue, queue->config.domid, queue->config.index);
    if (channel == queue->config.guest_tx_channel) {
        queue->guest_tx_masked = true;
        queue->guest_tx_ready = !queue->guest_tx_port_full;
    }
    if (channel == queue->config.guest_rx_channel) {
        queue->guest_rx_masked = true;
        queue->guest_rx_ready = true;
        worker_end_waiting(worker, queue);
    }
}

/*
 * A read for which there is no frame costs as much as other calls that do something (docs/
 * performance.md). So the port is read when epoll has said that there is something, and while
 * frames come one by one only once; if there was more, epoll says so in the next round, and from
 * then on the port is read until it is empty.
 */
static void worker_take_port(const struct XnWorker *worker, struct XnQueue *queue, uint32_t events)
{
    if (events & (EPOLLIN | EPOLLERR | EPOLLHUP)) {
        queue->port_drained = false;
        queue->port_sparse = worker->round - queue->port_round > 1;
        queue->port_round = worker->round;
        queue->guest_rx_ready = true;
    }
    if (events & (EPOLLOUT | EPOLLERR)) {
        queue->guest_tx_port_full = false;
        queue->guest_tx_ready = true;
    }
}

static bool worker_queue_ready(const struct XnQueue *queue)
{
    return !queue->broken_reason && (queue->guest_tx_ready || queue->guest_rx_ready);
}

/*
 * Keeps count of events that brought no work. Returns for how long the channel is to stay masked
 * after a turn that dealt with `done` frames.
 */
static uint64_t worker_spurious_delay(struct XnQueue *queue, uint32_t done)
{
    bool event = queue->event_since_work;

    queue->event_since_work = false;
    if (done > 0) {
        queue->spurious_events = 0;
        return 0;
    }
    if (!event) {
        return 0;
    }
    counter_add(&queue->config.counters->evtchn_spurious, 1);
    queue->spurious_events++;
    if (queue->spurious_events <= SPURIOUS_FREE) {
        return 0;
    }
    return XN_NS_PER_MS << MIN(queue->spurious_events - SPURIOUS_FREE - 1, SPURIOUS_DOUBLINGS);
}

static void worker_unmask(struct XnQueue *queue)
{
    const struct XnQueueConfig *config = &queue->config;
    bool shared = config->guest_tx_channel == config->guest_rx_channel;
    bool unmask_guest_tx = queue->guest_tx_masked && !queue->guest_tx_ready;
    bool unmask_guest_rx = queue->guest_rx_masked && !queue->guest_rx_ready;

    if (shared && (queue->guest_tx_ready || queue->guest_rx_ready)) {
        return;
    }
    if (unmask_guest_tx) {
        queue->guest_tx_masked = false;
        evtchn_unmask(config->evtchn, config->guest_tx_channel);
    }
    if (unmask_guest_rx) {
        queue->guest_rx_masked = false;
        if (!shared) {
            evtchn_unmask(config->evtchn, config->guest_rx_channel);
        }
    }
}

static void worker_stop_broken(struct XnWorker *worker, struct XnQueue *queue)
{
    worker_watch(worker, &queue->evtchn_source, 0);
    worker_watch(worker, &queue->port_source, 0);
    queue->deadline_ns = 0;
    queue->broken_told = true;
    trace_queue_broken(queue, queue->config.domid, queue->config.index, queue->broken_reason);
    queue->config.broken(queue->config.opaque, queue->broken_reason);
}

/* The earlier of two moments, of which 0 is never. */
static uint64_t worker_earlier(uint64_t a, uint64_t b)
{
    return a == 0 || (b != 0 && b < a) ? b : a;
}

/* Does the guest lack buffers or credit, so that it is no use to read the port? */
static bool worker_guest_rx_waits(const struct XnQueue *queue)
{
    return queue->guest_rx_slots_needed > 0 || queue->guest_rx_credit_ns != 0;
}

/* One turn for each direction that is ready, and then what the queue is to wait for. */
static void worker_serve(struct XnWorker *worker, struct XnQueue *queue)
{
    uint32_t done = 0;
    uint64_t delay;

    if (queue->guest_tx_ready) {
        done += guest_tx_turn(queue, worker->turn);
    }
    if (queue->guest_rx_ready && !queue->broken_reason) {
        done += guest_rx_turn(queue, worker->turn);
    }
    if (queue->broken_reason) {
        return;
    }
    delay = worker_spurious_delay(queue, done);
    if (delay == 0) {
        worker_unmask(queue);
    }
    if (delay == 0 && (queue->guest_rx_slots_needed > 0 || queue->guest_rx_stall.stalled)) {
        delay = SLOTS_POLL_NS;
    }
    queue->deadline_ns = delay > 0 ? clock_now_ns() + delay : 0;
    if (queue->held_used) {
        queue->deadline_ns = worker_earlier(queue->deadline_ns, queue_trim(queue, clock_now_ns()));
    }
    queue->deadline_ns = worker_earlier(queue->deadline_ns, queue->guest_tx_credit_ns);
    if (queue->guest_tx_waits_for) {
        queue->deadline_ns = worker_earlier(queue->deadline_ns, queue->guest_tx_wait_until_ns);
    }
    queue->deadline_ns = worker_earlier(queue->deadline_ns, queue->guest_rx_credit_ns);
    worker_watch(worker, &queue->port_source,
                 (worker_guest_rx_waits(queue) ? 0u : EPOLLIN) |
                     (queue->guest_tx_port_full ? EPOLLOUT : 0u));
}

/*
 * Nanoseconds that epoll may wait: 0 while a queue is ready, UINT64_MAX when nothing is due. A
 * queue whose deadline has come becomes ready here: it looks for buffers that the guest posted
 * without telling, has credit again, or has its channels unmasked.
 */
static uint64_t worker_timeout_ns(struct XnWorker *worker)
{
    uint64_t now = 0, earliest = 0;
    bool ready = false;

    for (guint i = 0; i < worker->queues->len; i++) {
        struct XnQueue *queue = g_ptr_array_index(worker->queues, i);

        if (queue->deadline_ns != 0) {
            now = now ? now : clock_now_ns();
            if (queue->deadline_ns <= now) {
                queue->deadline_ns = 0;
                queue->guest_tx_ready = !queue->guest_tx_port_full;
                queue->guest_rx_ready = true;
            } else if (earliest == 0 || queue->deadline_ns < earliest) {
                earliest = queue->deadline_ns;
            }
        }
        ready |= worker_queue_ready(queue);
    }
    if (ready) {
        return 0;
    }
    return earliest == 0 ? UINT64_MAX : earliest - now;
}

/* Marks what is ready. Returns whether a command waits. */
static bool worker_poll(struct XnWorker *worker)
{
    struct epoll_event events[WORKER_EVENTS];
    uint64_t timeout_ns = worker_timeout_ns(worker);
    struct timespec timeout = {
        .tv_sec = (time_t)(timeout_ns / XN_NS_PER_S),
        .tv_nsec = (long)(timeout_ns % XN_NS_PER_S),
    };
    int count = epoll_pwait2(worker->epoll_fd, events, WORKER_EVENTS,
                             timeout_ns == UINT64_MAX ? NULL : &timeout, NULL);
    bool command = false;

    worker->round++;
    for (int i = 0; i < count; i++) {
        struct XnPollSource *source = events[i].data.ptr;

        switch (source->kind) {
        case XN_POLL_COMMAND:
            command = true;
            break;
        case XN_POLL_EVTCHN:
            worker_take_event(worker, source->queue);
            break;
        case XN_POLL_PORT:
            worker_take_port(worker, source->queue, events[i].events);
            break;
        }
    }
    return command;
}

static void worker_take_queue(struct XnWorker *worker, struct XnQueue *queue)
{
    g_ptr_array_add(worker->queues, queue);
    neighbours_add(worker->turn->neighbours, queue);
    worker_watch(worker, &queue->evtchn_source, EPOLLIN);
    worker_watch(worker, &queue->port_source, EPOLLIN);
    queue->guest_tx_ready = true;
    queue->guest_rx_ready = true;
    queue->port_drained = false;
    if (queue->config.adopted) {
        evtchn_notify(queue->config.evtchn, queue->config.guest_tx_channel);
        evtchn_notify(queue->config.evtchn, queue->config.guest_rx_channel);
        queue->config.adopted = false;
    }
}

static void worker_release_queue(struct XnWorker *worker, struct XnQueue *queue)
{
    neighbours_remove(worker->turn->neighbours, queue);
    worker_end_waiting(worker, queue);
    queue->guest_tx_waits_for = NULL;
    g_ptr_array_remove_fast(worker->queues, queue);
    worker_watch(worker, &queue->evtchn_source, 0);
    worker_watch(worker, &queue->port_source, 0);
}

/* Executes the waiting command. Returns false when it was the last one. */
static bool worker_obey(struct XnWorker *worker)
{
    eventfd_t ignored;
    enum XnCommandKind command;

    eventfd_read(worker->command_source.fd, &ignored);
    g_mutex_lock(&worker->lock);
    command = worker->command;
    if (command == XN_COMMAND_ADD) {
        worker_take_queue(worker, worker->command_queue);
    } else if (command == XN_COMMAND_REMOVE) {
        worker_release_queue(worker, worker->command_queue);
    } else if (command == XN_COMMAND_INSPECT) {
        queue_inspect(worker->command_queue, worker->command_view);
    } else if (command == XN_COMMAND_KICK) {
        queue_kick(worker->command_queue);
    }
    worker->command = XN_COMMAND_NONE;
    g_cond_signal(&worker->done);
    g_mutex_unlock(&worker->lock);
    return command != XN_COMMAND_QUIT;
}

static gpointer worker_main(gpointer data)
{
    struct XnWorker *worker = data;
    bool running = true;

    /* What guests write is read here; what a capability allows is none of a worker's business. */
    rights_drop_capabilities();
    while (running) {
        if (worker_poll(worker)) {
            running = worker_obey(worker);
        }
        for (guint i = 0; i < worker->queues->len; i++) {
            struct XnQueue *queue = g_ptr_array_index(worker->queues, i);

            if (worker_queue_ready(queue)) {
                worker_serve(worker, queue);
            }
            if (queue->broken_reason && !queue->broken_told) {
                worker_stop_broken(worker, queue);
            }
        }
    }
    return NULL;
}

/* Has the worker execute a command, and waits until it has. Main thread. */
static void worker_call(struct XnWorker *worker, enum XnCommandKind command, struct XnQueue *queue)
{
    g_mutex_lock(&worker->lock);
    worker->command = command;
    worker->command_queue = queue;
    eventfd_write(worker->command_source.fd, 1);
    while (worker->command != XN_COMMAND_NONE) {
        g_cond_wait(&worker->done, &worker->lock);
    }
    g_mutex_unlock(&worker->lock);
}

struct XnWorker *worker_create(const struct XnWorkerConfig *config, GError **error)
{
    struct XnWorker *worker = g_new0(struct XnWorker, 1);
    g_autofree char *name = g_strdup_printf("qnetback-%u", config->index);

    worker->config = *config;
    worker->queues = g_ptr_array_new();
    worker->command_source = (struct XnPollSource){.kind = XN_POLL_COMMAND, .fd = -1};
    worker->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    worker->command_source.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    g_mutex_init(&worker->lock);
    g_cond_init(&worker->done);
    if (worker->epoll_fd < 0 || worker->command_source.fd < 0) {
        int saved = errno;

        g_set_error(error, G_FILE_ERROR, g_file_error_from_errno(saved),
                    "cannot create a worker: %s", g_strerror(saved));
        goto fail;
    }
    worker->gnttab = gnttab_open(error);
    if (!worker->gnttab) {
        goto fail;
    }
    worker->turn = g_new0(struct XnTurn, 1);
    worker->turn->pool = buffer_pool_create(config->buffers, config->own_domid, error);
    if (!worker->turn->pool) {
        goto fail;
    }
    worker->turn->neighbours = neighbours_create();
    worker->turn->copies.gnttab = worker->gnttab;
    worker->turn->copies.pool = worker->turn->pool;
    worker_watch(worker, &worker->command_source, EPOLLIN);
    worker->thread = g_thread_try_new(name, worker_main, worker, error);
    if (!worker->thread) {
        goto fail;
    }
    /* From here on it has given up its rights. */
    worker_call(worker, XN_COMMAND_GREET, NULL);
    return worker;

fail:
    worker_destroy(worker);
    return NULL;
}

void worker_add_queue(struct XnWorker *worker, struct XnQueue *queue)
{
    worker_call(worker, XN_COMMAND_ADD, queue);
}

void worker_remove_queue(struct XnWorker *worker, struct XnQueue *queue)
{
    worker_call(worker, XN_COMMAND_REMOVE, queue);
}

void worker_inspect_queue(struct XnWorker *worker, struct XnQueue *queue,
                          struct XnQueueView *ret_view)
{
    worker->command_view = ret_view;
    worker_call(worker, XN_COMMAND_INSPECT, queue);
}

void worker_kick_queue(struct XnWorker *worker, struct XnQueue *queue)
{
    worker_call(worker, XN_COMMAND_KICK, queue);
}

unsigned worker_index(const struct XnWorker *worker)
{
    return worker->config.index;
}

enum XnBufferKind worker_buffer_kind(const struct XnWorker *worker)
{
    return worker->turn->pool->grant ? XN_BUFFERS_GRANTED : XN_BUFFERS_PLAIN;
}

void worker_destroy(struct XnWorker *worker)
{
    if (!worker) {
        return;
    }
    if (worker->thread) {
        worker_call(worker, XN_COMMAND_QUIT, NULL);
        g_thread_join(worker->thread);
    }
    g_assert(worker->queues->len == 0);
    if (worker->turn) {
        neighbours_destroy(worker->turn->neighbours);
        buffer_pool_destroy(worker->turn->pool);
        g_free(worker->turn);
    }
    gnttab_close(worker->gnttab);
    if (worker->command_source.fd >= 0) {
        close(worker->command_source.fd);
    }
    if (worker->epoll_fd >= 0) {
        close(worker->epoll_fd);
    }
    g_ptr_array_unref(worker->queues);
    g_mutex_clear(&worker->lock);
    g_cond_clear(&worker->done);
    g_free(worker);
}
