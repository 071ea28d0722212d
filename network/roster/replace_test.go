package roster_test

import (
	"slices"
	"strings"
	"testing"

	"synod.dev/synod/core/sign"
	"synod.dev/synod/network/roster"
)

// A council in operation goes over to a roster that a quorum of it has signed, and to no other: also not to one that
// stands by itself because all its members have signed it, or that a quorum has signed for another council.
func TestReplaces(t *testing.T) {
	owners, more := secrets(t, 1, 7), secrets(t, 2, 7)
	first := signed(complete(owners), owners...)
	second := func(of []sign.Secret, by ...sign.Secret) *roster.Signed { return after(first, complete(of), by...) }
	rotated := append(slices.Clone(owners[:6]), more[0])
	hostile := append(slices.Clone(more[:6]), owners[6])
	good := second(rotated, append(slices.Clone(owners[:5]), more[0])...) // the key of the seventh member was lost
	other := complete(owners)
	other.Serial, other.Previous = 1, make([]byte, 32)
	skips := complete(rotated)
	hash := first.Hash()
	skips.Serial, skips.Previous = 2, hash[:]
	for name, c := range map[string]struct {
		next *roster.Signed
		want string // "": it is accepted
	}{
		"a key is rotated while its owner is away": {good, ""},
		"a member is added": {second(append(slices.Clone(owners), more[1]),
			append(owners[:5:5], more[1])...), ""},
		"a member is removed":        {second(owners[:6], owners[:5]...), ""},
		"the new key has not signed": {second(rotated, owners[:6]...), "member a7 has not signed"},
		"one signature less than a quorum": {second(rotated, append(slices.Clone(owners[:4]), more[0])...),
			"4 of the 7 members"},
		"one member with keys that he invented": {second(hostile, append(slices.Clone(more[:6]), owners[6])...),
			"1 of the 7 members"},
		"a stranger has signed too": {second(owners, append(slices.Clone(owners), more[3])...),
			"which no member has"},
		"another council": {signed(other, owners...), "it replaces the roster"},
		"a serial is left out": {signed(skips, append(slices.Clone(owners), more[0])...),
			"its serial is 2"},
		"the roster in force": {first, "it replaces the roster"},
	} {
		err := c.next.Replaces(first)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	if invented := second(hostile, hostile...); invented.Verify() != nil || invented.Replaces(first) == nil {
		t.Error("a roster of one member and keys that he invented does not stand by itself, or replaces the council")
	}
	if err := first.Replaces(good); err == nil {
		t.Error("an older roster replaces a newer one")
	}
	broken := second(rotated, append(slices.Clone(owners[:5]), more[0])...)
	broken.Signatures[0].Bytes[7] ^= 1
	if err := broken.Replaces(first); err == nil || !strings.Contains(err.Error(), "is not valid") {
		t.Errorf("a changed signature: %v", err)
	}
}

// Two successors of one roster that a quorum each has signed have more than F signers in common.
func TestFork(t *testing.T) {
	owners, more := secrets(t, 1, 7), secrets(t, 2, 2)
	first := signed(complete(owners), owners...)
	a := after(first, complete(append(slices.Clone(owners[:6]), more[0])), append(slices.Clone(owners[:5]), more[0])...)
	b := after(first, complete(append(slices.Clone(owners[:6]), more[1])), append(slices.Clone(owners[2:]), more[1])...)
	if a.Replaces(first) != nil || b.Replaces(first) != nil {
		t.Fatal("one of the successors is not valid")
	}
	if keys := roster.Both(a, b); len(keys) != 3 || len(keys) <= int(first.F) {
		t.Errorf("%d members have signed both, want 3, more than F = %d", len(keys), first.F)
	}
	if b.Replaces(a) == nil || a.Replaces(b) == nil {
		t.Error("a successor of a roster replaces another successor of it")
	}
}

// A file that has the rosters between leads from an old one to a new one, step by step.
func TestSteps(t *testing.T) {
	owners, more := secrets(t, 1, 5), secrets(t, 2, 2)
	first := signed(complete(owners[:4]), owners[:4]...)
	second := after(first, complete(owners), append(slices.Clone(owners[:3]), owners[4])...)
	third := after(second, complete(append(slices.Clone(owners[:4]), more[0])), append(slices.Clone(owners[:4]),
		more[0])...)
	steps, err := third.Steps(first)
	if err != nil || len(steps) != 2 || steps[0].Hash() != second.Hash() || steps[1] != third {
		t.Errorf("from the first to the third: %d steps, %v", len(steps), err)
	}
	if steps, err = third.Steps(second); err != nil || len(steps) != 1 {
		t.Errorf("from the second to the third: %d steps, %v", len(steps), err)
	}
	if steps, err = third.Steps(third); err != nil || len(steps) != 0 {
		t.Errorf("from the third to itself: %d steps, %v", len(steps), err)
	}
	if _, err = second.Steps(third); err == nil {
		t.Error("steps lead from a roster to an older one")
	}
	unsigned := after(first, complete(owners), owners[0], owners[4])
	if _, err := after(unsigned, complete(owners), owners[:4]...).Steps(first); err == nil {
		t.Error("a step that no quorum has signed is taken because the one after it is signed")
	}
	bad := after(second, complete(more), more...) // stands by itself
	if _, err := bad.Steps(first); err == nil {
		t.Error("a step that nobody of the roster before has signed")
	}
}

// The file of a roster has the rosters that it has replaced, and no other one can be put there.
func TestEarlier(t *testing.T) {
	owners := secrets(t, 1, 5)
	first := signed(complete(owners[:4]), owners[:4]...)
	second := after(first, complete(owners), append(slices.Clone(owners[:3]), owners[4])...)
	third, err := roster.Parse(after(second, complete(owners), owners[:4]...).File())
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []*roster.Signed{first, second, third} {
		hash := s.Hash()
		if found := third.Earlier(hash[:]); found == nil || found.Hash() != hash {
			t.Errorf("the third roster does not have serial %d", s.Serial)
		}
	}
	hash := third.Hash()
	if first.Earlier(hash[:]) != nil {
		t.Error("an older roster has a newer one")
	}
	other := signed(complete(owners[1:]), owners[1:]...)
	third.Before.Before = other
	if hash = other.Hash(); third.Earlier(hash[:]) != nil {
		t.Error("another roster was put before it")
	}
	third.Before = roster.Unsigned(second.Roster)
	if hash = second.Hash(); third.Earlier(hash[:]) != nil {
		t.Error("a roster that nobody has signed is taken")
	}
}
