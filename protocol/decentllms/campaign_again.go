package decentllms

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"synod.dev/synod"
	"synod.dev/synod/core/wire"
	"synod.dev/synod/internal/reference"
	"synod.dev/synod/llm/read"
	"synod.dev/synod/protocol"
	"synod.dev/synod/protocol/answer"
	"synod.dev/synod/protocol/broadcast"
	"synod.dev/synod/protocol/check"
	"synod.dev/synod/protocol/grade"
)

// held is what an evaluator holds by the reference, from its diary.
type held struct {
	first, second *reference.Broadcast
	answers       []synod.Answer // by worker; None: ⊥
	reasons       []string       // by worker, as evaluators are shown them
	marks         []*reference.Marks
	committed     [][]byte // by evaluator
}

// replayed plays the broadcasts of an evaluator again; nil if its diary does not tell what came in time.
func replayed(t *check.Trace, h *panelist) *held {
	p := t.Protocol.(*DecentLLMs)
	g, marks := p.answers(t.Case.Cast, t.Case.F, check.Pace), p.marks(t.Case.Cast, t.Case.F, check.Pace)
	r, ok := &held{}, false
	if r.first, ok = broadcast.Again(t, "I-DL-D", &g, h.id, broadcast.Said(t, &g, h.id), marks.End()); !ok {
		return nil
	}
	if r.second, ok = broadcast.Again(t, "I-DL-D", &marks, h.id, broadcast.Said(t, &marks, h.id), 0); !ok {
		return nil
	}
	broadcast.Relays(t, "I-DL-D", &g, r.first)
	broadcast.Relays(t, "I-DL-D", &marks, r.second)
	for _, d := range r.first.All {
		switch {
		case t.Case.Cast[d.Sender] == Evaluator:
			r.committed = append(r.committed, d.Value)
		default:
			a, reason := synod.None, ""
			if d.Given {
				a, reason = answerIn(t, d.Value)
			}
			r.answers, r.reasons = append(r.answers, a), append(r.reasons, reason)
		}
	}
	for _, d := range r.second.All {
		if m, ok := reference.ReadMarks(d.Value, r.answers); ok && d.Given {
			r.marks = append(r.marks, &m)
		} else {
			r.marks = append(r.marks, nil)
		}
	}
	return r
}

// answerIn reads what a worker broadcast: None if it cannot be read, and the reasoning as evaluators are shown it.
func answerIn(t *check.Trace, value []byte) (synod.Answer, string) {
	var r synod.Response
	if r.UnmarshalBinary(value) != nil {
		return synod.None, ""
	}
	a, _ := read.Canonical(t.Question, string(r.Answer))
	seat := synod.Seat{Question: t.Question, Guards: t.Guards}
	return a, answer.Shown(&seat, r.Rationale, t.Protocol.(*DecentLLMs).Rationale)
}

// bottomOf is why a broadcast gave nothing.
func bottomOf(d *reference.Delivered, readable bool) string {
	switch {
	case d.Given && readable:
		return ""
	case d.Given:
		return "unreadable"
	case d.Twice:
		return "equivocated"
	}
	return "silent"
}

// checkRecord compares the record of an evaluator with what it was sent.
func checkRecord(t *check.Trace, h *panelist) {
	again := replayed(t, h)
	if again == nil {
		return
	}
	workers, evaluators := members(t.Case.Cast)
	ok := len(h.record.Answers) == len(workers) && len(h.record.Grades) == len(evaluators)
	if t.Claim("I-DL-D", ok, "the record of n%d has %d answers and %d grades", h.id, len(h.record.Answers),
		len(h.record.Grades)); !ok {
		return
	}
	for k, a := range h.record.Answers {
		d := deliveredBy(again.first, workers[k])
		same := a.Of == workers[k] && a.Answer == again.answers[k] && bytes.Equal(a.Value, d.Value) &&
			a.Bottom == bottomOf(d, again.answers[k] != synod.None)
		t.Claim("I-DL-D", same, "n%d holds %+v; the reference %q of %+v", h.id, a, again.answers[k], d)
	}
	for k := range h.record.Grades {
		checkGrades(t, h, k, again)
	}
	salt := reference.Salt(t.Question.Salt, evaluators, again.marks, again.committed)
	t.Claim("I-DL-D", bytes.Equal(h.record.Salt, salt), "n%d decides ties with the salt %x, and the reference with %x",
		h.id, h.record.Salt, salt)
	checkDelays(t, h, again)
	checkCalls(t, h, again)
}

