package check

import (
	"cmp"
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/core/script"
	"synod.dev/synod/llm/read"
)

// Answers returns the responses of Responses whose answer can be read, with it in canonical form.
func (t *Trace) Answers(seat, round, heard int) (from []synod.NodeID, all []synod.Response) {
	ids, responses := t.Responses(seat, round, heard)
	for n, r := range responses {
		var ok bool
		if r.Answer, ok = read.Canonical(t.Question, string(r.Answer)); ok {
			from, all = append(from, ids[n]), append(all, r)
		}
	}
	return from, all
}

// Told returns with which answer a seat went into the round before its note number k: that of the note before, or what
// its model said when it was asked again.
func (t *Trace) Told(seat, k int) synod.Answer {
	if own := t.Notes[seat][k-1].Answer; own != synod.None {
		return own
	}
	for _, c := range t.AskedFor(seat, k, synod.Answering) {
		if x, _, ok := read.Answer(t.Question, &c.Reply, false); ok {
			return x
		}
	}
	return synod.None
}

// Credited checks whom a seat's note number k names as those that had shown its answer: if it went into the round with
// another one, own, these are all that showed it, and otherwise nobody.
func (t *Trace) Credited(claim string, seat, k int, own synod.Answer, from []synod.NodeID, shown []synod.Response) {
	o := t.Notes[seat][k]
	var want []synod.NodeID
	for n, r := range shown {
		if r.Answer == o.Answer && o.Answer != own {
			want = append(want, from[n])
		}
	}
	t.Claim(claim, slices.Equal(o.From, want), "n%d went into round %d with %q and notes that %v showed it %q; these "+
		"did: %v", seat, k, own, o.From, o.Answer, want)
}

// Drawn returns seats in the order in which a seat lists what they said: by a hash of its own seed and of each of them
// with Guards.DrawOrder, so that nobody chooses its place, and otherwise as they are.
func (t *Trace) Drawn(seat int, from []synod.NodeID) []synod.NodeID {
	from = slices.Clone(from)
	if !t.Guards.DrawOrder {
		return from
	}
	own := script.Derive(t.Case.Seed, uint64(seat)) ^ 0x0de5
	slices.SortStableFunc(from, func(a, b synod.NodeID) int {
		return cmp.Compare(script.Derive(own, uint64(a)), script.Derive(own, uint64(b)))
	})
	return from
}

// Listed returns the answers of seats in the order of Drawn. all are those of from.
func (t *Trace) Listed(seat int, from []synod.NodeID, all []synod.Response) (list []synod.Answer) {
	for _, id := range t.Drawn(seat, from) {
		list = append(list, all[slices.Index(from, id)].Answer)
	}
	return list
}
