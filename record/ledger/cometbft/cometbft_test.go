package cometbft_test

import (
	"context"
	"flag"
	"fmt"
	"testing"
	"time"

	"synod.dev/synod/internal/ledgertest"
	"synod.dev/synod/record/ledger"
)

var duration = flag.Duration("duration", 4*time.Second, "how long each history appends")

// All replicas have the same log, and each proves every entry under a head that a quorum has signed. An entry that
// nobody may append is refused, and a child that was killed is known to have failed.
func TestAgreement(t *testing.T) {
	c := newCluster(t, 4, func(c *cluster) {
		for i := range c.natures {
			c.natures[i].Authors = map[string][]byte{"e1": c.group.Keys[0]}
		}
	})
	acknowledged := map[string]uint64{}
	for i := range 12 {
		e := ledgertest.Entry(fmt.Sprint("run-", i))
		if err := e.Sign("e1", c.secrets[0]); err != nil {
			t.Fatal(err)
		}
		at, err := c.replica(i%4).Append(t.Context(), e)
		if err != nil || at != uint64(i) {
			t.Fatalf("entry %d has the index %d, %v", i, at, err)
		}
		acknowledged[e.Instance] = at
	}
	for _, by := range []int{-1, 3} {
		e := ledgertest.Entry("stranger")
		if by >= 0 {
			if err := e.Sign("e1", c.secrets[by]); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := c.replica(0).Append(t.Context(), e); err == nil {
			t.Error("an entry of somebody who may not append is taken")
		}
	}
	earlier := c.replica(0).Head()
	c.agree(12, 0, 1, 2, 3)
	for i := range 4 {
		ledgertest.Has(t, c.replica(i), acknowledged, c.verify)
		ledgertest.Extends(t, c.replica(i), earlier)
	}
	if _, err := c.replica(0).Prove(99); err == nil {
		t.Error("an entry that does not exist is proved")
	}
	r := c.replica(3)
	r.Process().Process.Kill()
	for end := time.Now().Add(10 * time.Second); r.Failed() == nil; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("a child that was killed has not failed")
		}
	}
}

// TestHistories has clients append while replicas are killed with SIGKILL, restarted and cut off, at most f at a time,
// and checks that the history is linearizable, that nothing acknowledged is lost, that all replicas agree afterwards,
// that every proof verifies, and that a witness finds a fork.
func TestHistories(t *testing.T) {
	c := newCluster(t, 4, nil)
	acknowledged := ledgertest.History(t, *duration,
		func(_ int, e *ledger.Entry) (uint64, error) { return c.add(t.Context(), e) }, c.faults(5, []int{0, 1, 2, 3}))
	c.finish(t, acknowledged, 0, 1, 2, 3)
	runs := []string{}
	for i := range len(acknowledged) + 2 {
		runs = append(runs, fmt.Sprint("forked-", i))
	}
	w := &ledger.Witness{Secret: ledgertest.Secret(t, 99), Group: &c.group}
	ledgertest.Fork(t, w, c.replica(0), ledgertest.Forked(t, &c.group, c.secrets, runs...))
}

func (c *cluster) append(ctx context.Context, e *ledger.Entry) error {
	_, err := c.add(ctx, e)
	return err
}

// BenchmarkLatency appends one decision after another; its time is the latency of one.
func BenchmarkLatency(b *testing.B) {
	for _, n := range []int{4, 7} {
		b.Run(fmt.Sprint("n=", n), func(b *testing.B) { ledgertest.Bench(b, 1, newCluster(b, n, nil).append) })
	}
}

// BenchmarkThroughput has 32 clients append at once.
func BenchmarkThroughput(b *testing.B) {
	for _, n := range []int{4, 7} {
		b.Run(fmt.Sprint("n=", n), func(b *testing.B) { ledgertest.Bench(b, 32, newCluster(b, n, nil).append) })
	}
}