func deliveredBy(b *reference.Broadcast, id synod.NodeID) *reference.Delivered {
	return &b.All[slices.IndexFunc(b.All, func(d reference.Delivered) bool { return d.Sender == id })]
}

// checkGrades compares the grades of one evaluator.
func checkGrades(t *check.Trace, h *panelist, k int, again *held) {
	g, m := &h.record.Grades[k], again.marks[k]
	d := &again.second.All[k]
	var want []grade.Grades
	if m != nil {
		for _, x := range m.Grades {
			if x != nil {
				want = append(want, grade.Grades(x))
			}
		}
	}
	same := g.By == d.Sender && g.Bottom == bottomOf(d, m != nil) && slices.Equal(g.Grades, want) &&
		bytes.Equal(g.Committed, again.committed[k])
	t.Claim("I-DL-D", same, "n%d has the grades %+v; the reference %v of %+v, committed to %x", h.id, g, want, d,
		again.committed[k])
}

// checkDelays compares whom the evaluator suspects, and whether its record is unsafe or decides nothing because
// messages came too late.
func checkDelays(t *check.Trace, h *panelist, again *held) {
	var suspects []synod.NodeID
	unsafe := false
	for _, d := range slices.Concat(again.first.All, again.second.All) {
		unsafe = unsafe || d.Unsafe
		if d.Two && !slices.Contains(suspects, d.Sender) {
			suspects = append(suspects, d.Sender)
		}
	}
	slices.Sort(suspects)
	t.Claim("I-DL-9", slices.Equal(h.Suspects, suspects) && h.record.Unsafe == unsafe,
		"n%d suspects %v, unsafe %v; the reference %v, %v", h.id, h.Suspects, h.record.Unsafe, suspects, unsafe)
	broken := again.first.Broken() || again.second.Broken()
	t.Claim("I-DL-9", (h.record.Undecided == late) == broken, "n%d decides %q (%s); members that signed late "+
		"values: %v and %v", h.id, h.Answer, h.record.Undecided, again.first.LateSigners, again.second.LateSigners)
}

// checkCalls checks that an evaluator sends the grades that its model gave, of all answers or of none.
func checkCalls(t *check.Trace, h *panelist, again *held) {
	p := t.Protocol.(*DecentLLMs)
	given := map[judged]grade.Grades{}
	for _, c := range t.Diaries[h.id].Asked {
		if c.Prompt.Purpose != synod.Answering {
			checkPrompt(t, h, &c.Prompt, again)
		}
		gradesIn(&c, given)
	}
	whole := true
	for k, a := range again.answers {
		_, graded := given[judged{a, again.reasons[k]}]
		whole = whole && (graded || a == synod.None)
	}
	g := p.marks(t.Case.Cast, t.Case.F, check.Pace)
	sent := broadcast.Said(t, &g, h.id)
	t.Claim("I-DL-D", (sent != nil) == whole, "n%d has grades of all answers %q: %v, %v, and sends %x; it "+
		"withholds: %s", h.id, again.answers, whole, given, sent, h.record.Withheld)
	t.Claim("I-DL-D", (h.record.Withheld == "") == whole, "n%d withholds its grades because %q; it has all: %v", h.id,
		h.record.Withheld, whole)
	checkTries(t, h, again, given)
	m, ok := reference.ReadMarks(sent, again.answers)
	for k, a := range again.answers {
		if sent == nil || a == synod.None || !whole {
			continue
		}
		x := given[judged{a, again.reasons[k]}]
		t.Claim("I-DL-D", ok && slices.Equal(m.Grades[k], x[:]), "n%d sends the grades %v of %q, and its model gave %v",
			h.id, m.Grades, a, x)
	}
}

// checkTries checks that an evaluator has asked twice for grades that it lacks.
func checkTries(t *check.Trace, h *panelist, again *held, given map[judged]grade.Grades) {
	for k, a := range again.answers {
		if _, graded := given[judged{a, again.reasons[k]}]; graded || a == synod.None {
			continue
		}
		tries := 0
		for _, c := range t.Diaries[h.id].Asked {
			shown := c.Prompt.Peers
			if c.Prompt.Purpose != grade.All {
				shown = []synod.Rated{{Answer: c.Prompt.Candidate, Rationale: c.Prompt.Rationale}}
			}
			for _, r := range shown {
				if r.Answer == a && r.Rationale == again.reasons[k] {
					tries++
				}
			}
		}
		t.Claim("I-DL-D", tries >= 2, "n%d has no grades of %q and asked %d times", h.id, a, tries)
	}
}

