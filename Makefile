# SPDX-License-Identifier: GPL-2.0-or-later
#
# Makefile - builds and tests qnetback. "make help" lists the targets.
#
# There is no list of files: a source that lies in the right directory is built, a test that lies in the
# right directory is run. Variables for the command line:
#   V=1                       show full commands and every test point
#   BUILD=DIR                 put everything below DIR instead of build/
#   SANITIZE=address,undefined   build with these sanitizers (with a BUILD of its own)
#   WERROR=yes                warnings are errors
#   CC=, CFLAGS=, LDFLAGS=    win over what configure found
#   SEED=N                    other chances for the tests that take theirs; SEED= for random ones
#   TESTS='...'               only these tests, for check-unit, -sim, -soak, -hygiene and -xen

VERSION := 0.1.0

MAKEFLAGS += --no-builtin-rules --no-builtin-variables
ifeq ($(filter -j%,$(MAKEFLAGS)),)
MAKEFLAGS += -j$(shell nproc)
endif
.SUFFIXES:
.SECONDARY:
.DELETE_ON_ERROR:
.DEFAULT_GOAL := all
SHELL := /bin/sh

BUILD = build
B := $(BUILD)

# --- configuration --------------------------------------------------------------------------------

INSTALL_PACKAGES := scripts/install-packages

ifneq ($(filter-out help clean distclean dist deb format check-format schema,$(or $(MAKECMDGOALS),all)),)
include config.mak
endif

# The groups of Debian packages that the goals need, and those whose lack only makes them skip something.
goals = $(filter $(1),$(MAKECMDGOALS))
PACKAGES_NEEDED := build \
	$(if $(call goals,check check-unit check-sim check-contract check-hygiene check-xen check-soak \
		check-sanitize demo bench soak),test) \
	$(if $(or $(call goals,check-xen bench-xen),$(if $(XEN),$(call goals,demo))),xen) \
	$(if $(call goals,fuzz-smoke),fuzz) $(if $(call goals,coverage),coverage) $(if $(call goals,deb),package) \
	$(if $(call goals,bench bench-xen bench-report bench-compare),bench)
PACKAGES_USEFUL := $(filter-out $(PACKAGES_NEEDED),\
	$(if $(call goals,check check-hygiene check-soak),lint package) $(if $(call goals,check check-soak),xen))
install_packages = $(INSTALL_PACKAGES) $(PACKAGES_NEEDED) $(addprefix --optional ,$(PACKAGES_USEFUL))

config.mak: configure
	@$(install_packages)
	@$(if $(CONFIGURE),$(CONFIGURE),./configure)

Q := $(if $(V),,@)
say = @$(if $(V),:,printf '  %-8s %s\n' $(1) $(2))

# --- flags ----------------------------------------------------------------------------------------

WARNINGS := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith \
	-Wformat=2 -Wundef -Wvla -Wimplicit-fallthrough -Wcast-align $(if $(WERROR),-Werror)

DEFINES := -D_GNU_SOURCE -D__XEN_INTERFACE_VERSION__=0x00040d00 \
	$(if $(SDT),-DXN_HAVE_SDT) -DXN_VERSION=\"$(VERSION)\" -DXN_SYSCONFDIR=\"$(SYSCONFDIR)\"

ifdef SANITIZE
HARDEN_CC := -fsanitize=$(SANITIZE) $(if $(findstring thread,$(SANITIZE)),-Wno-tsan) -fno-sanitize-recover=undefined -fno-omit-frame-pointer
HARDEN_LD := -fsanitize=$(SANITIZE)
# The shims are loaded into programs without a sanitizer's run-time library: they can only trap.
HARDEN_SHIM := $(if $(findstring undefined,$(SANITIZE)),-fsanitize=undefined \
	-fsanitize-undefined-trap-on-error) -fno-omit-frame-pointer
