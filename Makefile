# Recorder: headers need no building; examples, tools and proofs do.
# SPDX-License-Identifier: MIT

CC ?= cc
CXX ?= c++
CFLAGS ?= -O2 -g
WARNINGS = -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wundef
PREFIX ?= /usr/local
ifneq ($(words $(PREFIX)),1) # make takes a path with a blank for two
$(error PREFIX must be one path without blanks: $(PREFIX))
endif
prefix = $(abspath $(patsubst ~/%,$(HOME)/%,$(PREFIX)))
# The folder from which gdb loads files at each start: Fedora's, else Debian's.
# Only a system's gdb loads files that are installed for the system.
GDBINIT ?= $(if $(filter /usr /usr/local,$(prefix)),$(firstword \
	$(wildcard /etc/gdbinit.d) /etc/gdb/gdbinit.d))
# Where Python looks for modules, if that is below PREFIX, else Debian's name of it.
PYTHON ?= $(firstword $(wildcard /usr/bin/python3) python3)
PYTHONDIR ?= $(or $(shell $(PYTHON) -c 'import sys; print(next(path for path in \
	sys.path if path.startswith("$(prefix)/lib/") and path.endswith("-packages")))' \
	2>/dev/null),$(prefix)/lib/python3/dist-packages)
VERSION := $(shell awk '/define RECORDER_VERSION_(MAJOR|MINOR|PATCH)/ \
	{ printf "%s%s", dot, $$3; dot = "." }' recorder.h)

HEADERS := $(wildcard recorder*.h recorder/*.h)
EXAMPLES := $(patsubst %.c,build/%,$(filter-out examples/go/% examples/library/% \
	examples/port-template/%,$(wildcard examples/*/*.c)))
# Tests of code in their own process, which a sanitizer sees, and of programs.
# TEST=whole chooses one, CASE=... one of its cases, for all that runs tests.
tests_in = $(filter $(if $(TEST),$(TEST) %/$(TEST),%),\
	$(patsubst tests/%.c,%,$(wildcard $1)))
INSIDE := $(call tests_in,tests/ring/*.c tests/inside/*.c)
TESTS := $(strip $(call tests_in,tests/outside/*.c) $(INSIDE))
CASES := $(filter $(if $(TEST),%/$(TEST).sh,%),$(wildcard tests/outside/*.sh))
$(if $(TEST),$(if $(TESTS)$(CASES),,$(error there is no tests/*/$(TEST).c or .sh)))

# Where a build goes and how it is made; `make asan` and its like set both.
BUILD ?= build
TESTFLAGS ?=
CRITERION ?= -lcriterion
CORES := $(shell nproc)
# The part of the repetitions that a test does; less than 1 also leaves out
# long tests that rarely fail: they are for `make test-all`.
USUAL_SCALE := 0.1
RECORDER_TEST_SCALE ?= $(USUAL_SCALE)
export RECORDER_TEST_SCALE
# How a failed test is run alone, but for TEST and CASE.
AGAIN = make run$(patsubst %, RECORDER_TEST_SCALE=%,$(filter-out \
	$(USUAL_SCALE),$(RECORDER_TEST_SCALE)))

# The recorder command, and the reader in it as a library, for gdb: a main file
# each, and the other files that the linker needs. Before glibc 2.34,
# libpthread and libdl are separate libraries.
TOOLS := $(patsubst %.c,build/%.o,$(wildcard tools/*/*.c))
TOOL_DIRS = -I. -Ilibrary $(addprefix -I,tools $(patsubst %/,%,$(wildcard tools/*/)))
TOOL_LIBS = -ldw -lelf -lsqlite3 -lz -lzstd -lseccomp -liberty -lm -lpthread -ldl
TOOL_FLAGS = -std=gnu11 -D_GNU_SOURCE $(CPPFLAGS) $(CFLAGS) $(WARNINGS) \
	-Wstrict-prototypes $(TOOL_DIRS) -fPIC -fvisibility=hidden

.PHONY: build fleet test test-all run hanoi pipeline bench model evidence asan tsan coverage fuzz crashes weight litmus \
	test-ports ports-cost release dist site install uninstall deps clean help run-tests \
	run-libraries

build: $(EXAMPLES) build/recorder build/librecorder.so \
	build/lib/librecorder-run.so
run-libraries: $(RUN_LIBRARIES)

# Says which libraries are missing, before the compiler says it less well.
build/libraries: packages/libraries.sh
	@CC='$(CC)' CPPFLAGS='$(CPPFLAGS)' CFLAGS='$(CFLAGS)' \
		LDFLAGS='$(LDFLAGS)' sh packages/libraries.sh
	@mkdir -p $(@D) && touch $@
deps: packages-build

