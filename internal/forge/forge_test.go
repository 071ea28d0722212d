package forge_test

import (
	"math/rand/v2"
	"testing"

	"synod.dev/synod/certificate"
	"synod.dev/synod/internal/forge"
)

// Honest councils get certificates, and hostile callers get some files that are valid: a campaign in which no
// certificate is ever valid would show nothing.
func TestForge(t *testing.T) {
	honest, hostile, refused := 0, 0, 0
	for seed := range uint64(200) {
		c, err := forge.New(rand.New(rand.NewPCG(seed, 0xf09e)))
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
		if _, err := certificate.Verify(made, certificate.CouncilOf(c.Roster)); err == nil {
			honest++
		}
		a, err := c.Run(10)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range a.Files {
			if parsed, err := certificate.Parse(file); err == nil {
				if _, err := certificate.Verify(parsed, certificate.CouncilOf(c.Roster)); err == nil {
					hostile++
					continue
				}
			}
			refused++
		}
	}
	if honest < 60 || hostile < 60 || refused < 60 {
		t.Errorf("%d honest and %d hostile certificates are valid, %d are refused", honest, hostile, refused)
	}
}
