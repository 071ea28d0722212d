package llm

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"synod.dev/synod"
)

// cacheVersion is part of every key: a change of format or meaning is a miss.
const cacheVersion = "synod-cache/1"

// cache keeps good replies on disk, one file each. Its key holds everything that
// changes an answer: the model's identity, the text of the prompt and the typed
// prompt behind it, its seed, the seat and which repeat of the question it is.
// So two seats of one model, or two repeats, never share a reply: their votes
// would not be two.
//
// Identical calls at the same time are sent once. A file that cannot be read, or
// whose content does not fit its checksum, is a miss.
type cache struct {
	dir string

	mu      sync.Mutex
	flights map[string]*flight // by key
}

// newCache makes the folder if need be. Only its owner can read what is in it.
func newCache(dir string) (*cache, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("llm: cache: %w", err)
	}
	return &cache{dir: dir, flights: map[string]*flight{}}, nil
}

// layer answers from the cache; such replies are marked Reused and cost nothing.
func (c *cache) layer() layer {
	return func(m Model) Model { return &cached{layered: layered{m}, c: c} }
}

type cached struct {
	layered
	c *cache

	mu  sync.Mutex
	err error // the first file that could not be written
}

// Close closes the wrapped model and returns the first error of writing a file.
// A reply that could not be kept has still been returned.
func (l *cached) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return errors.Join(l.err, l.layered.Close())
}

// flight is a call under way that identical calls wait for.
type flight struct {
	done    chan struct{}
	reply   synod.Reply
	err     error
	stopped bool // it did not end by itself: its caller's context did
}

func (l *cached) Complete(ctx context.Context, r Request) (synod.Reply, error) {
	r = r.rendering()
	key := cacheKey(l.Info().Identity, r)
	for {
		if reply, ok := l.c.load(key); ok {
			return reused(reply), nil
		}
		l.c.mu.Lock()
		f := l.c.flights[key]
		if f == nil {
			f = &flight{done: make(chan struct{}), stopped: true}
			l.c.flights[key] = f
			l.c.mu.Unlock()
			return l.lead(ctx, key, r, f)
		}
		l.c.mu.Unlock()
		select {
		case <-ctx.Done():
			return failed(synod.Reply{}, ended(ctx, "waiting for the reply"))
		case <-f.done:
		}
		switch {
		case f.stopped: // ours was not
		case f.err == nil:
			return reused(f.reply), nil
		case AsFailure(f.err).Status != synod.Dropped: // its budget is spent, ours may not be
			return failed(synod.Reply{}, AsFailure(f.err))
		}
	}
}

// lead makes the call that identical calls wait for.
func (l *cached) lead(ctx context.Context, key string, r Request, f *flight) (synod.Reply, error) {
	defer func() {
		l.c.mu.Lock()
		delete(l.c.flights, key)
		l.c.mu.Unlock()
		close(f.done)
	}()
	f.reply, f.err = l.Model.Complete(ctx, r)
	if f.err == nil {
		l.store(key, f.reply)
	}
	f.stopped = f.err != nil && ctx.Err() != nil
	return f.reply, f.err
}

func (l *cached) store(key string, r synod.Reply) {
	if err := l.c.store(key, r); err != nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.err == nil {
			l.err = fmt.Errorf("llm: cache: %w", err)
		}
	}
}

// reused is a reply that cost nothing this time.
func reused(r synod.Reply) synod.Reply {
	r.Reused, r.Calls, r.Usage, r.Charged, r.Fault = true, 0, synod.Usage{}, synod.Usage{}, ""
	r.Took = 0
	return r
}

// cacheKey is the SHA-256 of all that changes an answer, in hexadecimal.
func cacheKey(identity string, r Request) string {
	parts := struct {
		Version, Identity, Seat string
		Sample                  int
		System, User            string
		Completion              string `json:",omitempty"`
		Schema                  json.RawMessage
		Prompt                  *synod.Prompt
		Question                *synod.Question
	}{
		Version: cacheVersion, Identity: identity, Seat: r.Seat, Sample: r.Sample,
		Prompt: r.Prompt, Question: r.Prompt.Question,
	}
	if chat, err := r.Chat(); err == nil {
		parts.System, parts.User, parts.Completion, parts.Schema = chat.System, chat.User, chat.Completion, chat.Schema
	}
	b, err := json.Marshal(parts)
	if err != nil {
		panic("llm: a prompt that cannot be encoded: " + err.Error())
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

func (c *cache) path(key string) string { return filepath.Join(c.dir, key[:2], key+".json") }

// An entry is a checksum and a reply, a line each.
func (c *cache) load(key string) (synod.Reply, bool) {
	b, err := os.ReadFile(c.path(key))
	if err != nil {
		return synod.Reply{}, false
	}
	sum, line, ok := bytes.Cut(b, []byte("\n"))
	if !ok || string(sum) != checksum(key, line) {
		return synod.Reply{}, false
	}
	var r synod.Reply
	if json.Unmarshal(line, &r) != nil || r.Status != synod.OK {
		return synod.Reply{}, false
	}
	return r, true
}

func checksum(key string, line []byte) string {
	sum := sha256.Sum256(append([]byte(key+"\n"), line...))
	return hex.EncodeToString(sum[:])
}

// store writes a temporary file and renames it, so that no half entry is seen.
func (c *cache) store(key string, r synod.Reply) error {
	if r.Status != synod.OK {
		return nil
	}
	line, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return replaceFile(c.path(key), append([]byte(checksum(key, line)+"\n"), line...))
}

func replaceFile(path string, b []byte) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, ".new-*") // 0600
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}
