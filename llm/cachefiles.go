package llm

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// CacheUse is what the reply cache of a folder holds.
type CacheUse struct {
	Replies int       `json:"replies"`
	Bytes   int64     `json:"bytes"`
	Oldest  time.Time `json:"oldest,omitzero"`
	Newest  time.Time `json:"newest,omitzero"`
}

// ReadCache returns what a reply cache holds. A folder that does not exist holds nothing.
func ReadCache(dir string) (u CacheUse, err error) {
	err = eachReply(dir, func(_ string, info fs.FileInfo) error {
		at := info.ModTime()
		u.Replies, u.Bytes = u.Replies+1, u.Bytes+info.Size()
		if u.Oldest.IsZero() || at.Before(u.Oldest) {
			u.Oldest = at
		}
		if at.After(u.Newest) {
			u.Newest = at
		}
		return nil
	})
	return u, err
}

// ClearCache removes the replies of a cache that are older than an age, and returns what it
// removed. Age 0 removes all.
func ClearCache(dir string, age time.Duration) (gone CacheUse, err error) {
	before := time.Now().Add(-age)
	err = eachReply(dir, func(path string, info fs.FileInfo) error {
		if age > 0 && info.ModTime().After(before) {
			return nil
		}
		if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		gone.Replies, gone.Bytes = gone.Replies+1, gone.Bytes+info.Size()
		return nil
	})
	return gone, err
}

// eachReply calls do with every file of a cache that holds a reply.
func eachReply(dir string, do func(path string, info fs.FileInfo) error) error {
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, os.ErrNotExist) {
			return nil
		}
		if err != nil || d.IsDir() || filepath.Ext(path) != ".json" {
			return err
		}
		info, err := d.Info()
		if errors.Is(err, os.ErrNotExist) {
			return nil // another process has removed it
		}
		if err != nil {
			return err
		}
		return do(path, info)
	})
	if err != nil {
		return fmt.Errorf("llm: cache: %w", err)
	}
	return nil
}

// CacheSeed returns a seed for a run whose replies are to be found in the cache by a later
// run of the same council and question, which have the same text. It depends on a random key
// in the folder of the cache too, so that members cannot predict the borders around untrusted
// text in prompts, which follow from the seed.
func CacheSeed(dir, text string) (uint64, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return 0, fmt.Errorf("llm: cache: %w", err)
	}
	path := filepath.Join(dir, "seed.key")
	key, err := os.ReadFile(path)
	if err != nil || len(key) != sha256.Size {
		key = make([]byte, sha256.Size)
		rand.Read(key)
		if err := replaceFile(path, key); err != nil {
			return 0, fmt.Errorf("llm: cache: %w", err)
		}
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(text))
	return binary.BigEndian.Uint64(mac.Sum(nil)) >> 16, nil
}