build/%.o: %.c $(HEADERS) $(wildcard tools/*.h tools/*/*.h tools/view/page/* gdb/*.h library/*.h) | build/libraries
	@mkdir -p $(@D)
	$(CC) $(TOOL_FLAGS) -c $< -o $@
build/tools.a: $(TOOLS)
	@rm -f $@
	ar rcs $@ $^
build/recorder: $(patsubst %.c,build/%.o,$(wildcard tools/*.c)) build/tools.a
	$(CC) $(CFLAGS) $(LDFLAGS) $^ -o $@ $(TOOL_LIBS)
build/librecorder.so.1: build/gdb/library.o $(patsubst %.c,build/%.o,$(wildcard \
		library/*.c)) build/tools/options.o build/tools/trouble.o build/tools/labels.o \
		build/tools/sources.o build/tools.a library/exports.map
	$(CC) $(CFLAGS) $(LDFLAGS) -shared -Wl,-z,defs -Wl,-soname,$(@F) \
		-Wl,--version-script=library/exports.map $(filter %.o %.a,$^) -o $@ \
		-Wl,--as-needed $(TOOL_LIBS)
build/librecorder.so: build/librecorder.so.1
	ln -sf librecorder.so.1 $@

# recorder-fleet, for many hosts: docs/fleet.md. It alone needs libnats.
FLEET = $(if $(filter outside/fleet%,$(TESTS)),build/recorder-fleet)
FLEET_LIBS = -lnats -lzstd -lcrypto
fleet: packages-fleet build/recorder build/recorder-fleet
build/fleet/%.o: fleet/%.c fleet/fleet.h $(HEADERS) $(wildcard tools/*.h tools/*/*.h)
	@mkdir -p $(@D)
	$(CC) $(TOOL_FLAGS) -Ifleet -c $< -o $@
