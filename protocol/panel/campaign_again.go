package panel

import (
	"encoding/json"
	"fmt"
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/internal/reference"
	"synod.dev/synod/llm/read"
	"synod.dev/synod/protocol/check"
	"synod.dev/synod/protocol/grade"
)

// claimAgain is the claim of what is compared with the reference.
const claimAgain = "I-PA-D"

// again is one member of a panel, from its diary.
type again struct {
	t    *check.Trace
	p    *Panel
	id   synod.NodeID
	held []synod.Answer // the texts as it heard them, by seat
}

// playAgain compares what each member graded, judged, told and noted with what it heard and its model said.
func playAgain(t *check.Trace) {
	for i, notes := range t.Notes {
		if len(notes) < 2 || !t.Plain(synod.NodeID(i)) {
			continue
		}
		a := &again{t: t, p: t.Protocol.(*Panel), id: synod.NodeID(i)}
		a.listen()
		a.grades(recordOf(notes[1].Opinion))
		if last := notes[len(notes)-1]; a.p.Claims && len(notes) > 2 {
			a.claims(recordOf(last.Opinion), len(notes) > 3)
		}
		for k, n := range notes {
			a.t.Claim(claimAgain, n.Round == k && (k > 2 || n.Answer == notes[0].Answer),
				"n%d notes %s after round %d, and answered %q", i, n.Opinion, k, notes[0].Answer)
		}
	}
}

// before returns how many messages the member had heard when it made its first call of a purpose for a note; if it made
// none, when it sent a message.
func (a *again) before(k int, purpose synod.Purpose, slot synod.Slot) int {
	if calls := a.t.AskedFor(int(a.id), k, purpose); len(calls) > 0 {
		return calls[0].Heard
	}
	if s := a.t.SentIn(int(a.id), slot); s != nil {
		return s.Heard
	}
	return a.t.Diaries[a.id].Noted[k].Heard
}

// listen collects the texts of others.
func (a *again) listen() {
	notes := a.t.Notes[a.id]
	a.held = make([]synod.Answer, a.t.Case.N)
	a.held[a.id] = notes[0].Answer
	from, all := a.t.Answers(int(a.id), 0, a.before(1, grade.One, synod.Slot{Name: gradesSlot, Round: 1}))
	var silent []synod.NodeID
	for n, r := range all {
		a.held[from[n]] = r.Answer
	}
	for id, x := range a.held {
		if synod.NodeID(id) != a.id && x == synod.None {
			silent = append(silent, synod.NodeID(id))
		}
	}
	a.t.Claim(claimAgain, slices.Equal(notes[1].Silent, silent), "n%d calls %v silent, and heard %q", a.id,
		notes[1].Silent, a.held)
}

// grades compares what the member noted and told of each text of others with the grades that its model gave.
func (a *again) grades(r *Record) {
	var want []Mark
	for id, text := range a.held {
		if synod.NodeID(id) != a.id && text != synod.None {
			want = append(want, Mark{Of: synod.NodeID(id), Text: Sum(reference.HashOf(text))})
		}
	}
	same := string(r.Given) == reference.HashOf(a.held[a.id]) && len(want) == len(r.Marks)
	calls := a.t.AskedFor(int(a.id), 1, grade.One)
	for k := range want {
		if same = same && r.Marks[k].Of == want[k].Of && r.Marks[k].Text == want[k].Text; !same {
			break
		}
		same = gradedBy(calls, a.held[want[k].Of], r.Marks[k].Grades)
	}
	a.t.Claim(claimAgain, same, "n%d notes %+v; it holds %q, and made the calls %+v", a.id, r, a.held, calls)
	var told parcel[[]Mark]
	s := a.t.SentIn(int(a.id), synod.Slot{Name: gradesSlot, Round: 1})
	ok := s != nil && told.UnmarshalBinary(s.Body) == nil
	one, _ := json.Marshal(told.Value)
	other, _ := json.Marshal(r.Marks)
	a.t.Claim(claimAgain, ok && string(one) == string(other), "n%d tells the grades %s, and notes %s", a.id, one, other)
}

// gradedBy reports whether a model gave grades to a text; nil: it gave none.
func gradedBy(calls []check.Asked, text synod.Answer, got *grade.Grades) bool {
	graded := false
	for _, c := range calls {
		if c.Prompt.Candidate != text {
			continue
		}
		g, ok := reference.ReadGrades(&c.Reply)
		if got != nil && ok && g == *got || got == nil && !ok {
			return true
		}
		graded = true
	}
	return !graded && len(calls) == 0 && got == nil
}