// spoiledGrades makes some grades that simulated members write unreadable: one more than there are, one less, or one
// out of range. Of a list of answers there may be one more or one less, too.
func spoiledGrades(t *check.Trace, by synod.NodeID, q *synod.Prompt, r synod.Reply) synod.Reply {
	h := check.Mix(t.Case.Seed ^ uint64(by)<<8)
	if q.Purpose == grade.All && h%32 == 0 {
		return spoiledList(h, len(q.Peers), r)
	}
	said := map[string]float64{}
	if q.Purpose != grade.One || h%32 > 0 || json.Unmarshal([]byte(r.Text), &said) != nil || len(said) == 0 {
		return r
	}
	names := slices.Sorted(maps.Keys(said))
	switch name := names[h>>16%uint64(len(names))]; h >> 8 % 4 {
	case 0:
		said["overall"] = said[name]
	case 1:
		delete(said, name)
	case 2:
		said[name] = grade.Max + 1
	default:
		said[name] = -1
	}
	b, _ := json.Marshal(said) // numbers
	return synod.Reply{Status: synod.OK, Text: string(b)}
}

// spoiledList adds the grades of an answer that does not exist, or removes those of the last of n answers.
func spoiledList(h uint64, n int, r synod.Reply) synod.Reply {
	said := map[string]json.RawMessage{}
	if json.Unmarshal([]byte(r.Text), &said) != nil || len(said) != n {
		return r
	}
	if last := fmt.Sprint("answer_", n); h>>8%2 == 0 {
		said[fmt.Sprint("answer_", n+1)] = said[last]
	} else {
		delete(said, last)
	}
	b, _ := json.Marshal(said) // objects
	return synod.Reply{Status: synod.OK, Text: string(b)}
}

// judged is what an evaluator grades.
type judged struct {
	answer synod.Answer
	reason string
}

// gradesIn adds the grades in a reply, of answers that have none yet.
func gradesIn(c *check.Asked, given map[judged]grade.Grades) {
	add := func(a synod.Answer, reason string, g grade.Grades) {
		if _, known := given[judged{a, reason}]; !known {
			given[judged{a, reason}] = g
		}
	}
	switch c.Prompt.Purpose {
	case grade.One:
		if g, ok := reference.ReadGrades(&c.Reply); ok {
			add(c.Prompt.Candidate, c.Prompt.Rationale, g)
		}
	case grade.All:
		if all, ok := reference.ReadAllGrades(&c.Reply, len(c.Prompt.Peers)); ok {
			for k, p := range c.Prompt.Peers {
				add(p.Answer, p.Rationale, all[k])
			}
		}
	case synod.Weighing:
		if c.Reply.Status == synod.OK && c.Reply.Typed && c.Reply.Value <= 0 {
			add(c.Prompt.Candidate, c.Prompt.Rationale, grade.Uniform(grade.Max*math.Exp(c.Reply.Value)))
		}
	}
}

// checkPrompt checks that an evaluator judges answers that it holds, with the reasoning that came with them.
func checkPrompt(t *check.Trace, h *panelist, q *synod.Prompt, again *held) {
	shown := q.Peers
	if q.Purpose != grade.All {
		shown = []synod.Rated{{Answer: q.Candidate, Rationale: q.Rationale}}
	}
	for _, s := range shown {
		ok := false
		for k, a := range again.answers {
			ok = ok || a != synod.None && a == s.Answer && s.Rationale == again.reasons[k]
		}
		t.Claim("I-DL-D", ok, "n%d judges %q with the reasoning %q; it holds %q", h.id, s.Answer, s.Rationale,
			again.answers)
	}
}

// checkWorker checks that an honest worker broadcasts the answer that it noted.
func checkWorker(t *check.Trace, i int) {
	p, notes := t.Protocol.(*DecentLLMs), t.Notes[i]
	if len(notes) == 0 || !t.Plain(synod.NodeID(i)) {
		return
	}
	g := p.answers(t.Case.Cast, t.Case.F, check.Pace)
	said := broadcast.Said(t, &g, synod.NodeID(i))
	told, _ := answerIn(t, said)
	t.Claim("I-DL-D", (said != nil) == (notes[0].Answer != synod.None) && told == notes[0].Answer,
		"worker n%d answers %q and broadcasts %q", i, notes[0].Answer, said)
	calls := len(t.Diaries[i].Asked)
	t.Claim("I-DL-D", calls == 1 || calls == 2 && (notes[0].Answer == synod.None || !gave(t, &t.Diaries[i].Asked[0])),
		"worker n%d calls its model %d times", i, calls)
}

