/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guest-store.c - a simulated domain's way to xenstore: what its kernel's xenbus driver is.
 *
 * Theory of operation
 *
 * A domain has one connection to xenstored: a ring page and an event channel.  Clients connect to a
 * socket; their requests go to the ring one whole message at a time.  Three things are told apart
 * per client, as Linux's /dev/xen/xenbus does:
 * - answers, by request ids: each forwarded request gets an id of its own, kept in pending[];
 * - watch events, by the token, which carries the client's number before the client's own token;
 * - what a client leaves behind when it closes: its watches and transactions are ended for it.
 */
#include "guest-store.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <xen/grant_table.h>
#include <xen/io/xs_wire.h>
#include <xenstore.h>

#include "core.h"

#define MAX_CLIENTS 256
#define MAX_PENDING 1024
#define MAX_MESSAGE (sizeof(struct xsd_sockmsg) + XENSTORE_PAYLOAD_MAX)
#define NO_CLIENT UINT32_MAX

/* A message being collected from a stream. */
struct Message {
    size_t used;
    union {
        struct xsd_sockmsg header;
        char bytes[MAX_MESSAGE];
    };
};

/* A watch (path and token in the client's words) or a transaction that a client has open. */
struct Possession {
    struct Possession *next;
    uint32_t transaction; /* 0: a watch */
    size_t length;
    char watch[];
};

struct Client {
    int fd; /* -1: free */
    uint32_t number;
    struct Possession *possessions;
    struct Message in;
};

/* A request that xenstored has not answered yet. */
struct Pending {
    uint32_t client; /* its number, NO_CLIENT: nobody waits for the answer */
    uint32_t client_req_id;
    bool used;
};

static struct xenstore_domain_interface *ring;
static struct SimHandle *events;
static uint32_t evtchn;
static int listener = -1;
static uint32_t last_client_number;
static struct Client clients[MAX_CLIENTS];
static struct Pending pending[MAX_PENDING];
static struct Message answer;

/* Requests that found the ring full. */
static char *backlog;
static size_t backlog_used;
static size_t backlog_size;

static bool listen_on_socket(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    if (snprintf(address.sun_path, sizeof(address.sun_path), "%s/store.%u", core_directory(),
                 sim_domid) >= (int)sizeof(address.sun_path)) {
        fprintf(stderr, "xensim: the name of the directory %s is too long\n", core_directory());
        return false;
    }
    unlink(address.sun_path);
    listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (listener < 0 || bind(listener, (struct sockaddr *)&address, sizeof(address)) != 0 ||
        listen(listener, 64) != 0) {
        fprintf(stderr, "xensim: cannot listen on %s: %s\n", address.sun_path, strerror(errno));
        return false;
    }
    chmod(address.sun_path, 0666);
    return true;
}

/* The toolstack's part: xenstored learns of the domain from dom0. */
static bool introduce(void)
{
    struct xs_handle *store = xs_open(0);
    bool introduced = store && xs_introduce_domain(store, sim_domid, SIM_XENSTORE_FRAME, evtchn);

    if (!introduced) {
        fprintf(stderr, "xensim: xenstored does not accept domain %u: %s\n", sim_domid,
                strerror(errno));
    }
    if (store) {
        xs_close(store);
    }
    return introduced;
}

bool guest_store_start(void)
{
    uint8_t *memory = domain_memory(sim_domid);
    struct SimDomain *domain = domain_tables(sim_domid);
    int number;
    uint32_t i;

    events = handle_open(SIM_HANDLE_EVTCHN);
    if (!memory || !events) {
        fprintf(stderr, "xensim: cannot open event channels: %s\n", strerror(errno));
        return false;
    }
    fcntl(events->fd, F_SETFL, O_NONBLOCK);
    ring =
        (struct xenstore_domain_interface *)(void *)(memory + SIM_XENSTORE_FRAME * SIM_PAGE_SIZE);
    memset(ring, 0, SIM_PAGE_SIZE);
    domain->entry[GNTTAB_RESERVED_XENSTORE] =
        (grant_entry_v1_t){.flags = GTF_permit_access, .domid = 0, .frame = SIM_XENSTORE_FRAME};
    core_lock();
    number = evtchn_alloc_unbound(events, 0);
    core_unlock();
    if (number < 0) {
        fprintf(stderr, "xensim: no event channel for xenstore: %s\n", strerror(errno));
        return false;
    }
    evtchn = (uint32_t)number;
    for (i = 0; i < MAX_CLIENTS; i++) {
        clients[i].fd = -1;
    }
    signal(SIGPIPE, SIG_IGN);
    return introduce() && listen_on_socket();
}

/* To the ring: as much of the backlog as fits. */
static void flush_backlog(void)
{
    XENSTORE_RING_IDX producer = ring->req_prod;
    uint32_t room =
        XENSTORE_RING_SIZE - (producer - __atomic_load_n(&ring->req_cons, __ATOMIC_ACQUIRE));
    size_t count = backlog_used < room ? backlog_used : room;
    size_t i;

    if (!count) {
        return;
    }
    for (i = 0; i < count; i++) {
        ring->req[MASK_XENSTORE_IDX(producer + i)] = backlog[i];
    }
    __atomic_store_n(&ring->req_prod, producer + (XENSTORE_RING_IDX)count, __ATOMIC_RELEASE);
    memmove(backlog, backlog + count, backlog_used - count);
    backlog_used -= count;
    evtchn_send(sim_domid, evtchn);
}

