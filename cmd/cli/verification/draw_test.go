package verification

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"synod.dev/synod/core/sign"
	"synod.dev/synod/internal/forge"
	"synod.dev/synod/internal/ledgertest"
	"synod.dev/synod/network/committee"
)

// A certificate is accepted with the draw that drew exactly its council, and refused with the draws of the same pool in
// which another member was drawn in place of one of the council.
func TestVerifyDraw(t *testing.T) {
	c, err := forge.Make(rand.New(rand.NewPCG(7, 1)), forge.Shape{Protocol: "majority", Rule: "majority", F: 1,
		First: make([]int, 7), Final: make([]int, 7)})
	if err != nil {
		t.Fatal(err)
	}
	s, err := c.Statement(forge.Answer(0))
	if err != nil {
		t.Fatal(err)
	}
	whole, err := c.Whole(s)
	if err != nil {
		t.Fatal(err)
	}
	file, err := whole.File()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := OfCertificate(file, nil, nil, nil); err != nil {
		t.Fatal("the certificate by itself: ", err)
	}
	secrets := append(c.Secrets[:7:7], ledgertest.Secret(t, 99))
	p := &committee.Pool{Format: committee.Format, Name: "test", Size: 7, Period: 3600, Attempts: 1,
		Beacons: []int{2, 7}}
	for i, s := range secrets {
		p.Members = append(p.Members, committee.Candidate{ID: fmt.Sprint("m", i), Key: s.PublicKey()})
	}
	dir := t.TempDir()
	write := func(name string, v any) string {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	pool := write("pool.json", p)
	accepted, refused := 0, 0
	for epoch := range uint64(60) {
		var proofs [][]byte
		for _, b := range p.Beacons {
			proof, err := p.Prove(secrets[b].(sign.Secret).LinkKey(), epoch, 0)
			if err != nil {
				t.Fatal(err)
			}
			proofs = append(proofs, proof)
		}
		d, err := p.Draw(epoch, 0, proofs)
		if err != nil {
			t.Fatal(err)
		}
		var v Result
		err = v.Drawn(file, pool, write("draw.json", d))
		switch {
		case err == nil && strings.Contains(said(v), "committee of 7 that was drawn from the 8 members"):
			accepted++
		case err != nil && strings.Contains(err.Error(), "was not drawn"):
			refused++
		default:
			t.Errorf("epoch %d: %v, %s", epoch, err, said(v))
		}
	}
	if accepted == 0 || refused <= accepted {
		t.Errorf("%d draws are accepted, %d refused; the council is one of eight committees", accepted, refused)
	}
	if err := os.WriteFile(pool, []byte(`{"format": "synod/pool/1", "more": 1}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := new(Result).Drawn(file, pool, filepath.Join(dir, "draw.json")); err == nil {
		t.Error("a pool with an unknown key is read")
	}
}

// said is what a verification says is proved and not proved.
func said(v Result) string { return strings.Join(append(v.Claims, v.NotProved...), "\n") }
