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

	"golang.org/x/sync/singleflight"

	"synod.dev/synod"
)

// cacheVersion is part of every key: a change of format or meaning is a miss.
const cacheVersion = "synod-cache/1"

// Cache keeps good replies on disk, one file each. Its key holds everything that
// changes an answer: the model's identity, the words of the prompt and the typed
// prompt behind them, its seed, the seat and which repeat of the question it is.
// So two seats of one model, or two repeats, never share a reply: their votes
// would not be two.
//
// Identical calls at the same time leave once. A file that cannot be read, or
// whose content does not fit its checksum, is a miss; a file that cannot be
// written costs no reply and shows in Err.
type Cache struct {
	dir    string
	flight singleflight.Group

	mu  sync.Mutex
	err error
}

// NewCache makes the folder if need be. Only its owner can read what is in it.
func NewCache(dir string) (*Cache, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("llm: cache: %w", err)
	}
	return &Cache{dir: dir}, nil
}

// Err is the first thing that could not be written.
func (c *Cache) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// Layer answers from the cache; such replies are marked Reused and cost nothing.
func (c *Cache) Layer() Layer {
	return func(m Model) Model { return &cached{layered{m}, c} }
}

type cached struct {
	layered
	c *Cache
}

// Close says what could not be kept.
func (l *cached) Close() error { return errors.Join(l.c.Err(), l.layered.Close()) }

func (l *cached) Complete(ctx context.Context, r Request) (synod.Reply, error) {
	r = r.rendered()
	key := cacheKey(l.Info().Identity, r)
	for {
		if reply, ok := l.c.load(key); ok {
			return reused(reply), nil
		}
		mine := false
		result := l.c.flight.DoChan(key, func() (any, error) {
			mine = true
			reply, err := l.Model.Complete(ctx, r)
			if err == nil {
				l.c.store(key, reply)
			}
			return reply, err
		})
		select {
		case <-ctx.Done():
			return failed(synod.Reply{}, ended(ctx, "waiting for the reply"))
		case got := <-result:
			reply := got.Val.(synod.Reply)
			switch {
			case mine:
				return reply, got.Err
			case got.Err == nil:
				return reused(reply), nil
			case AsFailure(got.Err).Status != synod.Dropped:
				return failed(synod.Reply{}, AsFailure(got.Err))
			}
			// The call that we waited for was stopped; ours was not.
		}
	}
}

// reused is a reply that cost nothing this time.
func reused(r synod.Reply) synod.Reply {
	r.Reused, r.Calls, r.Usage = true, 0, synod.Usage{}
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
	}{Version: cacheVersion, Identity: identity, Seat: r.Seat, Sample: r.Sample, Prompt: r.Prompt, Question: r.Prompt.Question}
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

func (c *Cache) path(key string) string { return filepath.Join(c.dir, key[:2], key+".json") }

// An entry is a checksum and a reply, a line each.
func (c *Cache) load(key string) (synod.Reply, bool) {
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

// store writes beside the place and renames, so that no half entry is ever seen.
func (c *Cache) store(key string, r synod.Reply) {
	if r.Status != synod.OK {
		return
	}
	line, err := json.Marshal(r)
	if err == nil {
		err = replaceFile(c.path(key), append([]byte(checksum(key, line)+"\n"), line...))
	}
	if err != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.err == nil {
			c.err = fmt.Errorf("llm: cache: %w", err)
		}
	}
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
