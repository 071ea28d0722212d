package terms_test

import (
	"crypto/ed25519"
	"maps"
	"slices"
	"strings"
	"testing"

	"synod.dev/synod/network/node/terms"
	"synod.dev/synod/network/roster"
)

// A roster that was signed for the wording of prompts, by an earlier version, is played by a program with that wording.
// One whose prompts mean something else is refused, whichever prompt it is.
func TestPromptsOfRosters(t *testing.T) {
	p, err := invitationOf(t, 3).Plan()
	if err != nil {
		t.Fatal(err)
	}
	members := map[string]roster.Member{}
	for i, s := range p.Seats() {
		key := ed25519.NewKeyFromSeed(slices.Repeat([]byte{byte(i + 1)}, ed25519.SeedSize))
		members[s.ID] = roster.Member{Key: key.Public().(ed25519.PublicKey), Addresses: []string{"127.0.0.1:1"}}
	}
	make := func() *roster.Roster {
		r, err := terms.New(p, terms.Options{Members: members})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	if _, err := terms.Plan(make()); err != nil {
		t.Error(err)
	}
	earlier := make()
	earlier.Prompts = nil
	for _, name := range slices.Sorted(maps.Keys(p.TemplateDigests())) {
		earlier.Prompts = append(earlier.Prompts, roster.Prompt{Name: name, Digest: p.TemplateDigests()[name]})
	}
	if _, err := terms.Plan(earlier); err != nil {
		t.Errorf("a roster with digests of wordings: %v", err)
	}
	earlier.Prompts[0].Digest = "0000000000000000"
	if _, err := terms.Plan(earlier); err == nil {
		t.Error("a roster with the digest of another wording was taken")
	}
	for i := range make().Prompts {
		r := make()
		r.Prompts[i].Digest = "m1:00000000000000000000000000000000"
		_, err := terms.Plan(r)
		if err == nil || !strings.Contains(err.Error(), "mean something else") ||
			!strings.Contains(err.Error(), r.Prompts[i].Name) {
			t.Errorf("a prompt with another meaning: %v, want an error that names %s", err, r.Prompts[i].Name)
		}
		mixed := make()
		mixed.Prompts[i].Digest = p.TemplateDigests()[mixed.Prompts[i].Name]
		if _, err := terms.Plan(mixed); err == nil {
			t.Error("a roster with the meanings of some prompts and the wording of another one was taken")
		}
	}
	if r := make(); len(r.Prompts) < 4 {
		t.Errorf("the roster binds %d prompts only", len(r.Prompts))
	}
}
