# Moontide. `make help` lists the targets; `V=1` shows the commands.
-include config.mak

V ?= 0
Q = $(if $(filter 1,$(V)),,@)
VARIANT ?= release
B = build/$(VARIANT)
PKGS = luajit rdkafka inih

CC ?= gcc
CFLAGS ?= -O2 -g
WARN = -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes -Wvla
BASE = -std=c17 -D_GNU_SOURCE -pthread -fvisibility=hidden -Isrc -I$(B)/gen $(WARN) $(EXTRA)
PKG_CFLAGS = $(shell pkg-config --cflags $(PKGS))
PKG_LIBS = $(shell pkg-config --libs $(PKGS)) $(MALLOC) -lm -ldl
MALLOC ?= -ljemalloc

SOURCES := $(sort $(shell find src -name '*.c'))
LUA := $(sort $(shell find lua -name '*.lua'))
OBJECTS = $(SOURCES:%.c=$(B)/%.o) $(LUA:%.lua=$(B)/%.lua.o)
LIBRARY = $(filter-out $(B)/src/main.o,$(OBJECTS))
SUPPORT = $(patsubst %.c,$(B)/%.o,$(sort $(shell find tests/support -name '*.c')))
UNIT = $(patsubst %.c,$(B)/%.o,$(sort $(shell find tests/unit -name 'test_*.c')))
PROGRAMS = $(patsubst %.c,$(B)/%,$(sort $(shell find tests/property tests/bench -name '*.c')))
SIM = $(patsubst %.c,$(B)/%.o,$(sort $(shell find tests/sim -name '*.c')))

.PHONY: all
all: build/moontide ## build build/moontide

build/moontide: $(B)/moontide
	$(Q)mkdir -p build && cp -f $< $@

$(B)/moontide: $(OBJECTS)
	$(Q)$(CC) $(CFLAGS) $(EXTRA) -pthread -rdynamic $^ -o $@ $(LDFLAGS) $(PKG_LIBS)

$(B)/%.o: %.c Makefile
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(BASE) $(CFLAGS) $(PKG_CFLAGS) -MMD -MP -c $< -o $@

-include $(OBJECTS:.o=.d)