static void queue_bytes(const void *bytes, size_t length)
{
    if (backlog_used + length > backlog_size) {
        backlog_size = 2 * (backlog_used + length);
        backlog = realloc(backlog, backlog_size);
        if (!backlog) {
            fprintf(stderr, "xensim: out of memory\n");
            exit(1);
        }
    }
    memcpy(backlog + backlog_used, bytes, length);
    backlog_used += length;
}

/* Ids in use are never given out twice; -1 when too many requests are waiting. */
static int new_request_id(uint32_t client, uint32_t client_req_id)
{
    uint32_t i;

    for (i = 0; i < MAX_PENDING; i++) {
        if (!pending[i].used) {
            pending[i] = (struct Pending){client, client_req_id, true};
            return (int)i;
        }
    }
    return -1;
}

static bool forward(uint32_t client, uint32_t type, uint32_t client_req_id, uint32_t tx_id,
                    const char *body, size_t length)
{
    struct xsd_sockmsg header = {.type = type, .tx_id = tx_id, .len = (uint32_t)length};
    int id = new_request_id(client, client_req_id);

    if (id < 0) {
        return false;
    }
    header.req_id = (uint32_t)id;
    queue_bytes(&header, sizeof(header));
    queue_bytes(body, length);
    flush_backlog();
    return true;
}

static void remember(struct Client *client, uint32_t transaction, const char *watch, size_t length)
{
    struct Possession *possession = calloc(1, sizeof(*possession) + length);

    if (possession) {
        possession->transaction = transaction;
        possession->length = length;
        if (length) {
            memcpy(possession->watch, watch, length);
        }
        possession->next = client->possessions;
        client->possessions = possession;
    }
}

static void forget(struct Client *client, uint32_t transaction, const char *watch, size_t length)
{
    struct Possession **link;

    for (link = &client->possessions; *link; link = &(*link)->next) {
        struct Possession *possession = *link;

        if (possession->transaction == transaction && possession->length == length &&
            (!length || memcmp(possession->watch, watch, length) == 0)) {
            *link = possession->next;
            free(possession);
            return;
        }
    }
}

/* "path\0token\0" to "path\0NUMBER/token\0" in `out`; 0 when it is not of that form. */
static size_t mark_token(uint32_t number, const char *body, size_t length, char *out, size_t size)
{
    size_t path = strnlen(body, length) + 1;
    int written;

    if (path >= length || body[length - 1] != '\0') {
        return 0;
    }
    memcpy(out, body, path);
    written = snprintf(out + path, size - path, "%u/%s", number, body + path);
    return written > 0 && (size_t)written < size - path ? path + (size_t)written + 1 : 0;
}

static bool forward_watch(struct Client *client, const struct xsd_sockmsg *header, const char *body)
{
    char marked[XENSTORE_PAYLOAD_MAX + 16];
    size_t length = mark_token(client->number, body, header->len, marked, sizeof(marked));

    if (!length) {
        /* Badly formed: xenstored says so. */
        return forward(client->number, header->type, header->req_id, header->tx_id, body,
                       header->len);
    }
    if (header->type == XS_WATCH) {
        remember(client, 0, marked, length);
    } else {
        forget(client, 0, marked, length);
    }
    return forward(client->number, header->type, header->req_id, header->tx_id, marked, length);
}

static bool handle_request(struct Client *client)
{
    const struct xsd_sockmsg *header = &client->in.header;
    const char *body = client->in.bytes + sizeof(*header);

    if (header->type == XS_WATCH || header->type == XS_UNWATCH) {
        return forward_watch(client, header, body);
    }
    if (header->type == XS_TRANSACTION_END) {
        forget(client, header->tx_id, NULL, 0);
    }
    return forward(client->number, header->type, header->req_id, header->tx_id, body, header->len);
}

static void drop_client(struct Client *client)
{
    close(client->fd);
    client->fd = -1;
    client->in.used = 0;
    while (client->possessions) {
        struct Possession *possession = client->possessions;

        client->possessions = possession->next;
        if (possession->transaction) {
            forward(NO_CLIENT, XS_TRANSACTION_END, 0, possession->transaction, "F", 2);
        } else {
            forward(NO_CLIENT, XS_UNWATCH, 0, 0, possession->watch, possession->length);
        }
        free(possession);
    }
}

static void accept_client(void)
{
    int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    uint32_t i;

    for (i = 0; fd >= 0 && i < MAX_CLIENTS; i++) {
        if (clients[i].fd < 0) {
            clients[i].fd = fd;
            clients[i].number = last_client_number++;
            return;
        }
    }
    if (fd >= 0) {
        close(fd);
    }
}

