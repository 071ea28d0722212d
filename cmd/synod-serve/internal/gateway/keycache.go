package gateway

import (
	"context"
	"sync"
	"time"

	"synod.dev/synod/cmd/synod-serve/internal/store"
)

// keyCache keeps keys for a moment, so that not every request reads them. Limits and revocations are checked
// by the store when a request begins.
type keyCache struct {
	mu   sync.Mutex
	keys map[string]cachedKey
}

type cachedKey struct {
	key   *store.Key
	until time.Time
}

const (
	keyAge   = 5 * time.Second
	mostKeys = 4096
)

func (c *keyCache) find(ctx context.Context, s *store.Store, secret string) (*store.Key, error) {
	now := time.Now()
	c.mu.Lock()
	k, ok := c.keys[secret]
	c.mu.Unlock()
	if ok && now.Before(k.until) {
		return k.key, nil
	}
	key, err := s.Find(ctx, secret)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.keys == nil || len(c.keys) >= mostKeys {
		c.keys = map[string]cachedKey{}
	}
	c.keys[secret] = cachedKey{key, now.Add(keyAge)}
	return key, nil
}
