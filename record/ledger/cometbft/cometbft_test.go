package cometbft_test

import (
	"flag"
	"fmt"
	"testing"
	"time"

	"synod.dev/synod/internal/ledgertest"
	"synod.dev/synod/record/ledger/child"
)

var duration = flag.Duration("duration", 4*time.Second, "how long each history appends")

// All replicas have the same log, and each proves every entry under a head that a quorum has signed. An entry that
// nobody may append is refused, and a child that was killed is known to have failed.
func TestAgreement(t *testing.T) {
	c := newCluster(t, 4, func(c *cluster) {
		for i := range c.natures {
			c.natures[i].Authors = map[string][]byte{"e1": c.Group.Keys[0]}
		}
	})
	acknowledged := map[string]uint64{}
	for i := range 12 {
		e := ledgertest.Entry(fmt.Sprint("run-", i))
		if err := e.Sign("e1", c.Secrets[0]); err != nil {
			t.Fatal(err)
		}
		at, err := c.Replica(i%4).Append(t.Context(), e)
		if err != nil || at != uint64(i) {
			t.Fatalf("entry %d has the index %d, %v", i, at, err)
		}
		acknowledged[e.Instance] = at
	}
	for _, by := range []int{-1, 3} {
		e := ledgertest.Entry("stranger")
		if by >= 0 {
			if err := e.Sign("e1", c.Secrets[by]); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := c.Replica(0).Append(t.Context(), e); err == nil {
			t.Error("an entry of somebody who may not append is taken")
		}
	}
	earlier := c.Replica(0).Head()
	c.Agree(12)
	c.Has(acknowledged)
	for i := range 4 {
		ledgertest.Extends(t, c.Replica(i), earlier)
	}
	if _, err := c.Replica(0).Prove(99); err == nil {
		t.Error("an entry that does not exist is proved")
	}
	r := c.Replica(3).(*child.Ledger)
	r.Process().Process.Kill()
	for end := time.Now().Add(10 * time.Second); r.Failed() == nil; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("a child that was killed has not failed")
		}
	}
}

// TestHistories is the test of histories with replicas that are killed with SIGKILL.
func TestHistories(t *testing.T) { newCluster(t, 4, nil).Histories(*duration, 300*time.Millisecond) }

func benchCluster(b *testing.B, n int) *ledgertest.Cluster { return newCluster(b, n, nil).Cluster }

// BenchmarkLatency appends one decision after another; its time is the latency of one.
func BenchmarkLatency(b *testing.B) { ledgertest.BenchClusters(b, 1, benchCluster) }

// BenchmarkThroughput has 32 clients append at once.
func BenchmarkThroughput(b *testing.B) { ledgertest.BenchClusters(b, 32, benchCluster) }
