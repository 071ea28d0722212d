package certificate_test

import (
	"bytes"
	"flag"
	"math/rand/v2"
	"testing"

	"synod.dev/synod/certificate"
	"synod.dev/synod/internal/forge"
)

var structuredMutants = flag.Int("structured", 3_000, "structured mutants of version 3 that all verifiers judge")

// Three verifiers, which share no code, judge certificates of version 3 alike: genuine ones, those that a hostile
// caller put together, and mutants of their structure under which all keys sign again, so that only rules about the
// content differ.
func TestThreeVerifiersAgree(t *testing.T) {
	all := verifiersOfThree(t)
	valid, refused, genuine := 0, 0, 0
	agree := func(seed uint64, what string, file []byte) {
		t.Helper()
		want := all[0].judge(file)
		if want == nil {
			valid++
		} else {
			refused++
		}
		for _, v := range all[1:] {
			if got := v.judge(file); (got == nil) != (want == nil) {
				t.Errorf("seed %d, %s: %s says %v, and %s says %v:\n%q", seed, what, all[0].name, want, v.name,
					got, file)
			}
		}
	}
	for seed := uint64(0); valid+refused < *structuredMutants && !t.Failed(); seed++ {
		r := rand.New(rand.NewPCG(seed, 0x3ca))
		c, err := forge.New(r)
		if err != nil {
			t.Fatal(err)
		}
		s, err := c.Statement(forge.Answer(0))
		if err != nil {
			t.Fatal(err)
		}
		made, err := c.Whole(s)
		if err != nil {
			t.Fatal(err)
		}
		file, err := made.File()
		if err != nil {
			t.Fatal(err)
		}
		before := valid
		agree(seed, "genuine", file)
		genuine += valid - before
		if seed%4 == 0 {
			agree(seed, "of one owner", owned(t, seed))
			for _, file := range hostileFiles(t, r) {
				agree(seed, "of a hostile caller", file)
			}
		}
		for range 20 {
			if file := mutant(t, r, c, s); file != nil {
				agree(seed, "mutant", file)
			}
		}
	}
	t.Logf("%d verifiers agree on %d files: %d are valid (%d genuine), %d refused", len(all), valid+refused, valid,
		genuine, refused)
	if valid < *structuredMutants/100 || refused < *structuredMutants/10 {
		t.Errorf("%d files are valid and %d refused: the mutants are too far from certificates, or too near",
			valid, refused)
	}
}

// mutant is a file with a change in its structure, which some or all of its signers sign.
func mutant(t *testing.T, r *rand.Rand, c *forge.Council, s *certificate.Statement) []byte {
	x := treeOf(t, s)
	x.change(r)
	var seats []int
	for i := range c.Secrets {
		if s.MaySign(i) && r.IntN(12) > 0 || r.IntN(40) == 0 {
			seats = append(seats, i)
		}
	}
	if len(x.terms) == 0 || len(x.fields) <= atVotes {
		return nil
	}
	file := x.file(c, seats)
	if r.IntN(20) == 0 && len(file) > 0 {
		_, file = mutateBytes(r, file)
	}
	return file
}

func mutateBytes(r *rand.Rand, file []byte) (kind string, bad []byte) {
	bad = bytes.Clone(file)
	bad[r.IntN(len(bad))] = byte(r.Uint32())
	return "bytes", bad
}

// owned is the certificate of one owner.
func owned(t *testing.T, seed uint64) []byte {
	for ; ; seed += 7919 {
		w := newWorld(t, seed)
		if w.s.Kind == certificate.Owner {
			w.s.Domain = certificate.DomainThree
			return w.file(t)
		}
	}
}

// hostileFiles are the files that hostile callers put together, of real keys.
func hostileFiles(t *testing.T, r *rand.Rand) [][]byte {
	a, err := forge.NewArena(r, 1+r.IntN(7), false)
	if err != nil {
		t.Fatal(err)
	}
	for range 4 {
		if err := a.Step(); err != nil {
			t.Fatal(err)
		}
	}
	return a.Files()
}
