package call

import (
	"bytes"
	"testing"
)

func TestCompress(t *testing.T) {
	whole := bytes.Repeat([]byte("record "), 1000)
	if b, err := expand(Compress(whole)); err != nil || !bytes.Equal(b, whole) {
		t.Errorf("%d bytes, %v", len(b), err)
	}
	if _, err := expand(Compress(make([]byte, MaxRecord+1))); err == nil {
		t.Error("a record is expanded without a limit")
	}
	if _, err := expand([]byte("junk")); err == nil {
		t.Error("junk is expanded")
	}
}

// A caller asks only for the receipts of members of whom seats have different messages, or a proof, and asks enough
// seats of each kind that an honest one is among them.
func TestDisputed(t *testing.T) {
	list := func(second byte) []Receipt {
		return []Receipt{{From: 0, Slot: "a", Sum: []byte{1}}, {From: 1, Slot: "a", Sum: []byte{second}}}
	}
	finals := make([]*Final, 7)
	for i := range finals {
		finals[i] = &Final{Digests: Digests(list(2), 7)}
	}
	finals[6] = nil
	if ask := disputed(finals, 2); len(ask) > 0 {
		t.Errorf("all have the same, and it asks %v", ask)
	}
	finals[5].Digests = Digests(list(3), 7)
	finals[4].Digests = Digests(list(2)[:1], 7) // it lacks the message of seat 1
	ask := disputed(finals, 2)
	if len(ask) != 4 || ask[5] == nil || ask[4] != nil {
		t.Errorf("it asks %v", ask)
	}
	for seat, set := range ask {
		if !InSet(set, 1) || InSet(set, 0) {
			t.Errorf("it asks seat %d for %v", seat, set)
		}
	}
	twice := append(list(2), Receipt{From: 1, Slot: "a", Sum: []byte{3}})
	for i := range finals[:6] {
		finals[i].Digests, finals[i].Proved = Digests(twice, 7), Proved(twice, 7)
	}
	if ask := disputed(finals, 2); len(ask) != 3 {
		t.Errorf("all have a proof, and it asks %v", ask)
	}
}
