package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// queue is the queue of units in JetStream. It holds what workers may take now. It is a copy: what has to be done is
// in the store of results, so the queue may be deleted at any time.
type queue struct {
	js       jetstream.JetStream
	names    names
	sweep    string
	lease    time.Duration
	stream   jetstream.Stream
	consumer jetstream.Consumer
}

// names are the names of a sweep's things in NATS.
type names struct{ queue string }

func (n names) stream() string            { return "SYNOD_" + n.queue }
func (n names) work() string              { return "synod." + n.queue + ".work" }
func (n names) asking(what string) string { return "synod." + n.queue + ".hub." + what }
func (n names) bucket() string            { return "SYNOD_" + n.queue + "_HUB" }

const consumerName = "workers"

// duplicates is how long the queue knows the units that were added, so that a unit added twice is in it once.
const duplicates = 2 * time.Minute

// openQueue opens or makes the queue of a sweep. The queue of another sweep is replaced.
func openQueue(ctx context.Context, nc *nats.Conn, n names, sweep string, lease time.Duration) (*queue, error) {
	js, err := jetstream.New(nc)
	if err != nil {
		return nil, err
	}
	q := &queue{js: js, names: n, sweep: sweep, lease: lease}
	old, err := js.Stream(ctx, n.stream())
	if err == nil && old.CachedInfo().Config.Metadata["sweep"] != sweep {
		err = js.DeleteStream(ctx, n.stream())
	}
	if err != nil && !errors.Is(err, jetstream.ErrStreamNotFound) {
		return nil, fmt.Errorf("the queue %s: %w", n.stream(), err)
	}
	_, err = q.make(ctx)
	return q, err
}

// copies is how many servers of a cluster keep the queue, so that one of them may be lost.
const copies = 3

// Codes with which JetStream refuses copies: there are not enough servers, and there is no cluster.
const (
	tooFewServers jetstream.ErrorCode = 10005
	noCluster     jetstream.ErrorCode = 10074
)

// replicated makes something of JetStream with copies on several servers; with one where there are no more servers.
func replicated(nc *nats.Conn, make func(replicas int) error) error {
	if nc.ConnectedClusterName() == "" {
		return make(1)
	}
	err := make(copies)
	var refused *jetstream.APIError
	if errors.As(err, &refused) && (refused.ErrorCode == tooFewServers || refused.ErrorCode == noCluster) {
		return make(1)
	}
	return err
}

// make makes what is missing of the queue. It reports whether there was none: nothing is in it then.
func (q *queue) make(ctx context.Context) (fresh bool, err error) {
	_, err = q.js.Stream(ctx, q.names.stream())
	fresh = errors.Is(err, jetstream.ErrStreamNotFound)
	err = replicated(q.js.Conn(), func(replicas int) (err error) {
		q.stream, err = q.js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{
			Name: q.names.stream(), Subjects: []string{q.names.work()}, Retention: jetstream.WorkQueuePolicy,
			Storage: jetstream.FileStorage, Duplicates: duplicates, MaxMsgSize: maxPart, Replicas: replicas,
			Metadata: map[string]string{"sweep": q.sweep},
		})
		return err
	})
	if err != nil {
		return false, fmt.Errorf("the queue %s: %w", q.names.stream(), err)
	}
	q.consumer, err = q.stream.CreateOrUpdateConsumer(ctx, jetstream.ConsumerConfig{
		Durable: consumerName, AckPolicy: jetstream.AckExplicitPolicy, AckWait: q.lease, MaxAckPending: -1,
		MaxDeliver: -1,
	})
	if err != nil {
		return fresh, fmt.Errorf("the queue %s: %w", q.names.stream(), err)
	}
	return fresh, nil
}

// add adds a unit. The queue keeps one of several units with the same id and the same round.
func (q *queue) add(ctx context.Context, u unit, round int) error {
	b, err := json.Marshal(u)
	if err != nil {
		return err
	}
	_, err = q.js.Publish(ctx, q.names.work(), b, jetstream.WithMsgID(fmt.Sprintf("%s-%d", u.id(), round)))
	return err
}

// waiting returns how many units no worker has taken.
func (q *queue) waiting(ctx context.Context) (int, error) {
	info, err := q.consumer.Info(ctx)
	if err != nil {
		return 0, err
	}
	return int(info.NumPending), nil
}
