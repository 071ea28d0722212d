package panel

import (
	"math/rand/v2"
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/read"
	"synod.dev/synod/script"
)

// list is what an author sends: the claims of a text and, if it is a new one, the text.
type list = parcel[[]Claim]

// discuss lets the author of the chosen answer list its claims and all others judge them. With Drop the
// author then writes the answer again without the disputed ones, and the rest is checked again. Every member
// computes by itself which answer was chosen; one that errs judges the claims of another text, which nobody
// counts.
func (m *member) discuss(marks [][]Mark) {
	f := m.me.Seat().F
	top := best(m.p.totals(m.texts, marks, f))
	var sent list
	mine := top != nil && top.Of == m.me.Seat().Self
	if mine {
		sent.Value = m.list(top.Answer)
	}
	c := m.check(2, top, sent, "")
	m.record.Claims = c
	verdicts := m.exchange(2, c)
	m.note(2)
	if !m.p.Drop {
		return
	}
	var again list
	disputed := disputedIn(sent.Value, verdicts, f)
	if mine && len(disputed) > 0 {
		again = m.rewrite(top.Answer, disputed)
	}
	old := synod.None
	if top != nil {
		old = top.Answer
	}
	c = m.check(3, top, again, old)
	m.record.Again = c
	verdicts = m.exchange(3, c)
	if mine && c != nil && stands(c, verdicts, f) {
		m.held = m.held.Take(synod.Answer(again.Text), nil)
	}
	m.note(3)
}

// list asks the author for the claims of its text.
func (m *member) list(text synod.Answer) []Claim {
	q := m.Prompt(listing)
	q.Candidate, q.Detail = text, Listing{Most: MaxClaims}
	r := m.me.Ask(q)[0]
	claims := claimsIn(string(text), r)
	if claims == nil {
		m.count(r)
	}
	return claims
}

// check exchanges the list of claims and judges those of the author of the chosen answer. old is the text that
// a new one replaces; None: the list is of the chosen answer itself. It returns nil if there is nothing to
// judge.
func (m *member) check(round int, top *Total, sent list, old synod.Answer) *Check {
	heard := script.Exchange[list](m.me, claimsSlot, round, sent, m.phase(2*round-2))
	if top == nil {
		return nil
	}
	author := top.Of == m.me.Seat().Self
	if !author {
		i := slices.IndexFunc(heard, func(h script.Heard[list]) bool { return h.From == top.Of })
		if i < 0 {
			return nil
		}
		sent = heard[i].Value
	}
	text := top.Answer
	if old != synod.None {
		a, ok := read.Canonical(m.me.Seat().Question, sent.Text)
		if text = a; !ok {
			return nil // no new text
		}
	}
	if !validClaims(sent.Value, text) {
		return nil
	}
	c := &Check{Of: top.Of, Text: sumOf(text), Sum: sumOfClaims(sent.Value)}
	if author {
		c.List, c.Old = sent.Value, string(old)
		return c
	}
	m.judge(c, sent.Value, text, old)
	return c
}

// judge asks for the verdicts on all claims in one call, in an order of its own, so that no author can choose
// their places.
func (m *member) judge(c *Check, claims []Claim, text, old synod.Answer) {
	order := rand.New(rand.NewPCG(m.me.Seat().Seed, uint64(len(claims)))).Perm(len(claims))
	d := Checking{Before: old, Claims: make([]string, len(claims))}
	for k, i := range order {
		d.Claims[k] = claims[i].Text
	}
	q := m.Prompt(checking)
	q.Detail = d
	if old != synod.None {
		q.Candidate = text
	}
	r := m.me.Ask(q)[0]
	verdicts, faithful, err := verdictsIn(r, d)
	if err != nil {
		m.count(r)
		return
	}
	c.Marks, c.Faithful = make([]Verdict, len(claims)), faithful
	for k, i := range order {
		c.Marks[i] = verdicts[k]
	}
}

// exchange exchanges the verdicts and returns those of all seats about the same list.
func (m *member) exchange(round int, c *Check) []*Check {
	all := make([]*Check, len(m.texts))
	sent := parcel[Check]{}
	if c != nil {
		sent.Value = Check{Of: c.Of, Text: c.Text, Sum: c.Sum, Marks: c.Marks, Faithful: c.Faithful}
	}
	for _, h := range script.Exchange[parcel[Check]](m.me, marksSlot, round, sent, m.phase(2*round-1)) {
		if c != nil && h.Value.Value.about(c) {
			all[h.From] = &h.Value.Value
		}
	}
	all[m.me.Seat().Self] = c
	return all
}

// rewrite asks the author for its text without some claims, and for the claims of the new text.
func (m *member) rewrite(text synod.Answer, disputed []Claim) (again list) {
	d := Rewriting{Claims: make([]string, len(disputed))}
	for i, c := range disputed {
		d.Claims[i] = c.Text
	}
	q := m.Prompt(rewriting)
	q.Candidate, q.Detail = text, d
	r := m.me.Ask(q)[0]
	given, _, ok := read.Answer(m.me.Seat().Question, r, false)
	if !ok || given == text {
		m.count(r)
		return again
	}
	return list{Text: string(given), Value: m.list(given)}
}

// about reports whether two checks judge the same claims of the same text.
func (c *Check) about(d *Check) bool { return c.Of == d.Of && c.Text == d.Text && c.Sum == d.Sum }

// tally counts who supports and who contradicts a claim, by seat. The author has no vote.
func tally(verdicts []*Check, of synod.NodeID, claim int) (supporters, critics []synod.NodeID) {
	for by, c := range verdicts {
		if synod.NodeID(by) == of || c == nil || claim >= len(c.Marks) {
			continue
		}
		switch c.Marks[claim] {
		case Supported:
			supporters = append(supporters, synod.NodeID(by))
		case Contradicted:
			critics = append(critics, synod.NodeID(by))
		}
	}
	return supporters, critics
}

// disputedIn returns the claims with more than f critics.
func disputedIn(claims []Claim, verdicts []*Check, f int) (disputed []Claim) {
	for i, c := range claims {
		if _, critics := tally(verdicts, -1, i); len(critics) > f {
			disputed = append(disputed, c)
		}
	}
	return disputed
}

// stands reports whether a new text replaces the old one: it has claims, none is disputed, and more than f
// members find that it says nothing new, with at most f against.
func stands(c *Check, verdicts []*Check, f int) bool {
	faithful, against := 0, 0
	for by, v := range verdicts {
		switch {
		case v == nil || synod.NodeID(by) == c.Of:
		case v.Faithful == Supported:
			faithful++
		case v.Faithful == Contradicted:
			against++
		}
	}
	return len(c.List) > 0 && faithful > f && against <= f && len(disputedIn(c.List, verdicts, f)) == 0
}