// chosen returns the author of the text that has the highest total by the grades that the member heard, and the text;
// not ok if the reference cannot tell.
func (a *again) chosen(r *Record, heard int) (author synod.NodeID, text synod.Answer, ok bool) {
	seats := make([]reference.PanelSeat, len(a.held))
	for id, x := range a.held {
		seats[id] = reference.PanelSeat{Text: x, Given: reference.HashOf(x)}
	}
	seats[a.id].Marks = marksOf(r.Marks)
	for _, m := range a.t.First(int(a.id), synod.Slot{Name: gradesSlot, Round: 1}, heard) {
		var told parcel[[]Mark]
		if told.UnmarshalBinary(m.Body) == nil {
			seats[m.From].Marks = marksOf(told.Value)
		}
	}
	at, near, _ := panelOf(a.t).Highest(seats)
	if at < 0 {
		return -1, synod.None, !near
	}
	return synod.NodeID(at), a.held[at], !near
}

// marksOf are marks in the terms of the reference.
func marksOf(marks []Mark) (all []reference.Mark) {
	for _, m := range marks {
		mark := reference.Mark{Of: m.Of, Text: string(m.Text)}
		if m.Grades != nil {
			mark.Grades = m.Grades[:]
		}
		all = append(all, mark)
	}
	return all
}

// claims compares what the member makes of the sentences of the chosen text, and of the text that replaces it.
func (a *again) claims(r *Record, dropped bool) {
	first := synod.Slot{Name: marksSlot, Round: 2}
	author, text, ok := a.chosen(recordOf(a.t.Notes[a.id][1].Opinion), a.before(2, checking, first))
	if !ok {
		return
	}
	a.check(r.Claims, author, text, synod.None, 2)
	a.told(first, r.Claims)
	if !dropped || author < 0 {
		a.t.Claim(claimAgain, author >= 0 || r.Again == nil, "n%d judges a text in place of none", a.id)
		return
	}
	second := synod.Slot{Name: againSlot, Round: 3}
	var sent parcel[struct{}]
	s := a.t.SentIn(int(a.id), second)
	if s == nil || sent.UnmarshalBinary(s.Body) != nil {
		a.t.Fail(claimAgain, "n%d sends no text or none in place of the chosen one", a.id)
		return
	}
	verdicts := a.verdicts(first, r.Claims, s.Heard)
	if rewrites := a.t.AskedFor(int(a.id), 3, rewriting); len(rewrites) > 0 {
		verdicts = a.verdicts(first, r.Claims, rewrites[0].Heard)
	}
	a.rewrites(author, text, sent.Text, verdicts)
	last := synod.Slot{Name: marksSlot, Round: 3}
	other := a.replacement(author, sent.Text, a.before(3, checking, last))
	if other == synod.None {
		a.t.Claim(claimAgain, r.Again == nil, "n%d judges %+v, and there is no new text", a.id, r.Again)
		return
	}
	a.check(r.Again, author, other, text, 3)
	a.told(last, r.Again)
	a.stands(author, other, r, last)
}

// check compares what a member noted about the sentences of a text.
func (a *again) check(c *Check, of synod.NodeID, text, before synod.Answer, k int) {
	if text == synod.None {
		a.t.Claim(claimAgain, c == nil, "n%d judges %+v, and no text is chosen", a.id, c)
		return
	}
	ok := c != nil && c.Of == of && string(c.Text) == reference.HashOf(text) &&
		string(c.Before) == reference.HashOf(before)
	a.t.Claim(claimAgain, ok, "n%d judges %+v; the chosen text is %q of n%d", a.id, c, text, of)
	if !ok {
		return
	}
	calls := a.t.AskedFor(int(a.id), k, checking)
	if of == a.id {
		a.t.Claim(claimAgain, len(calls) == 0 && c.Marks == nil, "the author n%d judges its own text: %+v", a.id, c)
		return
	}
	if len(calls) == 0 {
		return // its memory has answered
	}
	call := &calls[len(calls)-1]
	d, _ := call.Prompt.Detail.(Checking)
	given, faithful, ok := verdictsOf(&call.Reply, d)
	var parts []string
	for _, p := range judged(text) {
		parts = append(parts, string(text[p.start:p.end]))
	}
	shown := slices.Sorted(slices.Values(d.Parts))
	same := slices.Equal(shown, slices.Sorted(slices.Values(parts))) && call.Prompt.Candidate == text &&
		d.Before == before
	for k, p := range parts {
		same = same && (!ok && c.Marks == nil || ok && k < len(c.Marks) && says(d.Parts, given, p,
			c.Marks[k]))
	}
	a.t.Claim(claimAgain, same && len(c.Marks) <= len(parts) && (!ok || c.Faithful == faithful),
		"n%d notes %+v of %q; its model was shown %+v and says %s", a.id, c, parts, d, call.Reply.Text)
}

// verdictsOf reads the verdicts of a simulated member, which writes nothing else.
func verdictsOf(r *synod.Reply, d Checking) (all []Verdict, faithful Verdict, ok bool) {
	said := map[string]Verdict{}
	if r.Status != synod.OK || json.Unmarshal([]byte(r.Text), &said) != nil {
		return nil, "", false
	}
	for k := range d.Parts {
		all = append(all, said[fmt.Sprintf("sentence_%d", k+1)])
	}
	return all, said["nothing_new"], len(said) > 0
}

