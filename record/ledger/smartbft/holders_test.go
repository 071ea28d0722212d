package smartbft_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"synod.dev/synod/internal/ledgertest"
	"synod.dev/synod/record/ledger"
)

// propose has replicas append what each says about a run; one says nothing where answers has "".
func (c *cluster) propose(run string, answers []string) {
	for i, answer := range answers {
		if answer == "" || c.replica(i) == nil {
			continue
		}
		e := ledgertest.Signed(c.t, c.secrets, i, run, answer)
		if _, err := c.replica(i).Append(c.t.Context(), e); err != nil && !errors.Is(err, ledger.ErrWaits) {
			c.t.Errorf("%s of replica %d: %v", run, i, err)
		}
	}
}

// logged returns the runs, answers and authors in the log of a replica, in order.
func (c *cluster) logged(i int) (all []string) {
	for e, err := range ledger.Export(c.replica(i)) {
		if err != nil {
			c.t.Fatal(err)
		}
		all = append(all, fmt.Sprint(e.Instance, " ", string(e.Parts[1].Body), " ", e.Claimed()))
	}
	return all
}

// F Byzantine replicas, the leader among them, append entries about runs that no honest replica has played, and another
// answer to a run that all have played. Nothing of it is in a log. With the rule off, as in logs of before, all of it
// is.
func TestInventedEntries(t *testing.T) {
	for _, n := range []int{4, 7} {
		f := (n - 1) / 3
		for _, least := range []int{0, f + 1} {
			t.Run(fmt.Sprintf("n=%d least=%d", n, least), func(t *testing.T) {
				t.Parallel()
				g, secrets := ledgertest.Holding(t, n, least)
				c := clusterOf(t, g, secrets)
				invented, honest := make([]string, n), make([]string, n)
				for i := range n {
					if honest[i] = "42"; i < f {
						invented[i], honest[i] = "43", "43"
					}
				}
				c.propose("never played", invented)
				c.propose("played", honest)
				c.propose("also never played", invented)
				want := n - f
				if least == 0 {
					want = n + 2*f
				}
				c.agree(uint64(want))
				for i := range n {
					wrong := slices.ContainsFunc(c.logged(i), func(s string) bool {
						return s != fmt.Sprint("played 42 ", s[len("played 42 "):])
					})
					if got := c.logged(i); len(got) != want || wrong != (least == 0) {
						t.Errorf("replica %d has %q", i, got)
					}
				}
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
	c.mu.Lock()
	c.byzantine[0] = b
	c.mu.Unlock()
	for _, i := range []int{1, 2, 3} {
		go c.replica(i).Append(t.Context(), ledgertest.Signed(t, secrets, i, "played", "42"))
	}
	for end := time.Now().Add(2 * time.Minute); len(c.logged(1)) < 3 && time.Now().Before(end); {
		c.revive()
		time.Sleep(100 * time.Millisecond)
	}
	for _, i := range []int{1, 2, 3} {
		invented := func(s string) bool { return s[:4] != "play" }
		if got := c.logged(i); len(got) != 3 || slices.ContainsFunc(got, invented) {
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
	c.propose("run", []string{"42"})
	for i := range 4 {
		c.close(i)
	}
	for i := range 4 {
		c.open(i)
	}
	c.propose("run", []string{"", "42"})
	c.agree(2)
	if got := c.logged(3); !slices.Equal(got, []string{"run 42 e1", "run 42 e2"}) {
		t.Errorf("%q", got)
	}
}
