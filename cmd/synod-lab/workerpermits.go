package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"sync"
	"time"

	"synod.dev/synod/llm"
)

// remotePermits are the permits of a worker's pool: those of the hub. While the hub does not answer, no call begins.
type remotePermits struct{ w *worker }

// permitTime is how long a worker waits for a permit before it asks for the same one again: the hub may have been
// started again meanwhile.
const permitTime = 5 * time.Second

// Acquire waits until the hub grants a permit.
func (p *remotePermits) Acquire(ctx context.Context, wanted llm.Wanted) (llm.Permit, error) {
	w := p.w
	held := &remotePermit{w: w, id: newID()}
	wanted.Account = hideAccount(w.now().Sweep, wanted.Account)
	w.mu.Lock()
	w.open[held.id] = true
	w.mu.Unlock()
	for n := 1; ; n++ {
		var r permitReply
		within, cancel := context.WithTimeout(ctx, permitTime)
		err := w.ask(within, askPermit, &permitRequest{w.hello(), held.id, wanted}, &r)
		cancel()
		var said *hubError
		switch {
		case err == nil && r.Granted:
			return held, nil
		case err == nil || w.now().State == overspent: // the worker ends when its running calls have ended
			w.forgetPermit(held.id)
			<-ctx.Done()
			return nil, ctx.Err()
		case errors.As(err, &said) && said.fatal:
			held.Release(llm.Spent{}, 0)
			return nil, err
		case ctx.Err() != nil:
			held.Release(llm.Spent{}, 0)
			return nil, ctx.Err()
		case errors.Is(err, context.DeadlineExceeded):
			n = 0 // it waits in the hub
		}
		if n > 0 && !pause(ctx, backOff(n)) {
			held.Release(llm.Spent{}, 0)
			return nil, ctx.Err()
		}
	}
}

// hideAccount returns a name that tells accounts apart in one sweep, and from which nobody learns what the key is.
func hideAccount(sweep, account string) string {
	sum := sha256.Sum256([]byte("synod account\n" + sweep + "\n" + account))
	return hex.EncodeToString(sum[:8])
}

// remotePermit is a permit of the hub.
type remotePermit struct {
	w    *worker
	id   string
	once sync.Once
}

// releaseTime bounds how long a worker tries to tell the hub that a request is over. After it the hub counts what the
// request may have cost at most.
const releaseTime = 10 * time.Minute

// Release tells the hub what the request has cost. It does not wait.
func (p *remotePermit) Release(spent llm.Spent, serverPause time.Duration) {
	p.once.Do(func() {
		p.w.sends.Go(func() {
			ctx, cancel := context.WithTimeout(context.Background(), releaseTime)
			defer cancel()
			defer p.w.forgetPermit(p.id)
			r := releaseRequest{ID: p.id, Spent: spent, Pause: serverPause}
			for n := 1; ctx.Err() == nil; n++ {
				r.hello = p.w.hello()
				if err := p.w.ask(ctx, askRelease, &r, nil); err == nil || p.w.nc.IsClosed() {
					return
				}
				if !pause(ctx, backOff(n)) {
					return
				}
			}
		})
	})
}

func (w *worker) forgetPermit(id string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.open, id)
}