/* How many bytes the message still lacks; 0 with a bad length. */
static size_t message_lacks(const struct Message *message)
{
    if (message->used < sizeof(message->header)) {
        return sizeof(message->header) - message->used;
    }
    if (message->header.len > XENSTORE_PAYLOAD_MAX) {
        return 0;
    }
    return sizeof(message->header) + message->header.len - message->used;
}

static bool message_is_complete(const struct Message *message)
{
    return message->used >= sizeof(message->header) &&
           message->used == sizeof(message->header) + message->header.len;
}

static void read_client(struct Client *client)
{
    size_t lacks = message_lacks(&client->in);
    ssize_t got = lacks ? read(client->fd, client->in.bytes + client->in.used, lacks) : 0;

    if (got <= 0) {
        drop_client(client);
        return;
    }
    client->in.used += (size_t)got;
    if (message_is_complete(&client->in)) {
        if (!handle_request(client)) {
            drop_client(client);
        }
        client->in.used = 0;
    }
}

static struct Client *find_client(uint32_t number)
{
    uint32_t i;

    for (i = 0; i < MAX_CLIENTS; i++) {
        if (clients[i].fd >= 0 && clients[i].number == number) {
            return &clients[i];
        }
    }
    return NULL;
}

/* A client that does not read its answers blocks the others, as a test would notice. */
static void write_client(struct Client *client, const void *bytes, size_t length)
{
    const char *from = bytes;

    while (length) {
        ssize_t written = write(client->fd, from, length);

        if (written < 0) {
            drop_client(client);
            return;
        }
        from += written;
        length -= (size_t)written;
    }
}

static void deliver_event(void)
{
    char *body = answer.bytes + sizeof(answer.header);
    size_t path = strnlen(body, answer.header.len) + 1;
    char *token = body + path;
    char *own;
    struct Client *client;

    if (path >= answer.header.len) {
        return;
    }
    own = memchr(token, '/', answer.header.len - path);
    client = own ? find_client((uint32_t)strtoul(token, NULL, 10)) : NULL;
    if (!client) {
        return;
    }
    own++;
    memmove(token, own, answer.header.len - (size_t)(own - body));
    answer.header.len -= (uint32_t)(own - token);
    write_client(client, answer.bytes, sizeof(answer.header) + answer.header.len);
}

static void deliver_answer(void)
{
    struct Pending *request;
    struct Client *client;

    if (answer.header.type == XS_WATCH_EVENT) {
        deliver_event();
        return;
    }
    if (answer.header.req_id >= MAX_PENDING || !pending[answer.header.req_id].used) {
        return;
    }
    request = &pending[answer.header.req_id];
    request->used = false;
    client = request->client == NO_CLIENT ? NULL : find_client(request->client);
    if (answer.header.type == XS_TRANSACTION_START) {
        uint32_t id = (uint32_t)strtoul(answer.bytes + sizeof(answer.header), NULL, 10);

        if (client) {
            remember(client, id, NULL, 0);
        } else {
            forward(NO_CLIENT, XS_TRANSACTION_END, 0, id, "F", 2);
        }
    }
    if (client) {
        answer.header.req_id = request->client_req_id;
        write_client(client, answer.bytes, sizeof(answer.header) + answer.header.len);
    }
}

static void read_ring(void)
{
    XENSTORE_RING_IDX consumer = ring->rsp_cons;
    bool taken = false;

    while (consumer != __atomic_load_n(&ring->rsp_prod, __ATOMIC_ACQUIRE)) {
        if (!message_lacks(&answer)) {
            fprintf(stderr, "xensim: xenstored sent a message that is too long\n");
            exit(1);
        }
        answer.bytes[answer.used++] = ring->rsp[MASK_XENSTORE_IDX(consumer)];
        consumer++;
        __atomic_store_n(&ring->rsp_cons, consumer, __ATOMIC_RELEASE);
        taken = true;
        if (message_is_complete(&answer)) {
            deliver_answer();
            answer.used = 0;
        }
    }
    if (taken) {
        evtchn_send(sim_domid, evtchn);
    }
}

static void take_events(void)
{
    uint32_t number;

    while (read(events->fd, &number, sizeof(number)) == (ssize_t)sizeof(number)) {
        evtchn_unmask(events, number);
    }
}

void guest_store_serve(void)
{
    static struct pollfd polled[MAX_CLIENTS + 2];
    static struct Client *of[MAX_CLIENTS + 2];
    nfds_t count;
    nfds_t i;

    for (;;) {
        polled[0] = (struct pollfd){.fd = listener, .events = POLLIN};
        polled[1] = (struct pollfd){.fd = events->fd, .events = POLLIN};
        count = 2;
        for (i = 0; i < MAX_CLIENTS; i++) {
            if (clients[i].fd >= 0) {
                of[count] = &clients[i];
                polled[count++] = (struct pollfd){.fd = clients[i].fd, .events = POLLIN};
            }
        }
        if (poll(polled, count, -1) < 0) {
            continue;
        }
        if (polled[1].revents) {
            take_events();
        }
        for (i = 2; i < count; i++) {
            if (polled[i].revents && of[i]->fd == polled[i].fd) {
                read_client(of[i]);
            }
        }
        if (polled[0].revents) {
            accept_client();
        }
        flush_backlog();
        read_ring();
    }
}
