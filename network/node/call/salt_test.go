package call

import (
	"encoding/hex"
	"strings"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/internal/canonical"
	"synod.dev/synod/internal/ledgertest"
	"synod.dev/synod/network/node/terms"
	"synod.dev/synod/network/roster"
	"synod.dev/synod/record/ledger"
)

// A node takes part only if the salt of a question is the root of a head that a quorum of the ledger's replicas has
// signed; a caller that has reached no replica gives no salt.
func TestSalt(t *testing.T) {
	g, secrets := ledgertest.Group(t, 4)
	settings := roster.LedgerSettings{Replicas: []int{0, 1, 2, 3}}
	r := &roster.Roster{Name: g.Name, Ledger: roster.Ledger{Kind: "smartbft", Settings: settings.Encode()}}
	for _, k := range g.Keys {
		r.Members = append(r.Members, roster.Member{ID: hex.EncodeToString(k[:2]), Key: k})
	}
	if own, err := terms.Group(r); err != nil || string(own.Log()) != string(g.Log()) {
		t.Fatalf("the group of the roster is %v, %v", own, err)
	}
	head := func(root byte, signers ...int) []byte {
		h := &ledger.SignedHead{Head: ledger.Head{Log: g.Log(), Size: 7, Root: make([]byte, 32)}, Operator: []byte{}}
		h.Head.Root[0] = root
		for _, i := range signers {
			if err := h.Add(g.Sign(secrets[i], 7, h.Head.Root)); err != nil {
				t.Fatal(err)
			}
		}
		return canonical.Encode(h)
	}
	root := "05" + strings.Repeat("00", 31)
	plain := *r
	plain.Ledger = roster.Ledger{Kind: roster.NoLedger}
	for name, c := range map[string]struct {
		r    *roster.Roster
		head []byte
		salt string
		want string
	}{
		"no salt":             {r, nil, "", ""},
		"a salt":              {r, head(5, 0, 1, 3), root, ""},
		"too few signatures":  {r, head(5, 0, 1), root, "2 of 4 replicas"},
		"another root":        {r, head(6, 0, 1, 2), root, "is not the root"},
		"a salt without head": {r, nil, root, "the head of the ledger"},
		"a head without salt": {r, head(5, 0, 1, 2), "", "is not the root"},
		"no ledger":           {&plain, head(5, 0, 1, 2), root, "has no ledger"},
		"junk":                {r, []byte{1, 2, 3}, root, "the head of the ledger"},
	} {
		s := Start{Head: c.head}
		err := s.CheckSalt(c.r, &synod.Question{Salt: c.salt})
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}