build/recorder-fleet: $(patsubst %.c,build/%.o,$(wildcard fleet/*.c)) build/tools/trouble.o build/tools.a
	$(CC) $^ -o $@ $(FLEET_LIBS) $(TOOL_LIBS)

# The libraries that `recorder run` puts in front of a program: run/ for this machine, and for
# those whose compilers are installed in build/lib/TRIPLET/.
RUN_FLAGS = -std=gnu11 -D_GNU_SOURCE $(CPPFLAGS) $(CFLAGS) $(WARNINGS) \
	-Wstrict-prototypes -I. -fPIC -fexceptions -funwind-tables -fasynchronous-unwind-tables \
	-fvisibility=hidden -fdata-sections -fno-omit-frame-pointer
# Small variables are together, after the rings: a page fault less for each of
# them at the start of a program and in each child.
RUN_LINK = $(LDFLAGS) -shared -nostartfiles -Wl,-z,defs,-z,now \
	-Wl,--sort-section=alignment,-Bsymbolic-functions
# libgcc_s before the sources ends ARM's linker by an assertion: run/libc.c defines
# some of its functions as indirect ones. Their resolvers divide before the loader
# has bound ARM's function for it, so that is libgcc's.
RUN_LIBS = -lgcc -Wl,--no-as-needed -lgcc_s -lpthread -ldl
RUN_VERSIONS = -DRUN_VERSIONS -Wl,--version-script=run/versions.map
RUN_MACHINES = $(foreach t,arm-linux-gnueabihf aarch64-linux-gnu,$(if \
	$(shell command -v $t-gcc),$t))
RUN_LIBRARIES = build/lib/librecorder-run.so \
	$(RUN_MACHINES:%=build/lib/%/librecorder-run.so)
# Two makes may build these at once, for tests that read them: each has its own name
# until it is whole.
build/lib/librecorder-run.so: $(wildcard run/*) $(HEADERS)
	@mkdir -p $(@D)
	$(CC) $(RUN_FLAGS) $(RUN_LINK) $(if $(filter x86_64%,$(shell $(CC) \
		-dumpmachine)),$(RUN_VERSIONS)) run/*.c -o $@.$$$$ $(RUN_LIBS) && mv $@.$$$$ $@
	@sh run/preload.sh $@
build/lib/%/librecorder-run.so: $(wildcard run/*) $(HEADERS)
	@mkdir -p $(@D)
	$*-gcc $(RUN_FLAGS) $(RUN_LINK) run/*.c -o $@.$$$$ $(RUN_LIBS) && \
		mv $@.$$$$ $@

build/examples/%: examples/%.c $(HEADERS)
	@mkdir -p $(@D)
	$(CC) -std=c11 -D_POSIX_C_SOURCE=200809L $(CFLAGS) $(WARNINGS) \
		-Wstrict-prototypes -I. $< -o $@ -lpthread

# The headers in one file each, for people who copy a file into their project.
RELEASE := $(patsubst %,release/%,$(wildcard recorder*.h))
release: $(RELEASE)
release/%.h: %.h $(HEADERS) release/amalgamate.awk
	@awk -f release/amalgamate.awk $< >$@.new && mv $@.new $@

# All committed files, and the single headers, as one archive.
dist: $(RELEASE)
	@mkdir -p build
	git archive -o build/recorder-$(VERSION).tar.gz \
		--prefix=recorder-$(VERSION)/release/ $(RELEASE:%=--add-file=%) \
		--prefix=recorder-$(VERSION)/ HEAD

hanoi: build/examples/hanoi/hanoi
	@build/examples/hanoi/hanoi 6

# A camera that drops a frame now and then: docs/pipeline.md.
pipeline: build/examples/pipeline/pipeline build/recorder
	@rm -f build/pipeline.rec
	@RECORDER_FILE=build/pipeline.rec $<
	@build/recorder latency build/pipeline.rec --by 1 --deadline 16.6ms \
		--from 'frame .* from the sensor' --to '< encode frame .*' || true
	@build/recorder sched build/pipeline.rec
	@echo 'recorder view build/pipeline.rec: docs/pipeline.md tells how to go on'

# Each file in ring/, inside/ and outside/ of tests/ is a program.
# The programs of outside/ only run commands.
$(BUILD)/tests/outside/%: CFLAGS += -O0
$(BUILD)/tests/%: tests/%.c $(HEADERS) $(wildcard tests/harness/*.h \
		compat/recorder/* tools/*.[ch] tools/*/*.[ch])
	@mkdir -p $(@D)
	$(CC) -std=gnu11 -D_GNU_SOURCE $(CFLAGS) $(TESTFLAGS) $(WARNINGS) \
		-Wstrict-prototypes $(TOOL_DIRS) -Itests -DTEST_ROOT='"$(CURDIR)"' $< -o $@ $(CRITERION) \
		-lpthread -ldl -lm

packages-%:
	@sh tests/packages.sh $*

test: packages-test
	@echo Building what is tested
	@$(MAKE) --no-print-directory -s -j$(CORES) build
	@$(MAKE) --no-print-directory -s -j$(CORES) run-tests \
		SCRIPTS="$(if $(TEST),,tests/house.sh tests/model/run.sh)"
test-all: # a thirteenth of the programs at that length, each day others
	@TURNS=13 $(MAKE) --no-print-directory test RECORDER_TEST_SCALE=0.4

run-tests: build/recorder build/librecorder.so build/lib/librecorder-run.so \
		$(FLEET) $(TESTS:%=$(BUILD)/tests/%)
	@AGAIN="$(AGAIN)" sh tests/run.sh $(SCRIPTS) $(CASES) $(TESTS:%=$(BUILD)/tests/%)

# One test, and all that it says: make run TEST=whole CASE=readers_see_a_mix
ifeq ($(MAKECMDGOALS)$(TEST),run)
$(error make run TEST=... [CASE=...]: which test?)
endif
run: build/recorder build/librecorder.so build/lib/librecorder-run.so \
		$(FLEET) $(TESTS:%=$(BUILD)/tests/%)
	@$(if $(CASES),CASE='$(CASE)' bash $(CASES),$(BUILD)/tests/$(TESTS) --verbose $(CASE:%=--filter '*/%'))

SANITIZE = $(MAKE) --no-print-directory -s -j$(CORES) run-tests \
	RECORDER_TEST_SCALE=0.01 AGAIN="make $@" TESTS="$(INSIDE)" CASES=

# AddressSanitizer and UndefinedBehaviorSanitizer in one build.
asan: packages-test
	@ASAN_OPTIONS=handle_segv=0:handle_abort=0:handle_sigbus=0:handle_sigfpe=0:handle_sigill=0:use_sigaltstack=0:detect_leaks=0 \
		$(SANITIZE) BUILD=build/asan TESTFLAGS="-O1 -g1 -fno-omit-frame-pointer \
		-fsanitize=address,undefined -fno-sanitize-recover=undefined"
# Criterion does not start under ThreadSanitizer (Snaipe/Criterion#274): tests/tsan
# replaces it. setarch: it fails at the random addresses of some kernels. It gets
# no test of one thread, and not tests/ring/threads.c, whose threads are
# cancelled, forked and jumped out of.
tsan: packages-test
	@TSAN_OPTIONS=handle_segv=0:handle_abort=0 RUN="setarch -R" $(SANITIZE) \
		BUILD=build/tsan TESTFLAGS="-O1 -g1 -fsanitize=thread -Itests/tsan" CRITERION= \
		TESTS="$(filter-out ring/threads inside/format inside/coded inside/regex,$(INSIDE))" CASES=

# Lines and branches of the headers that the tests reach.
coverage: packages-test
	@rm -rf build/coverage
	@$(SANITIZE) BUILD=build/coverage TESTFLAGS="--coverage -O0 -DCOVERAGE"
	@cd build/coverage/tests && gcov -b */*.gcda 2>/dev/null | grep -A 4 \
		"^File '\(.*/\)\?recorder[a-z_/]*\.h'"

