package panel

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"synod.dev/synod"
	"synod.dev/synod/core/robust"
	"synod.dev/synod/internal/reference"
	"synod.dev/synod/protocol"
	"synod.dev/synod/protocol/check"
)

// campaign is how campaigns try the protocol.
var campaign = func() check.Subject {
	s := check.Staged(2, synod.Prose).At(10)
	s.Setup = func(c check.Chance, x *check.Case) {
		x.N = 4 + c.IntN(4)
		all := slices.DeleteFunc(robust.Catalogue.All(), func(a robust.Aggregate) bool { return a.Bound(x.N-1) < 1 })
		a := all[c.IntN(len(all))]
		x.F = c.IntN(a.Bound(x.N-1) + 1)
		x.Params = fmt.Sprintf("{aggregate: %s%s}", a.Name, []string{"", "", ", claims: true",
			", claims: true, drop-disputed: true", ", lenient: true"}[c.IntN(5)])
	}
	answered := s.Check
	s.Check = func(t *check.Trace) { answered(t); playAgain(t); listAgain(t) }
	s.Watch, s.Reply = check.KeepDiary, faithful
	return s.Deciding("I-PA-D", "the text with the highest total of its grades, word for word", "docs/use/forms.md",
		regrade).Saying("I-PA-T", "docs/use/forms.md", tryTerms)
}()

// seatsOf is what all seats noted last, in the terms of the reference: the text that was graded, also if its author has
// replaced it.
func seatsOf(t *check.Trace) []reference.PanelSeat {
	seats := make([]reference.PanelSeat, t.Case.N)
	for i := range seats {
		o := t.Last(i)
		if o == nil {
			continue
		}
		r := recordOf(o)
		seats[i] = reference.PanelSeat{Text: o.Answer, Given: string(r.Given), Marks: marksOf(r.Marks)}
		if c := r.Again; c != nil && c.Old != "" && reference.HashOf(o.Answer) != string(r.Given) {
			seats[i].Text = synod.Answer(c.Old)
		}
	}
	return seats
}

func panelOf(t *check.Trace) *reference.Panel {
	p := t.Protocol.(*Panel)
	return &reference.Panel{F: t.Case.F, Aggregate: p.Aggregate, Lenient: p.Lenient}
}

// regrade decides once more from the grades in the records.
func regrade(t *check.Trace) reference.Step {
	p, d, seats := t.Protocol.(*Panel), panelOf(t), seatsOf(t)
	a, lacking, _ := d.Decide(seats)
	at, near, text := d.Highest(seats)
	if at >= 0 && a != synod.None && t.Last(at).Answer != a {
		a = replaced(t, synod.NodeID(at), a)
	}
	return reference.Step{Decides: true, Alone: true, Answer: a, Lacking: lacking, Near: text || near && p.Drop}
}

// replaced is the decision if the author of the chosen text holds another one: that, if the others confirm it; None if
// they do not.
func replaced(t *check.Trace, author synod.NodeID, chosen synod.Answer) synod.Answer {
	text := t.Last(int(author)).Answer
	all := make([]*Check, t.Case.N)
	for i := range all {
		o := t.Last(i)
		if o == nil {
			continue
		}
		if c := recordOf(o).Again; c != nil && c.Of == author && string(c.Text) == reference.HashOf(text) &&
			string(c.Before) == reference.HashOf(chosen) {
			all[i] = c
		}
	}
	if confirmed(text, author, all, t.Case.F) {
		return text
	}
	return synod.None
}

// faithful makes some simulated members say that a new text has something new, or that they cannot tell.
func faithful(t *check.Trace, by synod.NodeID, q *synod.Prompt, r synod.Reply) synod.Reply {
	d, ok := q.Detail.(Checking)
	if !ok || d.Before == synod.None {
		return r
	}
	verdict := []Verdict{Supported, Supported, Contradicted, CannotTell}[check.Mix(t.Case.Seed^uint64(by)<<8)%4]
	old := fmt.Sprintf("%q:%q", d.Faithful(), Supported)
	r.Text = strings.Replace(r.Text, old, fmt.Sprintf("%q:%q", d.Faithful(), verdict), 1)
	return r
}

