package cometbft_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"synod.dev/synod/internal/ledgertest"
	"synod.dev/synod/record/ledger"
)

// One of four replicas appends entries about runs that no other has played, and another answer to one that all have
// played. None of it is in a log, also after a replica that knew what waits was killed and opened again. Without the
// rule all of it is.
func TestInventedEntries(t *testing.T) {
	for _, least := range []int{0, 2} {
		t.Run(fmt.Sprint("least ", least), func(t *testing.T) {
			c := newCluster(t, 4, func(c *cluster) {
				c.group.Least = least
				for i := range c.natures {
					c.group.Names = append(c.group.Names, fmt.Sprint("e", i+1))
				}
				for i := range c.natures {
					c.natures[i].Least, c.natures[i].Names = least, c.group.Names
				}
			})
			add := func(replica int, run, answer string) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				e := ledgertest.Signed(t, c.secrets, replica, run, answer)
				if _, err := c.replica(replica).Append(ctx, e); err != nil && !errors.Is(err, ledger.ErrWaits) {
					t.Errorf("%s of replica %d: %v", run, replica, err)
				}
			}
			add(0, "never played", "43")
			add(0, "played", "43")
			add(1, "played", "42")
			c.kill(2)
			c.open(2)
			add(2, "played", "42")
			add(3, "played", "42")
			want := []string{"played 42 e2", "played 42 e3", "played 42 e4"}
			if least == 0 {
				want = append(want, "never played 43 e1", "played 43 e1")
				slices.Sort(want)
			}
			var got []string
			for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
				got = nil
				for e, err := range ledger.Export(c.replica(2)) {
					if err == nil {
						got = append(got, fmt.Sprint(e.Instance, " ", string(e.Parts[1].Body), " ", e.Claimed()))
					}
				}
				if len(got) >= len(want) {
					break
				}
			}
			if slices.Sort(got); !slices.Equal(got, want) {
				t.Errorf("replica 2 has %q", got)
			}
		})
	}
}
