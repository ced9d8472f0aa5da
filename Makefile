# Moontide. `make help` lists the targets; `V=1` shows the commands.
-include config.mak

V ?= 0
Q = $(if $(filter 1,$(V)),,@)
MAKEFLAGS += --no-print-directory $(if $(filter 1,$(V)),,--silent)
VARIANT ?= release
B = build/$(VARIANT)

CC ?= gcc
PREFIX ?= /usr/local
BINDIR ?= $(PREFIX)/bin
DATADIR ?= $(PREFIX)/share
CFLAGS ?= -O2 -g
WARN = -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes \
       -Wvla
PKGS = luajit rdkafka inih libmicrohttpd
PKG_CFLAGS := $(shell pkg-config --cflags $(PKGS) 2>/dev/null)
PKG_LIBS := $(shell pkg-config --libs $(PKGS) 2>/dev/null)

# What each variant adds; `make VARIANT=asan all` builds one by hand.
EXTRA_release = -DNDEBUG
EXTRA_debug = -O0 -DTIDE_DEBUG
EXTRA_test = -DTIDE_DEBUG
EXTRA_asan = -O1 -DTIDE_DEBUG -fsanitize=address,undefined -fno-sanitize-recover=all \
             -fno-omit-frame-pointer
EXTRA_tsan = -O1 -DTIDE_DEBUG -fsanitize=thread
EXTRA_fuzz = -O1 -DTIDE_DEBUG -fsanitize=fuzzer-no-link,address,undefined \
             -fno-sanitize-recover=all -fno-omit-frame-pointer
EXTRA_cover = -O0 -DTIDE_DEBUG --coverage
EXTRA_gcc = -Werror -DTIDE_DEBUG
EXTRA_clang = -Werror -DTIDE_DEBUG -Wthread-safety
EXTRA = $(EXTRA_$(VARIANT))
# jemalloc is the cheapest third of the speed (performance); sanitizers bring their own allocator
MALLOC_LIBS = $(if $(filter release,$(VARIANT)),-ljemalloc)

BASE = -std=c17 -D_GNU_SOURCE -pthread -fvisibility=hidden -Isrc -Itests -I$(B)/gen $(WARN)
COMPILE = $(CC) $(BASE) $(CFLAGS) $(EXTRA) $(PKG_CFLAGS) -MMD -MP -c
LINK = $(CC) $(CFLAGS) $(EXTRA) -pthread -rdynamic
LIBS = $(LDFLAGS) $(PKG_LIBS) $(MALLOC_LIBS) -lm -ldl

find_c = $(sort $(shell find $(1) -name '$(2)' 2>/dev/null))
SOURCES := $(call find_c,src,*.c)
HEADERS := $(call find_c,src tests/support,*.h)
LUA := $(call find_c,lua/moontide,*.lua)
OBJECTS = $(SOURCES:%.c=$(B)/%.o) $(LUA:%.lua=$(B)/%.lua.o) \
          $(if $(filter tsan,$(VARIANT)),$(B)/tests/sanitizer/c11_threads.o)
LIBRARY = $(filter-out $(B)/src/main.o,$(OBJECTS)) $(patsubst %.c,$(B)/%.o,$(call find_c,tests/support,*.c))
UNIT = $(patsubst %.c,$(B)/%.o,$(call find_c,tests/unit,test_*.c))
SIM = $(patsubst %.c,$(B)/%.o,$(call find_c,tests/sim,*.c))
PROPERTY = $(patsubst %.c,$(B)/%,$(call find_c,tests/property,*.c))
FUZZ = $(patsubst %.c,$(B)/%,$(call find_c,tests/fuzz,fuzz_*.c))
BENCH = $(patsubst %.c,$(B)/%,$(call find_c,tests/bench,bench_*.c))
GENERATED = $(B)/gen/script/lua_abi_text.h

all: build/moontide ## build build/moontide

# what is linked, so that a source that went away is linked no more
LIST = $(B)/objects.list
$(LIST): FORCE
	$(Q)mkdir -p $(@D); echo '$(OBJECTS) $(LIBRARY) $(UNIT) $(SIM)' | cmp -s - $@ || \
	    echo '$(OBJECTS) $(LIBRARY) $(UNIT) $(SIM)' >$@
FORCE:

build/moontide: $(B)/moontide
	$(Q)cp -f $< $@.new && mv -f $@.new $@

$(B)/moontide: $(OBJECTS) $(LIST)
	$(Q)$(LINK) $(filter %.o,$^) -o $@ $(LIBS)

$(B)/%.o: %.c Makefile | $(GENERATED)
	$(Q)mkdir -p $(@D)
	$(Q)$(COMPILE) $< -o $@

# lua/moontide/record.lua becomes the module moontide.record, found in the binary by its symbol
$(B)/lua/%.lua.o: lua/%.lua Makefile
	$(Q)mkdir -p $(@D)
	$(Q)luajit -bg -n $(subst /,.,$*) $< $@

# the ABI headers as one string, for ffi.cdef: no declaration is typed twice
ABI = src/script/lua_abi.h $(filter-out src/script/lua_abi.h,$(wildcard src/script/*_abi.h))
$(B)/gen/script/lua_abi_text.h: $(ABI) Makefile
	$(Q)mkdir -p $(@D)
	$(Q)sed -e '/^#/d' -e 's/[\\"]/\\&/g' -e 's/.*/"&\\n"/' $(ABI) >$@

$(B)/tests/unit/all: $(UNIT) $(LIBRARY) $(LIST)
	$(Q)$(LINK) $(filter %.o,$^) -o $@ $(LIBS) -lcriterion

$(B)/tests/sim/sim: $(SIM) $(LIBRARY) $(LIST)
	$(Q)$(LINK) $(filter %.o,$^) -o $@ $(LIBS)

$(PROPERTY) $(BENCH): %: %.o $(LIBRARY) $(LIST)
	$(Q)$(LINK) $(filter %.o,$^) -o $@ $(LIBS)

.PHONY: all FORCE debug bootstrap demo programs test unit property lua-test integration sim chaos soak mutants asan \
    tsan fuzz cover bench check werror check-headers layers tidy luacheck clang-tidy cppcheck lint format install \
    uninstall clean help

# libFuzzer brings a main of its own; elsewhere ours replays files
$(FUZZ): %: %.o $(if $(filter fuzz,$(VARIANT)),,$(B)/tests/fuzz/replay.o) $(LIBRARY) $(LIST)
	$(Q)$(LINK) $(if $(filter fuzz,$(VARIANT)),-fsanitize=fuzzer) $(filter %.o,$^) -o $@ $(LIBS)

debug: ## build build/debug/moontide, without optimisation, with all checks
	$(Q)$(MAKE) VARIANT=debug build/debug/moontide

bootstrap: ## install the Debian packages that build and tests need
	$(Q)scripts/dev/bootstrap all

demo: ## install, build, and count words on an embedded Kafka (the main job)
	$(Q)scripts/dev/bootstrap build
	$(Q)$(MAKE) all
	$(Q)build/moontide demo

# The programs of all suites for one variant; the suites are run by scripts/dev/run-tests.
programs: $(B)/moontide $(B)/tests/unit/all $(PROPERTY) $(FUZZ) $(if $(SIM),$(B)/tests/sim/sim)

test: ## install, build, and run all tests but the long ones
	$(Q)scripts/dev/bootstrap all
	$(Q)$(MAKE) all
	$(Q)$(MAKE) VARIANT=test programs
	$(Q)scripts/dev/run-tests test unit property sim lua scripts fuzz integration

unit property lua-test integration: all ## run one suite
	$(Q)$(MAKE) VARIANT=test programs
	$(Q)scripts/dev/run-tests test $(@:lua-test=lua)

SEEDS ?= 100000
sim: ## simulate SEEDS=n seeds
	$(Q)$(MAKE) VARIANT=test programs
	$(Q)build/test/tests/sim/sim --seeds $(SEEDS)

KILLS ?= 100
SECONDS ?= 600
chaos: all ## kill members and broker of a real Kafka KILLS=n times, and judge the output (SEED=n repeats)
	$(Q)KILLS=$(KILLS) SEED=$(SEED) luajit tests/chaos/chaos.lua
soak: all ## memory of slow scripts on a real Kafka for SECONDS=n
	$(Q)SOAK_SECONDS=$(SECONDS) luajit tests/chaos/soak.lua

mutants: ## take out lines of safety one by one: the simulator has to notice each
	$(Q)scripts/dev/mutants

asan tsan: ## run the suites under AddressSanitizer and UBSan, or ThreadSanitizer (SUITES=some of them)
	$(Q)$(MAKE) VARIANT=$@ programs
	$(Q)scripts/dev/run-tests $@ $(or $(SUITES),$(if $(filter asan,$@),unit property sim lua fuzz integration,property sim integration))

fuzz: ## look for inputs that break a parser, SECONDS=n for each target
	$(Q)scripts/dev/fuzz check
	$(Q)$(MAKE) VARIANT=fuzz CC=clang $(FUZZ:build/$(VARIANT)/%=build/fuzz/%)
	$(Q)scripts/dev/fuzz run $(if $(filter file,$(origin SECONDS)),60,$(SECONDS)) $(TARGETS)

cover: ## lines that the suites reach, by file
	$(Q)$(MAKE) VARIANT=cover programs
	$(Q)scripts/dev/run-tests cover unit property sim lua
	$(Q)scripts/dev/cover

bench: $(BENCH) ## nanoseconds a record of the parts
	$(Q)for program in $(BENCH); do $$program || exit 1; done

check: werror check-headers layers tidy luacheck clang-tidy cppcheck ## all that judges the code without running it
	@echo "check: green"

werror: ## warnings as errors with gcc and clang
	$(Q)$(MAKE) VARIANT=gcc CC=gcc programs $(BENCH:build/$(VARIANT)/%=build/gcc/%)
	$(Q)$(MAKE) VARIANT=clang CC=clang programs $(BENCH:build/$(VARIANT)/%=build/clang/%)

check-headers: $(GENERATED) ## each header compiles alone
	$(Q)for header in $(HEADERS); do \
	    printf '#include "%s"\n' "$${header#*/}" | $(CC) $(BASE) $(PKG_CFLAGS) -Werror -fsyntax-only -x c - || \
	    { echo "$$header does not compile alone"; exit 1; }; done

layers: ## who may include whom
	$(Q)luajit scripts/dev/layers.lua
tidy: $(B)/moontide ## style that no compiler sees
	$(Q)luajit scripts/dev/tidy.lua $(B)
luacheck: ## Lua sources
	$(Q)luacheck -q $(wildcard lua scripts tests/lua tests/bench tests/chaos)
clang-tidy: $(GENERATED) ## bugs that clang sees
	$(Q)scripts/dev/tidy-c $(BASE) -DTIDE_DEBUG $(PKG_CFLAGS) -- $(SOURCES)
cppcheck: $(GENERATED) ## bugs that cppcheck sees
	$(Q)cppcheck --quiet --error-exitcode=1 --std=c11 --enable=warning,portability --inline-suppr \
	    --suppressions-list=.cppcheck -Isrc -I$(B)/gen -j2 src
lint: clang-tidy cppcheck luacheck tidy ## the linters of check

format: ## lay out C as .clang-format says
	$(Q)clang-format -i $(HEADERS) $(call find_c,src tests,*.c)

install: build/moontide ## install under $(DESTDIR)$(PREFIX)
	install -d $(DESTDIR)$(BINDIR) $(DESTDIR)$(DATADIR)/moontide/scripts
	install -m 755 build/moontide $(DESTDIR)$(BINDIR)/moontide
	install -m 644 $(wildcard scripts/*.lua) $(DESTDIR)$(DATADIR)/moontide/scripts
uninstall: ## remove what install put there
	rm -f $(DESTDIR)$(BINDIR)/moontide
	rm -rf $(DESTDIR)$(DATADIR)/moontide

clean: ## remove what was built, but not what was fetched
	$(Q)find build -mindepth 1 -maxdepth 1 ! -name kafka ! -name promtool -exec rm -rf {} + 2>/dev/null || true
help: ## list the targets
	@sed -n 's/^\([a-z][a-z -]*\):.*## \(.*\)/\1\t\2/p' Makefile | awk -F'\t' '{printf "  %-34s %s\n", $$1, $$2}'

-include $(OBJECTS:.o=.d) $(LIBRARY:.o=.d) $(UNIT:.o=.d) $(SIM:.o=.d) $(PROPERTY:=.d) $(BENCH:=.d) $(FUZZ:=.d)
