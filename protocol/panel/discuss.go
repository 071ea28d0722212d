package panel

import (
	"math/rand/v2"
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/core/script"
	"synod.dev/synod/llm/read"
)

// discuss lets all members but the author judge the sentences of the chosen answer. With Drop the author then writes
// the answer again without the disputed ones, and the new text is checked. Every member computes by itself which
// answer was chosen, and takes it apart by itself (partsOf): an author has no say in what is judged. A member that
// errs judges another text, which nobody counts.
func (m *member) discuss(marks [][]Mark) {
	f, self := m.me.Seat().F, m.me.Seat().Self
	totals, _ := m.p.rank(m.texts, marks, f)
	top := best(totals)
	var c *Check
	if top != nil {
		c = m.check(top.Of, top.Answer, synod.None)
	}
	m.record.Claims = c
	verdicts := m.exchange(2, c, m.phase(2))
	m.note(2)
	if !m.p.Drop {
		return
	}
	mine := top != nil && top.Of == self
	var sent parcel[struct{}]
	if mine {
		if disputed := disputedIn(top.Answer, verdicts, f); len(disputed) > 0 {
			sent.Text = string(m.rewrite(top.Answer, disputed))
		}
	}
	c = nil
	if text := m.replacement(top, sent); text != synod.None {
		c = m.check(top.Of, text, top.Answer)
		if mine {
			c.Old = string(top.Answer)
		}
	}
	m.record.Again = c
	verdicts = m.exchange(3, c, m.phase(4))
	if mine && c != nil && stands(synod.Answer(sent.Text), c.Of, verdicts, f) {
		m.held = m.held.Take(synod.Answer(sent.Text), nil)
	}
	m.note(3)
}

// replacement exchanges the new text of the author of the chosen answer; None: there is none.
func (m *member) replacement(top *Total, sent parcel[struct{}]) synod.Answer {
	heard := script.Exchange[parcel[struct{}]](m.me, againSlot, 3, sent, m.phase(3))
	if top == nil {
		return synod.None
	}
	text := sent.Text
	if top.Of != m.me.Seat().Self {
		i := slices.IndexFunc(heard, func(h script.Heard[parcel[struct{}]]) bool { return h.From == top.Of })
		if i < 0 {
			return synod.None
		}
		text = heard[i].Value.Text
	}
	a, ok := read.Canonical(m.me.Seat().Question, text)
	if !ok {
		return synod.None
	}
	return a
}

// check judges the sentences of a text, unless the member wrote it. old is the text that it replaces; None: none.
func (m *member) check(of synod.NodeID, text, old synod.Answer) *Check {
	c := &Check{Of: of, Text: sumOf(text), Before: sumOf(old)}
	if of != m.me.Seat().Self {
		m.judge(c, text, old)
	}
	return c
}

// judge asks for the verdicts on all sentences in one call, in an order of its own, so that no author can choose
// their places. The whole text is shown beside them, because a sentence means what it means in its place.
func (m *member) judge(c *Check, text, old synod.Answer) {
	parts := judged(text)
	order := rand.New(rand.NewPCG(m.me.Seat().Seed, uint64(len(parts)))).Perm(len(parts))
	d := Checking{Before: old, Parts: make([]string, len(parts))}
	for k, i := range order {
		d.Parts[k] = string(text[parts[i].start:parts[i].end])
	}
	q := m.Prompt(checking)
	q.Candidate, q.Detail = text, d
	r := m.me.Ask(q)[0]
	verdicts, faithful, err := verdictsIn(r, d)
	if err != nil {
		m.count(r)
		return
	}
	c.Marks, c.Faithful = make([]Verdict, len(parts)), faithful
	for k, i := range order {
		c.Marks[i] = verdicts[k]
	}
}

// exchange exchanges the verdicts and returns those of all seats about the same text.
func (m *member) exchange(round int, c *Check, until script.Until) []*Check {
	all := make([]*Check, len(m.texts))
	sent := parcel[Check]{}
	if c != nil {
		sent.Value = Check{Of: c.Of, Text: c.Text, Before: c.Before, Marks: c.Marks, Faithful: c.Faithful}
	}
	for _, h := range script.Exchange[parcel[Check]](m.me, marksSlot, round, sent, until) {
		if c != nil && h.Value.Value.about(c) {
			all[h.From] = &h.Value.Value
		}
	}
	all[m.me.Seat().Self] = c
	return all
}

// rewrite asks the author for its text without some sentences; None: there is no other text.
func (m *member) rewrite(text synod.Answer, disputed []string) synod.Answer {
	q := m.Prompt(rewriting)
	q.Candidate, q.Detail = text, Rewriting{Parts: disputed}
	r := m.me.Ask(q)[0]
	given, _, ok := read.Answer(m.me.Seat().Question, r, false)
	if !ok || given == text {
		m.count(r)
		return synod.None
	}
	return given
}

// about reports whether two checks judge the same text, in place of the same one.
func (c *Check) about(d *Check) bool { return c.Of == d.Of && c.Text == d.Text && c.Before == d.Before }

// tally counts who supports and who contradicts a sentence, by seat. The author has no vote.
func tally(verdicts []*Check, of synod.NodeID, sentence int) (supporters, critics []synod.NodeID) {
	for by, c := range verdicts {
		if synod.NodeID(by) == of || c == nil || sentence >= len(c.Marks) {
			continue
		}
		switch c.Marks[sentence] {
		case Supported:
			supporters = append(supporters, synod.NodeID(by))
		case Contradicted:
			critics = append(critics, synod.NodeID(by))
		}
	}
	return supporters, critics
}

// disputedIn returns the sentences with more than f critics.
func disputedIn(text synod.Answer, verdicts []*Check, f int) (disputed []string) {
	for i, p := range judged(text) {
		if _, critics := tally(verdicts, -1, i); len(critics) > f {
			disputed = append(disputed, string(text[p.start:p.end]))
		}
	}
	return disputed
}

// stands reports whether a new text replaces the old one: all of it was judged, nothing of it is disputed, and more
// than f members find that it says nothing new, with at most f against.
func stands(text synod.Answer, of synod.NodeID, verdicts []*Check, f int) bool {
	faithful, against := 0, 0
	for by, v := range verdicts {
		switch {
		case v == nil || synod.NodeID(by) == of:
		case v.Faithful == Supported:
			faithful++
		case v.Faithful == Contradicted:
			against++
		}
	}
	parts := partsOf(text)
	return len(parts) > 0 && len(parts) == len(judged(text)) && faithful > f && against <= f &&
		len(disputedIn(text, verdicts, f)) == 0
}
