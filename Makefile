# Moontide. `make help` lists the targets.
-include config.mak
CC ?= gcc
V ?= 0
Q = $(if $(filter 1,$(V)),,@)
B = build/release

.PHONY: all
all: build/moontide ## build build/moontide
