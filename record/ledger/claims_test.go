package ledger_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"synod.dev/synod/internal/ledgertest"
	"synod.dev/synod/record/ledger"
)

// Whatever fewer than Least replicas sign, in whatever order and blocks, no record enters that fewer than Least have
// signed; every record that so many have signed enters; no replica has two entries about one record; and claims
// restored from the log and from what waits go on alike. The control, where one is enough, has records of one.
func TestClaims(t *testing.T) {
	for _, least := range []int{0, 3} {
		g, secrets := ledgertest.Holding(t, 7, least)
		alone := 0
		for seed := range uint64(20) {
			alone += claimsOf(t, &g, func(replica, run, answer int) []byte {
				e := ledgertest.Signed(t, secrets, replica, fmt.Sprint("run ", run), fmt.Sprint(answer))
				b, err := e.Encode()
				if err != nil {
					t.Fatal(err)
				}
				return b
			}, rand.New(rand.NewPCG(seed, 1)))
		}
		if (alone > 0) != (least == 0) {
			t.Errorf("least %d: %d records entered with fewer than 3 holders", least, alone)
		}
	}
}

func claimsOf(t *testing.T, g *ledger.Replicas, entry func(replica, run, answer int) []byte,
	random *rand.Rand) (alone int) {
	c := ledger.NewClaims(g)
	var entries []*ledger.Entry
	signed := map[[32]byte]map[string]bool{}
	for range 12 {
		var block [][]byte
		for range random.IntN(6) {
			b := entry(random.IntN(7), random.IntN(4), random.IntN(2))
			e, _ := ledger.DecodeEntry(b)
			if signed[e.Record()] == nil {
				signed[e.Record()] = map[string]bool{}
			}
			signed[e.Record()][e.Claimed()] = true
			block = append(block, b)
		}
		other, err := ledger.Restore(g, entries, c.Waiting())
		if err != nil {
			t.Fatal(err)
		}
		tried, _ := c.Try(block)
		same, _ := other.Take(block)
		enter, err := c.Take(block)
		if err != nil || !equal(tried, enter) || !equal(same, enter) {
			t.Fatalf("try %d, restored %d, take %d entries; %v", len(tried), len(same), len(enter), err)
		}
		for _, b := range enter {
			e, _ := ledger.DecodeEntry(b)
			entries = append(entries, e)
		}
	}
	holders, err := g.Holders(entries)
	if err != nil {
		t.Fatal(err)
	}
	total := 0
	for record, by := range signed {
		if total += len(holders[record]); len(by) >= 3 && len(holders[record]) != len(by) {
			t.Errorf("a record that %d signed has %d entries", len(by), len(holders[record]))
		}
		if n := len(holders[record]); n > 0 && n < 3 {
			alone++
		}
	}
	if g.Least > 0 && total != len(entries) {
		t.Errorf("%d entries have %d different signers and records", len(entries), total)
	}
	return alone
}

func equal(a, b [][]byte) bool {
	return bytes.Equal(bytes.Join(a, []byte{0}), bytes.Join(b, []byte{0}))
}

// What one replica lets wait is bounded, and crowds nobody else out.
func TestClaimsBounded(t *testing.T) {
	g, secrets := ledgertest.Holding(t, 4, 2)
	c := ledger.NewClaims(&g)
	take := func(replica int, run string) int {
		b, err := ledgertest.Signed(t, secrets, replica, run, "42").Encode()
		if err != nil {
			t.Fatal(err)
		}
		enter, err := c.Take([][]byte{b})
		if err != nil {
			t.Fatal(err)
		}
		return len(enter)
	}
	take(1, "of another")
	for i := range 400 {
		take(0, fmt.Sprint("invented ", i))
	}
	if n := len(c.Waiting()); n != 257 {
		t.Errorf("%d entries wait", n)
	}
	if take(2, "of another") != 2 {
		t.Error("the entry of another replica was forgotten")
	}
}