// says reports whether a verdict on a sentence is among those that a model gave.
func says(shown []string, given []Verdict, sentence string, v Verdict) bool {
	for k, s := range shown {
		if s == sentence && given[k] == v {
			return true
		}
	}
	return false
}

// told compares what a member tells others with what it notes.
func (a *again) told(slot synod.Slot, c *Check) {
	var told parcel[Check]
	s := a.t.SentIn(int(a.id), slot)
	want := Check{}
	if c != nil {
		want = *c
		want.Old = ""
	}
	ok := s != nil && told.UnmarshalBinary(s.Body) == nil
	one, _ := json.Marshal(told.Value)
	other, _ := json.Marshal(want)
	a.t.Claim(claimAgain, ok && string(one) == string(other), "n%d tells the verdicts %s, and notes %s", a.id, one,
		other)
}

// verdicts are what all seats say of a text, by what the member heard.
func (a *again) verdicts(slot synod.Slot, own *Check, heard int) []*Check {
	all := make([]*Check, len(a.held))
	for _, m := range a.t.First(int(a.id), slot, heard) {
		var told parcel[Check]
		if own != nil && told.UnmarshalBinary(m.Body) == nil && told.Value.Of == own.Of &&
			told.Value.Text == own.Text &&
			told.Value.Before == own.Before {
			all[m.From] = &told.Value
		}
	}
	all[a.id] = own
	return all
}

// critics counts the seats, but the author, that contradict a sentence.
func critics(verdicts []*Check, author synod.NodeID, sentence int) (n int) {
	for by, c := range verdicts {
		if c != nil && synod.NodeID(by) != author && sentence < len(c.Marks) && c.Marks[sentence] == Contradicted {
			n++
		}
	}
	return n
}

// rewrites compares the text that the author of the chosen one sends in its place.
func (a *again) rewrites(author synod.NodeID, text synod.Answer, sent string, verdicts []*Check) {
	var disputed []string
	for k, p := range judged(text) {
		if critics(verdicts, author, k) > a.t.Case.F {
			disputed = append(disputed, string(text[p.start:p.end]))
		}
	}
	calls := a.t.AskedFor(int(a.id), 3, rewriting)
	if author != a.id || len(disputed) == 0 {
		a.t.Claim(claimAgain, sent == "" && len(calls) == 0, "n%d sends %q; the text is of n%d, and disputed are %q",
			a.id,
			sent, author, disputed)
		return
	}
	ok := len(calls) > 0
	if ok {
		c := &calls[len(calls)-1]
		d, _ := c.Prompt.Detail.(Rewriting)
		want, _, given := read.Answer(a.t.Question, &c.Reply, false)
		if !given || want == text {
			want = synod.None
		}
		ok = slices.Equal(d.Parts, disputed) && c.Prompt.Candidate == text && sent == string(want)
	}
	a.t.Claim(claimAgain, ok, "n%d sends %q in place of %q; disputed are %q: %+v", a.id, sent, text, disputed, calls)
}

// replacement is the text that the member takes for the new one.
func (a *again) replacement(author synod.NodeID, own string, heard int) synod.Answer {
	text := own
	if author != a.id {
		text = ""
		for _, m := range a.t.First(int(a.id), synod.Slot{Name: againSlot, Round: 3}, heard) {
			var sent parcel[struct{}]
			if m.From == author && sent.UnmarshalBinary(m.Body) == nil {
				text = sent.Text
			}
		}
	}
	x, ok := read.Canonical(a.t.Question, text)
	if !ok {
		return synod.None
	}
	return x
}

// stands compares what an author holds in the end: the new text, if more than F others confirm it.
func (a *again) stands(author synod.NodeID, text synod.Answer, r *Record, slot synod.Slot) {
	notes, d := a.t.Notes[a.id], &a.t.Diaries[a.id]
	last, want := notes[len(notes)-1], notes[0].Answer
	if author == a.id && confirmed(text, author, a.verdicts(slot, r.Again, d.Noted[3].Heard), a.t.Case.F) {
		want = text
	}
	a.t.Claim(claimAgain, last.Answer == want, "n%d holds %q in the end, and by the reference %q", a.id, last.Answer,
		want)
}

// confirmed reports whether a text replaces another one: all of it was judged and nothing is disputed, more than F
// members find nothing new in it, and at most F do.
func confirmed(text synod.Answer, author synod.NodeID, verdicts []*Check, f int) bool {
	faithful, against := 0, 0
	for by, c := range verdicts {
		if c != nil && synod.NodeID(by) != author {
			switch c.Faithful {
			case Supported:
				faithful++
			case Contradicted:
				against++
			}
		}
	}
	parts := judged(text)
	ok := len(parts) > 0 && len(parts) == len(partsOf(text)) && faithful > f && against <= f
	for k := range parts {
		ok = ok && critics(verdicts, author, k) <= f
	}
	return ok
}