// listAgain compares the verdicts on the sentences of the decision with the records of all seats, also where one seat,
// who may be the author, says of the sentences what it likes.
func listAgain(t *check.Trace) {
	last := make([]synod.Opinion, t.Case.N)
	for i := range last {
		if o := t.Last(i); o != nil {
			last[i] = *o
		}
	}
	list(t, last)
	r := rand.New(rand.NewPCG(t.Case.Seed, 0x9a17))
	author, _, _ := panelOf(t).Highest(seatsOf(t))
	liar := author
	if r.IntN(2) == 0 {
		liar = r.IntN(t.Case.N)
	}
	if author < 0 || last[author].Record == nil || last[liar].Record == nil {
		return
	}
	c := &Check{Of: synod.NodeID(author), Text: Sum(reference.HashOf(last[author].Answer)), Before: Sum("")}
	for range r.IntN(6) {
		c.Marks = append(c.Marks, []Verdict{Supported, Contradicted, CannotTell}[r.IntN(3)])
	}
	lies := *recordOf(&last[liar])
	lies.Claims = c
	last[liar].Record = &lies
	list(t, last)
	if long := lengthen(last, author); long != nil {
		a, _, _ := t.Protocol.(*Panel).Accept(long, nil, t.Case.F, nil)
		if a == long[author].Answer { // of texts with equal totals another one may be chosen
			list(t, long)
		}
	}
}

// lengthen returns records in which the graded text of the author begins with a sentence that is too long to be
// judged; nil if another text replaced it.
func lengthen(last []synod.Opinion, author int) []synod.Opinion {
	old := Sum(reference.HashOf(last[author].Answer))
	if recordOf(&last[author]).Given != old {
		return nil
	}
	text := synod.Answer(strings.Repeat("x", maxPart+1)+". ") + last[author].Answer
	sum, long := Sum(reference.HashOf(text)), slices.Clone(last)
	for i := range long {
		r := *recordOf(&long[i])
		r.Marks = slices.Clone(r.Marks)
		for k := range r.Marks {
			if r.Marks[k].Text == old && r.Marks[k].Of == synod.NodeID(author) {
				r.Marks[k].Text = sum
			}
		}
		if r.Claims != nil && r.Claims.Text == old {
			c := *r.Claims
			c.Text, r.Claims = sum, &c
		}
		if i == author {
			r.Given, long[i].Answer = sum, text
		}
		long[i].Record = &r
	}
	return long
}

// list compares the verdicts by some records.
func list(t *check.Trace, last []synod.Opinion) {
	p := t.Protocol.(*Panel)
	author, near, _ := panelOf(t).Highest(seatsOf(t))
	decision, _, _ := p.Accept(last, nil, t.Case.F, nil)
	if near || author < 0 || decision == synod.None {
		return
	}
	for _, c := range p.ListClaims(last, t.Case.F) {
		want := protocol.Open
		supporters, against := saidOf(last, synod.NodeID(author), decision, c.Start)
		switch {
		case len(against) > t.Case.F:
			want = protocol.Disputed
		case len(supporters) > t.Case.F:
			want = protocol.Supported
		}
		t.Claim(claimAgain, c.Verdict == want && slices.Equal(c.Supporters, supporters) && slices.Equal(c.Critics,
			against),
			"the verdict on %q is %+v; %v support it, and %v contradict it", c.Text, c, supporters, against)
	}
}

// saidOf returns who says of the sentence of a text that begins at a place that it is supported, and who that it is
// contradicted, in the records of all seats but its author. What seats say of a text that replaces a graded one stands
// in Again, and what they say of the graded one in Claims.
func saidOf(last []synod.Opinion, author synod.NodeID, text synod.Answer, start int) (supporters,
	against []synod.NodeID) {
	at := slices.IndexFunc(judged(text), func(p part) bool { return p.start == start })
	graded := recordOf(&last[author]).Given
	for i := range last {
		r := recordOf(&last[i])
		c, before := r.Claims, Sum("")
		if string(graded) != reference.HashOf(text) {
			c, before = r.Again, graded
		}
		if c == nil || string(c.Text) != reference.HashOf(text) || c.Of != author || c.Before != before ||
			synod.NodeID(i) == author || at < 0 || at >= len(c.Marks) {
			continue
		}
		switch c.Marks[at] {
		case Supported:
			supporters = append(supporters, synod.NodeID(i))
		case Contradicted:
			against = append(against, synod.NodeID(i))
		}
	}
	return supporters, against
}
