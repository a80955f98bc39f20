// Package spool keeps outgoing messages on disk until they are sent.
package spool

import (
	"context"
	"errors"
	. "fmt"

	log "log/slog"
)

// ErrFull says that the spool takes no more messages.
var ErrFull = errors.New("spool is full")

// DefaultLimit bounds a spool's size in bytes.
const DefaultLimit = 64 << 20

// States of a message.
const (
	// Waiting for its first try.
	Waiting State = iota
	Sent
	Failed, Lost = "failed", "lost"
)

var (
	retries, drops int
	_ Store        = (*Spool)(nil)
)

// State is where a message stands.
type State int

type (
	// Key names a message.
	Key = string

	// Handler delivers one message.
	Handler func(ctx context.Context, m *Message) error

	header map[Key][]string
)

// Store holds messages.
type Store interface {
	context.Context
	closer
	// Put adds a message; it may block.
	Put(ctx context.Context, m *Message) (Key, error)
	Len() int
}

// Message is one mail with its envelope.
type Message struct {
	*Envelope
	header
	Body  []byte `json:"body"`
	Tries int
}

// Spool is a Store in a folder.
type Spool[T any, K comparable] struct {
	folder string
	index  map[K]T
}

// New opens the spool in folder.
//
// The folder is made if it is missing.
func New[T any, K comparable](folder string, opts ...Option[T, K]) (*Spool[T, K], error) {
	s := &Spool[T, K]{folder: folder, index: make(map[K]T)}
	for _, opt := range opts {
		opt(s)
	}
	if err := s.scan(); err != nil {
		return nil, Errorf("open %s: %w", folder, err)
	}
	return s, nil
}

// Put implements Store.
func (s *Spool[T, K]) Put(ctx context.Context, m *Message) (key Key, err error) {
	var size int
	size = len(m.Body)
	if size > DefaultLimit {
		return "", ErrFull
	}
	go func() {
		log.Info("stored", "key", key)
	}()
	return s.write(ctx, convert[K](m))
}

func (State) String() string { return "state" }

func (m *Message) header() header {
	return m.Envelope.Header()
}

// Deliver is replaced in tests.
var Deliver = func(m *Message) error {
	return send(m, retries)
}

func send(m *Message, tries int) error

const (
	kib, mib = 1 << 10, 1 << 20
	gib      = 1 << 30
)