else
FORTIFY := $(if $(filter -O1 -O2 -O3 -Os -Og,$(CFLAGS)),-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
HARDEN_CC := $(HARDENING) $(FORTIFY) -fPIE
HARDEN_LD := -pie
HARDEN_SHIM := $(HARDENING) $(FORTIFY)
endif

BASE_CC := -std=gnu11 $(WARNINGS) $(DEFINES) -Ihw/xen-net -I$(B)/generated -pthread
LINK_FLAGS := -pthread -Wl,-z,relro,-z,now -Wl,--as-needed
# These also run inside guests or below Xen's libraries: GLib has no place in them.
NO_GLIB := tests/qnetfront/% tests/xensim/% tests/contract/% tests/xen/%
lib_cc = $(XEN_CFLAGS) $(if $(filter $(NO_GLIB),$<),,$(GLIB_CFLAGS)) \
	$(if $(filter hw/xen-net/tools/%,$<),$(TOOLS_CFLAGS))

# --- files ----------------------------------------------------------------------------------------

obj = $(patsubst %.c,$(B)/obj/%.o,$(1))
pic = $(patsubst %.c,$(B)/pic/%.o,$(1))

LIB_SRC := $(wildcard $(patsubst %,hw/xen-net/%/*.c,base netif xen port data control))
MAIN_SRC := $(wildcard hw/xen-net/*.c)
TOOLS_SRC := $(wildcard hw/xen-net/tools/*.c)
UNIT_SRC := $(wildcard tests/unit/*/*-test.c)
FRONT_SRC := $(wildcard tests/qnetfront/*.c)
CONTRACT_SRC := $(wildcard tests/contract/*.c)
CORE_SRC := $(wildcard tests/xensim/core*.c)
SHIM_SRC := $(wildcard tests/xensim/shim-*.c)
SHIM_LIBS := $(patsubst tests/xensim/shim-%.map,$(B)/xensim/lib/libxen%.so.1,\
	$(wildcard tests/xensim/shim-*.map))
PRELOAD_SRC := $(wildcard tests/xensim/preload.c)
SIMTOOL_SRC := $(wildcard tests/xensim/tool-*.c)
SIMTOOL_PARTS := $(patsubst %,tests/xensim/%.c,guest-store probe-store store-changes)
GUESTTOOL_SRC := $(wildcard tests/xen/guest-*.c)
DOM0TOOL_SRC := $(wildcard tests/xen/dom0-*.c)
FUZZ_SRC := $(wildcard tests/fuzz/*-fuzz.c)

LIB := $(if $(LIB_SRC),$(B)/libqnetback.a)
UNIT := $(patsubst %.c,$(B)/%,$(UNIT_SRC))
REPLAY := $(patsubst %-fuzz.c,$(B)/%-replay,$(FUZZ_SRC))
FUZZERS := $(patsubst %.c,$(B)/%,$(FUZZ_SRC))
XENSIM := $(SHIM_LIBS) \
	$(patsubst tests/xensim/%.c,$(B)/xensim/lib/%.so,$(PRELOAD_SRC)) \
	$(patsubst tests/xensim/tool-%.c,$(B)/xensim/bin/%,$(SIMTOOL_SRC))
PROGRAMS := $(if $(MAIN_SRC),$(B)/qnetback) $(if $(TOOLS_SRC),$(B)/qnetctl)
GUESTTOOLS := $(patsubst tests/xen/%.c,$(B)/%,$(GUESTTOOL_SRC))
DOM0TOOLS := $(patsubst tests/xen/%.c,$(B)/%,$(DOM0TOOL_SRC))
TEST_PROGRAMS := $(if $(FRONT_SRC),$(B)/qnetfront) $(if $(CONTRACT_SRC),$(B)/contract) $(GUESTTOOLS) \
	$(DOM0TOOLS) $(XENSIM)

OBJECTS := $(call obj,$(LIB_SRC) $(MAIN_SRC) $(TOOLS_SRC) $(UNIT_SRC) $(FRONT_SRC) $(CONTRACT_SRC) \
	$(SIMTOOL_SRC) $(SIMTOOL_PARTS) $(GUESTTOOL_SRC) $(DOM0TOOL_SRC) $(FUZZ_SRC) \
	tests/fuzz/replay.c tests/fuzz/store-world.c tests/fuzz/store-parts.c) \
	$(call pic,$(CORE_SRC) $(SHIM_SRC) $(PRELOAD_SRC))

C_FILES = $(shell git ls-files -co --exclude-standard '*.c' '*.h')

# --- build ----------------------------------------------------------------------------------------

.PHONY: all programs test-programs objects
## all: the daemon, its tools, and what the tests need (the default)
all: programs test-programs
programs: $(PROGRAMS)
test-programs: $(TEST_PROGRAMS) $(UNIT) $(REPLAY)
objects: $(OBJECTS)

# The schema of the xenstore keys becomes typed readers and writers.
ifneq ($(wildcard xenstore-schema/generate),)
GENERATED := $(B)/generated/xenstore-keys.h $(B)/generated/trace.h
$(B)/generated/xenstore-keys.h: xenstore-schema/generate $(wildcard xenstore-schema/*.schema)
	$(call say,GEN,$@)
	@mkdir -p $(@D)
	$(Q)xenstore-schema/generate header >$@

# So do the trace points.
$(B)/generated/trace.h: scripts/generate-trace hw/xen-net/base/trace-events
	$(call say,GEN,$@)
	@mkdir -p $(@D)
	$(Q)scripts/generate-trace header >$@

.PHONY: schema
## schema: the table of all xenstore keys, xenstore-schema/README.md
schema:
	$(Q)xenstore-schema/generate readme >xenstore-schema/README.md.new
	$(Q)mv xenstore-schema/README.md.new xenstore-schema/README.md
endif

.PHONY: metrics
## metrics: the table of all counters, docs/metrics.md
metrics: $(B)/qnetctl
	$(Q)$(B)/qnetctl counters --markdown >docs/metrics.md.new
	$(Q)mv docs/metrics.md.new docs/metrics.md

# Other flags than last time: everything is built again.
ALL_FLAGS = $(CC) $(CFLAGS) $(BASE_CC) $(HARDEN_CC) $(HARDEN_SHIM) $(XEN_CFLAGS) $(GLIB_CFLAGS) \
	$(TOOLS_CFLAGS) $(LDFLAGS) $(LINK_FLAGS) $(HARDEN_LD)
$(B)/flags: FORCE
	@mkdir -p $(@D)
	@echo '$(ALL_FLAGS)' | cmp -s - $@ || echo '$(ALL_FLAGS)' >$@
FORCE:
.PHONY: FORCE

$(B)/obj/%.o: %.c $(B)/flags | $(GENERATED)
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(BASE_CC) $(lib_cc) $(HARDEN_CC) $(CFLAGS) -MMD -MP -c -o $@ $<

$(B)/pic/%.o: %.c $(B)/flags
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(BASE_CC) $(lib_cc) $(HARDEN_SHIM) $(CFLAGS) -fPIC -MMD -MP -c -o $@ $<

link = $(Q)$(CC) $(LINK_FLAGS) $(HARDEN_LD) $(CFLAGS) $(LDFLAGS) -o $@ $(filter %.o,$^) $(filter %.a,$^)

$(B)/libqnetback.a: $(call obj,$(LIB_SRC))
	$(call say,AR,$@)
	$(Q)rm -f $@ && ar rcs $@ $^

$(B)/qnetback: $(call obj,$(MAIN_SRC)) $(LIB)
	$(call say,LINK,$@)
	$(link) $(XEN_LIBS) $(GLIB_LIBS)

$(B)/qnetctl: $(call obj,$(TOOLS_SRC)) $(LIB)
	$(call say,LINK,$@)
	$(link) $(XEN_LIBS) $(GLIB_LIBS) $(TOOLS_LIBS)

# The frontend's unit tests are linked with the frontend, the tool's with the tool, the others with
# the daemon.
FRONT_UNIT := $(filter $(B)/tests/unit/qnetfront/%,$(UNIT))
TOOLS_UNIT := $(filter $(B)/tests/unit/tools/%,$(UNIT))
$(TOOLS_UNIT): $(call obj,$(filter-out %/qnetctl.c,$(TOOLS_SRC)))
$(FRONT_UNIT): $(call obj,$(filter-out tests/qnetfront/main.c,$(FRONT_SRC)))
$(filter-out $(FRONT_UNIT),$(UNIT)): $(LIB)
$(UNIT): $(B)/%: $(B)/obj/%.o
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(link) $(XEN_LIBS) $(GLIB_LIBS) $(if $(filter $(TOOLS_UNIT),$@),$(TOOLS_LIBS))

# The fuzz targets: with a main() that replays what is kept, and with libFuzzer's (needs clang).
$(B)/tests/fuzz/store-replay $(B)/tests/fuzz/store-fuzz: $(B)/obj/tests/fuzz/store-world.o \
	$(B)/obj/tests/fuzz/store-parts.o
$(REPLAY): $(B)/%-replay: $(B)/obj/%-fuzz.o $(B)/obj/tests/fuzz/replay.o $(LIB)
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(link) $(XEN_LIBS) $(GLIB_LIBS)

$(FUZZERS): HARDEN_LD := -fsanitize=fuzzer,$(SANITIZE)
$(FUZZERS): $(B)/%: $(B)/obj/%.o $(LIB)
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(link) $(XEN_LIBS) $(GLIB_LIBS)

$(B)/qnetfront: $(call obj,$(FRONT_SRC))
	$(call say,LINK,$@)
	$(link) $(XEN_LIBS)

$(B)/contract: $(call obj,$(CONTRACT_SRC))
	$(call say,LINK,$@)
	$(link) $(XEN_LIBS)

$(GUESTTOOLS): $(B)/%: $(B)/obj/tests/xen/%.o
	$(call say,LINK,$@)
	$(link)

$(DOM0TOOLS): $(B)/%: $(B)/obj/tests/xen/%.o
	$(call say,LINK,$@)
	$(link) $(XEN_LIBS) -lxenctrl

# The simulator's stand-ins for Xen's lowest libraries, over one library with the shared state.
$(B)/xensim/lib/libxensim.so: $(call pic,$(CORE_SRC))
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -shared $(LINK_FLAGS) $(CFLAGS) $(LDFLAGS) -Wl,-soname,$(@F) -o $@ $^

# A library is shim-NAME.c and, if there are, shim-NAME-*.c.
.SECONDEXPANSION:
$(B)/xensim/lib/libxen%.so.1: $(B)/pic/tests/xensim/shim-%.o \
		$$(call pic,$$(wildcard tests/xensim/shim-$$*-*.c)) tests/xensim/shim-%.map \
		$(B)/xensim/lib/libxensim.so
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -shared $(LINK_FLAGS) $(CFLAGS) $(LDFLAGS) -Wl,-soname,$(@F) \
		-Wl,--version-script=tests/xensim/shim-$*.map -Wl,-rpath,'$$ORIGIN' -o $@ \
		$(filter %.o %.so,$^)

$(B)/xensim/lib/preload.so: $(B)/pic/tests/xensim/preload.o
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -shared $(LINK_FLAGS) $(CFLAGS) $(LDFLAGS) -o $@ $(filter %.o,$^) -ldl

$(B)/xensim/bin/xensim: $(call obj,tests/xensim/guest-store.c)
$(B)/xensim/bin/probe: $(call obj,tests/xensim/probe-store.c tests/xensim/store-changes.c)
$(B)/xensim/bin/store-tx: $(call obj,tests/xensim/store-changes.c)
$(B)/xensim/bin/%: $(B)/obj/tests/xensim/tool-%.o $(B)/xensim/lib/libxensim.so
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(link) $(filter %.so,$^) -Wl,-rpath,'$$ORIGIN/../lib' $(XEN_LIBS)

-include $(OBJECTS:.o=.d)

# --- tests ----------------------------------------------------------------------------------------
#
# Everything speaks TAP and is run by prove. A test may use these variables of its environment: BUILD
# (absolute), SANITIZE, V, and CI.

# Tests that take their chances take the same ones each time; check-soak, and SEED=, take others.
SEED := 1

UNIT_TIMEOUT := 300
TEST_TIMEOUT := 900
XEN_TIMEOUT := 1500

TEST_ENV = BUILD='$(abspath $(B))' SANITIZE='$(SANITIZE)' V='$(V)' CC='$(CC)' SEED='$(SEED)' G_SLICE=always-malloc \
	UBSAN_OPTIONS=print_stacktrace=1 ASAN_OPTIONS=detect_stack_use_after_return=1
# $(1): seconds that one test may take, $(2): the tests
prove = @$(if $(strip $(2)),env $(TEST_ENV) \
	prove $(if $(V),--verbose) --exec 'timeout --foreground -k 30 $(1)' $(2) </dev/null,\
	echo '$@: there are no such tests yet')

UNIT_TESTS = $(UNIT) $(REPLAY)
# These take long, or need a machine with nothing else to do: only check-soak runs them.
SIM_LONG := $(wildcard tests/sim/35-*.t tests/sim/52-*.t tests/sim/53-*.t)
XEN_LONG := $(wildcard tests/xen/4*.t tests/xen/5*.t tests/xen/6*.t tests/xen/7*.t)
SIM_TESTS = $(filter-out $(SIM_LONG),$(wildcard tests/sim/*.t))
HYGIENE_TESTS = $(wildcard tests/hygiene/*.t)
XEN_TESTS = $(filter-out $(XEN_LONG),$(wildcard tests/xen/*.t))

# Before anything is compiled; not again when make has just done it for config.mak.
.PHONY: packages
packages:
	$(if $(MAKE_RESTARTS),,@$(install_packages))
ifneq ($(filter test,$(PACKAGES_NEEDED)),)
$(OBJECTS): | packages
endif

# The first two do more of the same with SOAK=1.
SOAK_TESTS = tests/sim/51-cycles.t tests/xen/35-any-moment.t $(SIM_LONG) $(XEN_LONG)
SOAK_TIMEOUT := 7200

.PHONY: check check-unit check-sim check-contract check-hygiene check-xen check-soak
## check: every test: unit, simulator and hygiene, then real Xen in emulation
check: packages programs test-programs
	$(call prove,$(TEST_TIMEOUT),$(UNIT_TESTS) $(SIM_TESTS) $(HYGIENE_TESTS))
	$(call prove,$(XEN_TIMEOUT),$(XEN_TESTS))

## check-unit: unit tests: need neither root nor network nor Xen
check-unit: packages $(UNIT) $(REPLAY)
	$(call prove,$(UNIT_TIMEOUT),$(or $(TESTS),$(UNIT_TESTS)))

## check-sim: the whole daemon on a simulated Xen host
check-sim: packages programs $(TEST_PROGRAMS)
	$(call prove,$(TEST_TIMEOUT),$(or $(TESTS),$(SIM_TESTS)))

## check-contract: only what the simulator promises (part of check-sim)
check-contract: packages $(TEST_PROGRAMS)
	$(call prove,$(TEST_TIMEOUT),$(filter tests/sim/%contract.t,$(SIM_TESTS)))

## check-hygiene: layers, format, spelling, static checks
check-hygiene: packages $(GENERATED)
	$(call prove,$(TEST_TIMEOUT),$(or $(TESTS),$(HYGIENE_TESTS)))

## check-xen: the daemon on real Xen in emulation, with a real guest
check-xen: packages programs $(TEST_PROGRAMS)
	$(call prove,$(XEN_TIMEOUT),$(or $(TESTS),$(XEN_TESTS)))

## check-soak: the tests that take long, on the simulator and on real Xen; 1.5 to 2 hours
check-soak: packages programs $(TEST_PROGRAMS)
	$(call prove,$(SOAK_TIMEOUT),$(or $(TESTS),$(SOAK_TESTS)))
check-soak: export SOAK := 1
check-soak: SEED :=

# Named together, they run one after the other: tests are for a quiet machine.
asked = | $(filter $(1),$(MAKECMDGOALS))
check-sim: $(call asked,check-unit)
check-hygiene: $(call asked,check-unit check-sim)
check-xen: $(call asked,check-unit check-sim check-hygiene)

.PHONY: check-sanitize check-compilers
## check-sanitize: check-unit and check-sim with AddressSanitizer and UBSan; unit tests with TSan
check-sanitize:
	+@$(MAKE) --no-print-directory BUILD=build/asan SANITIZE=address,undefined check-unit check-sim
	+@$(MAKE) --no-print-directory BUILD=build/tsan SANITIZE=thread \
		TESTS='$(patsubst %.c,build/tsan/%,$(UNIT_SRC))' check-unit

## check-compilers: everything compiles without a warning, with gcc and with clang
check-compilers:
	+@$(MAKE) --no-print-directory CC=gcc WERROR=yes BUILD=build/gcc objects
	+@$(MAKE) --no-print-directory CC=clang WERROR=yes BUILD=build/clang objects

SECONDS := 60
FUZZ_BUILD := BUILD=build/fuzz CC=clang SANITIZE=fuzzer-no-link,address,undefined
.PHONY: fuzz-smoke fuzz-programs
fuzz-programs: $(FUZZERS)
## fuzz-smoke: each fuzz target for a minute; SECONDS=N for longer, TARGETS='slots ...' for some
fuzz-smoke: packages
	+@$(MAKE) --no-print-directory $(FUZZ_BUILD) fuzz-programs
	$(Q)BUILD='$(abspath build/fuzz)' tests/fuzz/run --seconds $(SECONDS) $(TARGETS)

MINUTES := 30
.PHONY: soak
## soak: good and hostile guests, restarts, attach and detach, for MINUTES; ends with a table
soak: packages programs $(TEST_PROGRAMS)
	$(Q)env $(TEST_ENV) SEED='$(SEED)' SOAK_MINUTES='$(MINUTES)' tests/sim/soak
soak: SEED :=

.PHONY: coverage coverage-tests
coverage-tests: $(UNIT) $(REPLAY)
## coverage: fails unless unit tests take 95 % of the branches of netif/, all of the state machine
coverage: packages
	+@$(MAKE) --no-print-directory BUILD=build/coverage CC=gcc CFLAGS='-O0 -g --coverage' HARDENING= \
		coverage-tests
	$(Q)BUILD='$(abspath build/coverage)' scripts/coverage

BENCHES := $(patsubst %.c,$(B)/%,$(wildcard tests/bench/*.c))
# Those of the data path are linked with it.
$(B)/tests/bench/ring-path: $(LIB)
$(BENCHES): $(B)/%: $(B)/obj/%.o
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(link) $(XEN_LIBS) $(GLIB_LIBS)

.PHONY: bench bench-xen bench-report bench-compare
## bench: what it costs where there is no Xen: prints "value NAME NUMBER UNIT" and "ratio NAME NUMBER"
bench: packages programs $(TEST_PROGRAMS) $(BENCHES)
	@env $(TEST_ENV) tests/bench/bench $(BENCH)

## bench-xen: against other back ends on real Xen in emulation, by instructions; WALL=1: by time
bench-xen: packages programs
	@env $(TEST_ENV) WALL='$(WALL)' tests/bench/bench-xen $(BENCH)

## bench-report: build/bench/report.html of what bench and bench-xen have measured last
bench-report: packages
	@env $(TEST_ENV) tests/bench/bench-report

## bench-compare: two results, A=FILE.json B=FILE.json: by how much each figure changed
bench-compare:
	@tests/bench/bench-compare '$(A)' '$(B)'

.PHONY: demo
## demo: shows a guest's packets crossing the daemon, without Xen; XEN=1: on real Xen in emulation
ifdef XEN
demo: packages programs $(TEST_PROGRAMS)
	@env $(TEST_ENV) tests/xen/demo
else
demo: packages programs $(TEST_PROGRAMS)
	@env $(TEST_ENV) tests/demo/demo
endif

# --- style ----------------------------------------------------------------------------------------

# It takes a g_autofree variable whose address was passed on for one that nobody has set.
ANALYZER := -O1 -fanalyzer -Werror -Wno-analyzer-use-of-uninitialized-value

.PHONY: lint format check-format
## lint: the slower static checks: clang-tidy (and with it scan-build's), cppcheck, gcc -fanalyzer
lint: $(GENERATED)
	@$(INSTALL_PACKAGES) lint
	$(Q)scripts/run-cppcheck
	$(Q)printf '%s\n' $(LIB_SRC) $(MAIN_SRC) $(TOOLS_SRC) | xargs -P 2 -n 1 sh -c \
		'gcc $(ANALYZER) $(BASE_CC) $(XEN_CFLAGS) $(GLIB_CFLAGS) -c -o /dev/null "$$@"' analyzer
	$(Q)printf '%s\n' $(filter hw/%.c tests/%.c,$(C_FILES)) | xargs -P 2 -n 1 sh -c \
		'clang-tidy --quiet --warnings-as-errors="*" "$$@" -- $(BASE_CC) $(XEN_CFLAGS) $(GLIB_CFLAGS)' tidy

## format: rewrites the C files in the project's format
format:
	$(Q)$(if $(C_FILES),clang-format -i $(C_FILES))

## check-format: fails if "make format" would change something
check-format:
	$(Q)$(if $(C_FILES),clang-format --dry-run --Werror $(C_FILES))

# --- the rest -------------------------------------------------------------------------------------

BINDIR = $(PREFIX)/bin
SBINDIR = $(PREFIX)/sbin
MANDIR = $(PREFIX)/share/man
DOCDIR = $(PREFIX)/share/doc/qnetback
# At the same places below DOCDIR, for the links between them.
DOC_FILES := README.md LICENSE CHANGELOG.md xenstore-schema/README.md \
	$(wildcard docs/*.md docs/design/*.md)
LIBEXECDIR = $(PREFIX)/libexec
DATADIR = $(PREFIX)/share/qnetback
# Of the system's own services, which look below /usr and /usr/local alike.
SYSTEMLIBDIR = $(PREFIX)/lib

MAN_PAGES := $(patsubst docs/man/%.scd,$(B)/man/%,$(wildcard docs/man/*.scd)) $(B)/man/qnetback-xenstore.7

.PHONY: man install install-service uninstall clean distclean help
## man: the manual pages
man: $(MAN_PAGES)
$(B)/man/%: docs/man/%.scd
	$(call say,MAN,$@)
	@mkdir -p $(@D)
	$(Q)scdoc <$< >$@
$(B)/man/qnetback-xenstore.7: xenstore-schema/generate $(wildcard xenstore-schema/*.schema)
	$(call say,MAN,$@)
	@mkdir -p $(@D)
	$(Q)xenstore-schema/generate man >$@.scd
	$(Q)scdoc <$@.scd >$@

install_data = install -D -m 644

## install: below PREFIX (see configure), or below DESTDIR/PREFIX
install: programs man install-service
	install -D -m 755 $(B)/qnetback $(DESTDIR)$(SBINDIR)/qnetback
	install -D -m 755 $(B)/qnetctl $(DESTDIR)$(BINDIR)/qnetctl
	for page in $(notdir $(MAN_PAGES)); do \
		$(install_data) $(B)/man/$$page $(DESTDIR)$(MANDIR)/man$${page##*.}/$$page || exit 1; \
	done
	$(install_data) contrib/completion/qnetctl \
		$(DESTDIR)$(PREFIX)/share/bash-completion/completions/qnetctl
	for file in $(DOC_FILES); do \
		$(install_data) $$file $(DESTDIR)$(DOCDIR)/$$file || exit 1; \
	done

	cd contrib && for file in bpftrace/*.bt grafana/*.json; do \
		install -D -m $$([ -x $$file ] && echo 755 || echo 644) $$file $(DESTDIR)$(DATADIR)/$$file || exit 1; \
	done

# The configuration file, the systemd unit, and what goes with it: user, udev rule, blacklist.
install-service:
	[ -e $(DESTDIR)$(SYSCONFDIR)/qnetback/qnetback.conf ] || \
		$(install_data) contrib/qnetback.conf $(DESTDIR)$(SYSCONFDIR)/qnetback/qnetback.conf
	@mkdir -p $(B)
	sed 's,@SBINDIR@,$(SBINDIR),' contrib/systemd/qnetback.service.in >$(B)/qnetback.service
	$(install_data) $(B)/qnetback.service $(DESTDIR)$(SYSTEMLIBDIR)/systemd/system/qnetback.service
	$(install_data) contrib/systemd/sysusers.conf $(DESTDIR)$(PREFIX)/lib/sysusers.d/qnetback.conf
	$(install_data) contrib/udev/60-qnetback.rules \
		$(DESTDIR)$(SYSTEMLIBDIR)/udev/rules.d/60-qnetback.rules
	$(install_data) contrib/modprobe/qnetback.conf $(DESTDIR)$(SYSTEMLIBDIR)/modprobe.d/qnetback.conf

## uninstall: removes what "make install" puts there, but not below SYSCONFDIR
uninstall:
	$(Q)rm -rf $(B)/installed
	+$(Q)$(MAKE) --no-print-directory DESTDIR='$(abspath $(B))/installed' install >/dev/null
	$(Q)rm -rf $(B)/installed$(SYSCONFDIR)
	cd $(B)/installed && find . ! -type d | (cd '$(or $(DESTDIR),/)' && xargs rm -f)
	$(Q)cd $(B)/installed && find . -depth -type d -path '*/qnetback*' | \
		(cd '$(or $(DESTDIR),/)' && xargs -r rmdir 2>/dev/null) || :
	$(Q)rm -rf $(B)/installed

## install-tests: the tests as programs without arguments, below LIBEXECDIR/xen/tests
install-tests: programs test-programs
	scripts/install-tests $(B) $(LIBEXECDIR)/xen/tests $(DESTDIR)

## dist: the source as an archive, build/qnetback-VERSION.tar.xz
dist:
	$(Q)scripts/make-dist $(VERSION) $(B)/qnetback-$(VERSION).tar.xz

## deb: the Debian packages, into build/deb
deb:
	@$(install_packages)
	$(Q)scripts/build-deb $(VERSION) $(B)/deb

## clean: removes what was built
clean:
	$(Q)rm -rf $(B)

## distclean: the same, and the configuration
distclean: clean
	$(Q)rm -f config.mak

## help: this list
help:
	@echo 'Targets:'
	@sed -n 's/^## \([^:]*\): /\1|/p' Makefile | awk -F'|' '{ printf "  %-16s %s\n", $$1, $$2 }'
	@echo 'Variables:'
	@sed -n '/^# right directory/,/^$$/s/^#   \([A-Z]\)/  \1/p' Makefile
