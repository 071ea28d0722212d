package smartbft_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"synod.dev/synod/internal/ledgertest"
)

func TestInventedEntries(t *testing.T) {
	for _, n := range []int{4, 7} {
		for _, least := range []int{0, (n-1)/3 + 1} {
			t.Run(fmt.Sprintf("n=%d least=%d", n, least), func(t *testing.T) {
				t.Parallel()
				g, secrets := ledgertest.Holding(t, n, least)
				clusterOf(t, g, secrets).Invented()
			})
		}
	}
}

// A Byzantine leader puts into its blocks an entry of its own about an invented run, and one with the name of an honest
// replica under its own signature. The honest replicas take other leaders, and have neither.
func TestInventingLeader(t *testing.T) {
	g, secrets := ledgertest.Holding(t, 4, 2)
	c := clusterOf(t, g, secrets)
	own, err := ledgertest.Signed(t, secrets, 0, "invented", "43").Encode()
	if err != nil {
		t.Fatal(err)
	}
	stolen := slices.Clone(secrets)
	stolen[1] = secrets[0] // it signs for replica 1 with its own key
	forged, err := ledgertest.Signed(t, stolen, 1, "invented", "43").Encode()
	if err != nil {
		t.Fatal(err)
	}
	b := &byzantine{invents: [][]byte{own, forged}, random: rand.New(rand.NewPCG(1, 2))}
	c.corrupt(b)
	for _, i := range []int{1, 2, 3} {
		go c.replica(i).Append(t.Context(), ledgertest.Signed(t, secrets, i, "played", "42"))
	}
	for end := time.Now().Add(2 * time.Minute); len(c.Logged(1)) < 3 && time.Now().Before(end); {
		c.Revive()
		time.Sleep(100 * time.Millisecond)
	}
	for _, i := range []int{1, 2, 3} {
		invented := func(s string) bool { return s[:4] != "play" }
		if got := c.Logged(i); len(got) != 3 || slices.ContainsFunc(got, invented) {
			t.Errorf("replica %d has %q", i, got)
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.did["invented"] == 0 {
		t.Error("the leader invented nothing")
	}
}

// What waits survives that a replica is stopped and started: the second holder's entry is enough afterwards.
func TestWaitingSurvives(t *testing.T) {
	g, secrets := ledgertest.Holding(t, 4, 2)
	c := clusterOf(t, g, secrets)
	c.Propose("run", []string{"42"})
	for i := range 4 {
		c.Kill(i)
	}
	for i := range 4 {
		c.Start(i)
	}
	c.Propose("run", []string{"", "42"})
	c.Agree(2)
	if got := c.Logged(3); !slices.Equal(got, []string{"run 42 e1", "run 42 e2"}) {
		t.Errorf("%q", got)
	}
}