# SECONDS: how long to look for hostile files and texts, all targets together.
crashes: packages-test build/recorder
	@python3 tests/programs/seeded/seeded.py $(CURDIR)/build/recorder \
		build/seeded $(or $(SEED),1)
fuzz: packages-fuzz build/recorder
	@sh tests/fuzz/run.sh $(or $(SECONDS),60)

# The compiled ring under the memory models of processors, if herd7 is installed.
litmus: packages-litmus
	@python3 tests/litmus/litmus.py build/litmus

# Lines of the product by folder, and the most that it may have.
weight:
	@sh tests/weight.sh

# A report for an assessor: docs/evidence.md.
evidence: packages-evidence
	@python3 tests/evidence/evidence.py $(CURDIR)/build/evidence.md

model:
	@RECORDER_TEST_SCALE=1 sh tests/model/run.sh

# Other processors under qemu, and machines without an operating system. It sees
# to its packages by itself.
test-ports: build/recorder build/librecorder.so
	@sh tests/ports/run.sh
ports-cost: test-ports
	@sh tests/ports/cost.sh

build/bench/%.o: bench/%.c $(HEADERS) bench/shim.h
	@mkdir -p $(@D)
	$(CC) -std=gnu11 -O2 $(WARNINGS) -I. -c $< -o $@
build/bench/bench: bench/shim.cc $(patsubst %.c,build/%.o,$(wildcard bench/*.c))
	$(CXX) -std=c++17 -O2 -I. $^ -o $@ -lbenchmark -lpthread
build/bench/clock/bench: bench/shim.cc build/bench/clock/threads.o \
		build/bench/clock/steps.o
	$(CXX) -std=c++17 -O2 -I. $^ -o $@ -lbenchmark -lpthread
build/bench/clock/threads.o: bench/threads.c
build/bench/clock/steps.o: bench/steps.c
bench: packages-test build/bench/bench build/bench/clock/bench build/recorder
	@sh bench/run.sh build/bench/bench docs/benchmarks.md build/bench/clock/bench

# The documentation as HTML, by lowdown (Debian), without a network.
site: build/recorder
	@sh site/site.sh build/site
installer = VERSION='$(VERSION)' PREFIX='$(prefix)' DESTDIR='$(DESTDIR)' \
	PYTHONDIR='$(PYTHONDIR)' GDBINIT='$(GDBINIT)' sh packages/install.sh
install: build/recorder build/librecorder.so run-libraries
	@$(installer) install
uninstall:
	@$(installer) uninstall

clean:
	rm -rf build

help:
	@echo 'make            build the examples, the recorder command and what gdb needs'
	@echo 'make deps       install the libraries that the command needs (Debian)'
	@echo 'make fleet      build recorder-fleet, for many hosts: docs/fleet.md'
	@echo 'make hanoi      record the Towers of Hanoi, and show the dump'
	@echo 'make pipeline   a camera that drops frames, and what finds why'
	@echo 'make test       run the tests, in 3 minutes; installs what is missing (Debian)'
	@echo 'make test-all   run all of them, a thirteenth at greater length, each day others'
	@echo 'make run        run one: TEST=whole, and of it one case: CASE=parked'
	@echo 'make asan tsan  the tests under sanitizers'
	@echo 'make fuzz       hostile files for the reader, SECONDS=60'
	@echo 'make weight     lines of the product by folder, and how many it may have'
	@echo 'make model      model-check the ring, and that mutants are caught'
	@echo 'make evidence   a report for a safety case: MISRA, coverage, bounds, proofs'
	@echo 'make litmus     the compiled ring under memory models of processors, by herd7'
	@echo 'make test-ports other processors under qemu, and bare metal'
	@echo 'make bench      measure, and write the tables into docs/benchmarks.md'
	@echo 'make coverage   which lines of the headers the tests reach'
	@echo 'make release    recorder.h and its like in one file each, in release/'
	@echo 'make dist       build/recorder-$(VERSION).tar.gz: what is committed, and those'
	@echo 'make site       the documentation as HTML, in build/site/ (needs lowdown)'
	@echo 'make install    headers, command, manual, gdb, below PREFIX=$(PREFIX)'
	@echo 'make uninstall  take them away'
	@echo 'make clean      remove build/'