// gave reports whether a model gave an answer.
func gave(t *check.Trace, c *check.Asked) bool {
	a, _, ok := read.Answer(t.Question, &c.Reply, false)
	return ok && a != synod.None
}

// marksBody is an evaluator's second message by itself, without the answers that it is about: insiders of campaigns
// change its numbers.
type marksBody struct {
	Nonce  []byte
	Grades []*grade.Grades
}

// AppendBinary implements encoding.BinaryAppender.
func (m *marksBody) AppendBinary(b []byte) ([]byte, error) {
	all := evaluatorGrades{grades: m.Grades}
	copy(all.nonce[:], m.Nonce)
	return append(b, all.encode()...), nil
}

// UnmarshalBinary implements encoding.BinaryUnmarshaler. It takes any numbers.
func (m *marksBody) UnmarshalBinary(b []byte) error {
	r := wire.NewReader(b, len(b))
	m.Nonce, m.Grades = bytes.Clone(r.Fixed(nonceSize)), nil
	for r.Len() > 0 && !r.Bad() {
		if graded := r.Uint(1); graded == 0 {
			m.Grades = append(m.Grades, nil)
			continue
		}
		g := new(grade.Grades)
		for k := range g {
			g[k] = math.Float64frombits(r.Uint(8))
		}
		m.Grades = append(m.Grades, g)
	}
	return r.End()
}

// checkVerified checks that a third party accepts the record of an honest evaluator, and none that was changed.
func checkVerified(t *check.Trace, h *panelist) {
	question := t.Question
	verify := func(answer synod.Answer, r *Record) error {
		o := *h.Opinion
		o.Answer, o.Record = answer, r
		_, err := t.Protocol.(*DecentLLMs).Verify(protocol.VerifyInput{Self: h.id, Opinion: &o, Question: question,
			N: t.Case.N, Cast: t.Case.Cast, F: t.Case.F, Check: t.Verifier,
			Name: func(id synod.NodeID) string { return "n" + strconv.Itoa(int(id)) }})
		return err
	}
	err := verify(h.Answer, h.record)
	t.Claim("I-DL-3", err == nil, "a third party rejects the record of n%d: %v", h.id, err)
	if answer, r, what := changed(h, t.Case.Seed); what != "" {
		t.Claim("I-DL-3", verify(answer, r) != nil, "a third party accepts the record of n%d with %s", h.id, what)
	}
	other := *t.Question
	other.Salt = "another head of the ledger"
	question = &other
	t.Claim("I-DL-3", verify(h.Answer, h.record) != nil, "a third party accepts the record of n%d for a question that "+
		"names another head of the ledger", h.id)
}

// changed returns an answer and a record that say something else than those of an evaluator; "": it has nothing to
// change.
func changed(h *panelist, seed uint64) (a synod.Answer, r *Record, what string) {
	p := *h.record
	p.Answers, p.Grades = slices.Clone(p.Answers), slices.Clone(p.Grades)
	x, g := &p.Answers[seed>>8%uint64(len(p.Answers))], &p.Grades[seed>>16%uint64(len(p.Grades))]
	switch seed % 8 {
	case 0:
		return h.Answer + "1", &p, "another answer"
	case 1:
		p.Signature = nil
		return h.Answer, &p, "an unsigned reply"
	case 2:
		p.Salt = append(bytes.Clone(p.Salt), 0)
		return h.Answer, &p, "another salt"
	case 3:
		p.Grades = p.Grades[1:]
		return h.Answer, &p, "an evaluator less"
	case 4:
		if x.Total != nil {
			more := *x.Total + 1
			x.Total = &more
			return h.Answer, &p, "another total"
		}
	case 5:
		if x.Value != nil {
			x.Value = append(bytes.Clone(x.Value), 0)
			return h.Answer, &p, "another value of a worker"
		}
	case 6:
		if len(g.Grades) > 0 {
			g.Grades = slices.Clone(g.Grades)
			g.Grades[0][0] = 10 - g.Grades[0][0]/2
			return h.Answer, &p, "another grade"
		}
	case 7:
		if x.Of++; len(p.Answers) > 0 {
			return h.Answer, &p, "another worker"
		}
	}
	return "", nil, ""
}
