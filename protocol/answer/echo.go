package answer

import (
	"slices"
	"strings"

	"synod.dev/synod"
)

// The detector of echoes: a run of echoWords words is a gram. A text is an echo if one in echoShare of its grams was
// first sent, in an earlier round, by others than its sender.
const (
	echoWords = 8
	echoShare = 3
	maxGrams  = 1 << 16 // that a member remembers, so that a flood of texts takes no memory
)

// echoes remembers who sent a gram first. Several members may send it first in the same round.
type echoes struct{ first map[uint64][]synod.NodeID }

// grams returns the hashes of all runs of echoWords words, in lower case and without punctuation at their ends.
func grams(text string) (all []uint64) {
	words := strings.Fields(strings.ToLower(text))
	hashes := make([]uint64, len(words))
	for i, w := range words {
		h := uint64(14695981039346656037)
		for _, c := range []byte(strings.Trim(w, `.,;:!?"'()`)) {
			h = (h ^ uint64(c)) * 1099511628211
		}
		hashes[i] = h
	}
	for i := range max(0, len(words)-echoWords+1) {
		h := uint64(0)
		for _, w := range hashes[i : i+echoWords] {
			h = (h ^ w) * 1099511628211
		}
		all = append(all, h)
	}
	return all
}

// echo reports whether a text repeats what others than its sender sent in earlier rounds.
func (e *echoes) echo(from synod.NodeID, text string) bool {
	all, repeated := grams(text), 0
	for _, g := range all {
		if owners := e.first[g]; len(owners) > 0 && !slices.Contains(owners, from) {
			repeated++
		}
	}
	return len(all) > 0 && repeated*echoShare >= len(all)
}

// sent is a text and its sender.
type sent struct {
	from synod.NodeID
	text string
}

// learn remembers the texts of one round.
func (e *echoes) learn(round []sent) {
	if e.first == nil {
		e.first = map[uint64][]synod.NodeID{}
	}
	fresh := map[uint64][]synod.NodeID{}
	for _, s := range round {
		for _, g := range grams(s.text) {
			if e.first[g] == nil && !slices.Contains(fresh[g], s.from) {
				fresh[g] = append(fresh[g], s.from)
			}
		}
	}
	for g, owners := range fresh {
		if len(e.first) < maxGrams {
			e.first[g] = owners
		}
	}
}

// keepFromEchoing drops the member's own reasoning before it is sent, if it repeats what another member sent: who is
// heard by members that do not hear that one would otherwise pass the text on to them.
func (m *Member) keepFromEchoing(r *Held) {
	if seat := m.Me.Seat(); seat.Guards.DropEchoes && m.echoes.echo(seat.Self, r.Rationale) {
		r.Rationale = ""
	}
}

// dropEchoes removes the reasoning of responses that repeats what others sent in earlier rounds.
func (m *Member) dropEchoes() {
	if !m.Me.Seat().Guards.DropEchoes {
		return
	}
	round := []sent{{m.Me.Seat().Self, m.told}}
	for i := range m.heard {
		h := &m.heard[i]
		round = append(round, sent{h.From, h.Value.Rationale})
		if m.echoes.echo(h.From, h.Value.Rationale) {
			h.Value.Rationale = ""
		}
	}
	m.echoes.learn(round)
}
