package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// hubLock keeps a second hub from serving the same queue of a NATS server. It is an entry of a bucket that expires
// unless the hub renews it. The entry names the process of the hub and not its folder, because a folder may be a copy.
type hubLock struct {
	bucket   jetstream.KeyValue
	owner    string
	revision uint64
}

const (
	lockTime  = 15 * time.Second // how long the lock of a hub that died holds other hubs off
	lockEvery = lockTime / 5     // between renewals
)

const lockKey = "hub"

// errSecondHub is returned to a hub whose queue another hub serves.
var errSecondHub = errors.New("another hub serves this queue, from another folder or from a copy of this one: stop " +
	"one of them, or give this one a queue of its own with --queue NAME, here and for its workers")

// takeLock takes the lock. If a hub has it, takeLock waits until it is certain whether that hub lives: it renews the
// lock, or the lock expires.
func takeLock(ctx context.Context, nc *nats.Conn, n names, log io.Writer) (*hubLock, error) {
	js, err := jetstream.New(nc)
	if err != nil {
		return nil, err
	}
	var bucket jetstream.KeyValue
	err = replicated(nc, func(replicas int) error {
		bucket, err = js.CreateOrUpdateKeyValue(ctx, jetstream.KeyValueConfig{Bucket: n.bucket(), TTL: lockTime,
			Replicas: replicas})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("the lock of the hub: %w", err)
	}
	l := &hubLock{bucket: bucket, owner: newID()}
	if err := l.take(ctx); !errors.Is(err, errSecondHub) {
		return l, err
	}
	fmt.Fprintf(log, "a hub has served this queue a moment ago; waiting for at most %v to see whether it has ended\n",
		lockTime)
	return l, l.outlive(ctx)
}

// outlive takes the lock of a hub that does not renew it for as long as locks last, by the clock of this process.
func (l *hubLock) outlive(ctx context.Context) error {
	const step = lockEvery / 3
	pause(ctx, step) // a server of a cluster may answer with an entry that is not the newest one
	seen, err := l.bucket.Get(ctx, lockKey)
	for waited := step; err == nil && waited < lockTime && pause(ctx, step); waited += step {
		var entry jetstream.KeyValueEntry
		if entry, err = l.bucket.Get(ctx, lockKey); err == nil && entry.Revision() != seen.Revision() {
			return errSecondHub
		}
	}
	if err != nil { // it has expired or was given up
		return l.take(ctx)
	}
	if l.revision, err = l.bucket.Update(ctx, lockKey, []byte(l.owner), seen.Revision()); err != nil {
		return fmt.Errorf("the lock of the hub: %w", err)
	}
	return nil
}

// takings is how often a hub reads the lock again that has changed since it was read. A server of a cluster may answer
// with an entry that is not the newest one.
const takings = 5

// take takes the lock if nobody has it or this hub has.
func (l *hubLock) take(ctx context.Context) (err error) {
	for range takings {
		var entry jetstream.KeyValueEntry
		entry, err = l.bucket.Get(ctx, lockKey)
		switch {
		case errors.Is(err, jetstream.ErrKeyNotFound):
			l.revision, err = l.bucket.Create(ctx, lockKey, []byte(l.owner))
		case err != nil:
		case string(entry.Value()) != l.owner:
			return errSecondHub
		default:
			l.revision, err = l.bucket.Update(ctx, lockKey, []byte(l.owner), entry.Revision())
		}
		if !errors.Is(err, jetstream.ErrKeyExists) && !errors.Is(err, jetstream.ErrKeyRevisionMismatch) {
			break
		}
		pause(ctx, shortestPause)
	}
	if err != nil {
		return fmt.Errorf("the lock of the hub: %w", err)
	}
	return nil
}

// keep renews the lock until ctx ends. It returns errSecondHub when another hub has it.
func (l *hubLock) keep(ctx context.Context) error {
	for pause(ctx, lockEvery) {
		within, cancel := context.WithTimeout(ctx, lockEvery)
		err := l.renew(within)
		cancel()
		if errors.Is(err, errSecondHub) {
			return err
		}
	}
	return nil
}

// renew renews the lock. Only errSecondHub means that it is lost.
func (l *hubLock) renew(ctx context.Context) error {
	revision, err := l.bucket.Update(ctx, lockKey, []byte(l.owner), l.revision)
	if err != nil {
		return l.take(ctx) // it has expired, or the answer to the last renewal was lost
	}
	l.revision = revision
	return nil
}

// release lets another hub begin at once.
func (l *hubLock) release(ctx context.Context) error {
	return l.bucket.Delete(ctx, lockKey, jetstream.LastRevision(l.revision))
}
