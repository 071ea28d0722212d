package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// hubLock keeps a second hub from serving the same queue. It is an entry of a bucket of NATS that expires unless the
// hub renews it; a hub that comes back to the same folder takes its own entry again.
type hubLock struct {
	bucket   jetstream.KeyValue
	sweep    string
	revision uint64
}

// lockTime is how long the lock of a hub that died holds another folder's hub off.
const lockTime = 15 * time.Second

const lockKey = "hub"

// errSecondHub is returned to a hub whose queue another hub serves.
var errSecondHub = errors.New("another hub serves this queue from another folder: stop one of them, or give this one " +
	"a queue of its own with --queue NAME, here and for its workers")

func takeLock(ctx context.Context, nc *nats.Conn, n names, sweep string) (*hubLock, error) {
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
	l := &hubLock{bucket: bucket, sweep: sweep}
	return l, l.take(ctx)
}

// takings is how often a hub reads the lock again that has changed since it was read. A server of a cluster may answer
// with an entry that is not the newest one.
const takings = 5

// take takes the lock if nobody has it or this folder has.
func (l *hubLock) take(ctx context.Context) (err error) {
	for range takings {
		var entry jetstream.KeyValueEntry
		entry, err = l.bucket.Get(ctx, lockKey)
		switch {
		case errors.Is(err, jetstream.ErrKeyNotFound):
			l.revision, err = l.bucket.Create(ctx, lockKey, []byte(l.sweep))
		case err != nil:
		case string(entry.Value()) != l.sweep:
			return errSecondHub
		default:
			l.revision, err = l.bucket.Update(ctx, lockKey, []byte(l.sweep), entry.Revision())
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

// renew renews the lock. Only errSecondHub means that it is lost.
func (l *hubLock) renew(ctx context.Context) error {
	revision, err := l.bucket.Update(ctx, lockKey, []byte(l.sweep), l.revision)
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
