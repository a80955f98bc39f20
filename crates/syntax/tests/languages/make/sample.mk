# Builds and ships the relay.
include config/common.mk
-include local.mk

# Where the programs go.
PREFIX ?= /usr/local
VERSION := $(shell git describe --tags)
CFLAGS += -O2 \
	-Wall
SOURCES = $(wildcard src/*.c) \
	src/generated.c

export PATH := $(PREFIX)/bin:$(PATH)

# Text of the banner.
define BANNER
relay $(VERSION)
all rights reserved
endef

# Prints a step: $(call step,name)
define step
	@echo "==> $(1)"
	@date
endef

.PHONY: all install clean

## Everything.
all: relayd relayctl

relayd: $(SOURCES:.c=.o) | build
	$(CC) $(CFLAGS) -o $@ $^

# One object a source.
%.o: %.c src/relay.h
	$(call step,compile)
	$(CC) $(CFLAGS) -c $< -o $@

ifeq ($(OS),Windows_NT)
EXE := .exe
install:
	copy relayd$(EXE) bin
else
install: relayd
	install -m 755 relayd $(DESTDIR)$(PREFIX)/bin
endif

build dist:
	mkdir -p $@

clean: ; rm -rf build dist

relayctl: CFLAGS += -DCTL

NAMES=$(SOURCES:.c=)
MODE?=fast
FLAGS+=-g
DATE!=date
export ROOT?=/srv

$(SOURCES:.c=): build
	cp $(SOURCES:.c=) $@
