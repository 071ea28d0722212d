package cometbft_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/cometbft/cometbft/libs/log"

	"synod.dev/synod/internal/ledgertest"
	"synod.dev/synod/ledger"
	"synod.dev/synod/ledger/child"
	"synod.dev/synod/ledger/cometbft"
)

// TestMain is synod-cometbft in the child processes of TestChildren.
func TestMain(m *testing.M) {
	if os.Getenv("COMETBFT_TEST") == "child" {
		err := child.Serve(os.Stdin, os.Stdout, func(settings json.RawMessage) (ledger.Ledger, error) {
			return cometbft.OpenSettings(settings, log.NewNopLogger())
		})
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// Replicas in child processes append, one that was killed with SIGKILL is known to have failed, and started again
// it takes what it missed. An entry that nobody may append is refused.
func TestChildren(t *testing.T) {
	t.Setenv("COMETBFT_TEST", "child")
	c := newCluster(t, 0)
	c.group, c.secrets = ledgertest.Group(t, 4)
	addresses := []string{}
	for range 4 {
		p := newProxy(t, "")
		addresses = append(addresses, p.address())
		p.listener.Close() // a free port
	}
	start := func(i int) *child.Ledger {
		l, err := child.Start(t.Context(), os.Args[0], nil, cometbft.Settings{Name: c.group.Name, Keys: c.group.Keys,
			Secret: c.secrets[i].Reveal(), Dir: filepath.Join(c.dir, fmt.Sprint("child", i)), Listen: addresses[i],
			Addresses: addresses, TimeoutMS: 500, Authors: map[string][]byte{"e1": c.group.Keys[0]}}, os.Stderr)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		return l
	}
	var all []*child.Ledger
	for i := range 4 {
		all = append(all, start(i))
	}
	acknowledged := map[string]uint64{}
	for i := range 9 {
		if i == 3 {
			all[2].Process().Process.Kill()
		}
		if i == 6 {
			if all[2].Failed() == nil {
				t.Error("a child that was killed has not failed")
			}
			all[2] = start(2)
		}
		e := ledgertest.Entry(fmt.Sprint("run-", i))
		if err := e.Sign("e1", c.secrets[0]); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		at, err := all[i%2].Append(ctx, e)
		cancel()
		if err != nil {
			t.Fatal(err)
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
		if _, err := all[0].Append(t.Context(), e); err == nil {
			t.Error("an entry of somebody who may not append is taken")
		}
	}
	for i, l := range all {
		for end := time.Now().Add(30 * time.Second); l.Head().Head.Size < 9; time.Sleep(50 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("replica %d has %d entries", i, l.Head().Head.Size)
			}
		}
		ledgertest.Has(t, l, acknowledged, c.verify)
		if _, err := l.Prove(99); err == nil {
			t.Error("an entry that does not exist is proved")
		}
	}
}
