package decentllms

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/core/sim"
	"synod.dev/synod/protocol"
	"synod.dev/synod/protocol/grade"
)

// troubled is a decision of three workers, of whom 1 equivocates and 2 is silent, and five evaluators, of whom 6
// broadcasts garbage and 7 gets no grades from its model.
func troubled() (*trial, outcome) {
	x := &trial{w: 3, e: 5, f: 2, p: New(), seed: 5,
		hostile: map[synod.NodeID]string{1: "twin", 2: "silent", 6: "garbage"},
		grade:   func(by synod.NodeID, _ synod.Answer) grade.Grades { return grade.Grades{float64(by), 10, 20} },
		says: func(c sim.Call) string {
			switch {
			case c.Node == 7:
				return "I grade nothing"
			case c.Node == 1:
				return fmt.Sprintf("Answer: %d", 10+c.ID) // another one for each of its machines
			}
			return ""
		}}
	return x, x.play()
}

func (x *trial) view(o *outcome, accepted synod.Answer) protocol.View {
	return protocol.View{Accepted: accepted, Cast: x.cast(), Check: o.keys.Signer(0, run),
		Name: func(id synod.NodeID) string { return fmt.Sprint("s", id) }}
}

// The panel says which answers and grades are missing and why, and shows every evaluator's grades and signed reply.
func TestPresent(t *testing.T) {
	x, o := troubled()
	got := x.p.Present(o.last, x.view(&o, "1"))
	if got.Key != "panel" || got.Voters != "evaluators" || got.Count != 5 {
		t.Errorf("%+v", got)
	}
	panel := got.Value.(*Panel)
	text, err := json.Marshal(panel.Answers)
	if err != nil {
		t.Fatal(err)
	}
	if s := string(text); s != `[{"worker":"s0","answer":"1","bottom":"","total":34,"converged":true},`+
		`{"worker":"s1","answer":null,"bottom":"equivocated","total":null,"converged":null},`+
		`{"worker":"s2","answer":null,"bottom":"silent","total":null,"converged":null}]` {
		t.Errorf("answers: %s", s)
	}
	var evaluators []string
	for _, e := range panel.Evaluators {
		reply := "none"
		if e.Reply != nil {
			reply = string(*e.Reply)
		}
		evaluators = append(evaluators, fmt.Sprintf("%s %v bottom %q, reply %s, signed %v", e.ID, e.Scores, e.Bottom,
			reply, e.Signed))
	}
	if want := []string{
		`s3 map[s0:[3 10 20 0 0]] bottom "", reply 1, signed true`,
		`s4 map[s0:[4 10 20 0 0]] bottom "", reply 1, signed true`,
		`s5 map[s0:[5 10 20 0 0]] bottom "", reply 1, signed true`,
		`s6 map[] bottom "unreadable", reply none, signed false`, `s7 map[] bottom "silent", reply 1, signed true`,
	}; !slices.Equal(evaluators, want) {
		t.Errorf("evaluators:\n%s", strings.Join(evaluators, "\n"))
	}
	if want := []string{
		"s1 has no answer: equivocated", "s2 has no answer: silent", `scores of 100: s0 34.0 ("1")`,
		"s6 gave no valid grades: unreadable", "s7 gave no valid grades: silent; ",
		"sent different messages to different members: s1",
	}; !slices.EqualFunc(got.Lines, want, strings.HasPrefix) {
		t.Errorf("lines:\n%s", strings.Join(got.Lines, "\n"))
	}
}

// A panel without trouble has the scores only. A score that did not converge and late messages are named.
func TestPresentLines(t *testing.T) {
	x := &trial{w: 2, e: 3, f: 1, p: New(), grade: func(_ synod.NodeID, a synod.Answer) grade.Grades {
		return grade.Grades{float64(a[0] - '0')}
	}}
	o := x.play()
	if got := x.p.Present(o.last, x.view(&o, "2")).Lines; !slices.Equal(got,
		[]string{`scores of 100: s0 1.0 ("1"), s1 2.0 ("2")`}) {
		t.Errorf("%q", got)
	}
	r := RecordOf(&o.last[2])
	r.Unsafe, r.Answers[1].Converged = true, false
	if got := x.p.Present(o.last, x.view(&o, "2")).Lines; len(got) != 2 ||
		got[0] != `scores of 100: s0 1.0 ("1"), s1 2.0 ("2") (not converged)` ||
		!strings.HasPrefix(got[1], "messages came late") {
		t.Errorf("%q", got)
	}
	r.Answers = []WorkerAnswer{{Of: 0, Bottom: "silent"}, {Of: 1, Bottom: "unreadable"}}
	r.Unsafe, r.Undecided = false, "no worker gave an answer"
	if got := x.p.Present(o.last, x.view(&o, "2")); !slices.Equal(got.Lines,
		[]string{"s0 has no answer: silent", "s1 has no answer: unreadable"}) ||
		got.Value.(*Panel).Undecided != r.Undecided {
		t.Errorf("%q", got.Lines)
	}
}

// The record of an evaluator whose reply was accepted is shown, or the first that has every worker and evaluator. What
// a Byzantine evaluator records cannot stop the program.
func TestPresentChoosesARecord(t *testing.T) {
	cast := []synod.Role{Evaluator, Evaluator, Evaluator, Worker}
	record := func(salt string, change func(*Record)) *Record {
		r := &Record{Answers: []WorkerAnswer{{Of: 3, Bottom: "silent"}}, Undecided: salt,
			Grades: []EvaluatorGrades{{By: 0, Bottom: "silent"}, {By: 1, Bottom: "silent"}, {By: 2, Bottom: "silent"}}}
		if change != nil {
			change(r)
		}
		return r
	}
	noSeat := func(r *Record) { r.Grades[2].By = 99 }
	answered := func(r *Record) {
		r.Answers[0] = WorkerAnswer{Of: 3, Answer: "7"}
		r.Grades[0].Bottom = "" // and has no grades
	}
	for what, c := range map[string]struct {
		records []*Record // of seats 0 to 2, who reply 0, 1 and 2
		accept  synod.Answer
		want    string // Undecided of the record that is shown; "": none is
	}{
		"the accepted reply":            {[]*Record{record("a", nil), record("b", nil), record("c", nil)}, "1", "b"},
		"the first reply is accepted":   {[]*Record{record("a", nil), record("b", nil), nil}, "0", "a"},
		"none is accepted":              {[]*Record{nil, record("b", nil), record("c", nil)}, "9", "b"},
		"none is accepted of the first": {[]*Record{record("a", nil), nil, nil}, "9", "a"},
		"no records":                    {[]*Record{nil, nil, nil}, "1", ""},
		"a seat that does not exist":    {[]*Record{record("a", noSeat), record("b", nil), nil}, "0", "b"},
		"no other record":               {[]*Record{record("a", noSeat), nil, nil}, "0", ""},
		"no grades of an answer":        {[]*Record{record("a", answered), nil, nil}, "0", "a"},
	} {
		last := make([]synod.Opinion, len(cast))
		for i, r := range c.records {
			if last[i].Answer = synod.Answer(fmt.Sprint(i)); r != nil {
				last[i].Record = r
			}
		}
		x := &trial{w: 1, e: 3, f: 1, p: New()}
		o := x.play()
		v := x.view(&o, c.accept)
		v.Cast = cast
		got := ""
		if shown := x.p.Present(last, v); shown != nil {
			got = shown.Value.(*Panel).Undecided
		}
		if got != c.want {
			t.Errorf("%s: shows %q, want %q", what, got, c.want)
		}
	}
}

// Answers are ranked by their totals, and equal totals by the bytes of the answers. The reply is the first of these, or
// of equal totals the one whose salted hash is the largest.
func TestRanked(t *testing.T) {
	total := func(x float64) *float64 { return &x }
	r := &Record{Answers: []WorkerAnswer{{Of: 0, Answer: "b", Total: total(50)}, {Of: 1, Bottom: "silent"},
		{Of: 2, Answer: "c", Total: total(70)}, {Of: 3, Answer: "a", Total: total(50)},
		{Of: 4, Answer: "c", Total: total(70)}}}
	if got := New().Ranked(&synod.Opinion{Record: r}); !slices.Equal(got, []synod.Answer{"c", "c", "a", "b"}) {
		t.Errorf("ranked %v", got)
	}
	if got := New().Ranked(&synod.Opinion{}); got != nil {
		t.Errorf("no record is ranked %v", got)
	}
	if top, from := best(r); top != "c" || !slices.Equal(from, []synod.NodeID{2, 4}) {
		t.Errorf("the best is %s of %v", top, from)
	}
	won := map[synod.Answer]bool{}
	for salt := range byte(20) {
		r := &Record{Salt: []byte{salt}, Answers: []WorkerAnswer{{Answer: "a", Total: total(50)},
			{Of: 1, Bottom: "silent"}, {Of: 2, Answer: "b", Total: total(50)}}}
		top, _ := best(r)
		slices.Reverse(r.Answers)
		if again, _ := best(r); again != top {
			t.Errorf("salt %d: %s or %s", salt, top, again)
		}
		won[top] = true
	}
	if len(won) != 2 {
		t.Errorf("the salt has no influence: %v", won)
	}
	zero := &Record{Answers: []WorkerAnswer{{Of: 1, Answer: "a", Total: total(0)}}}
	if top, from := best(zero); top != "a" || !slices.Equal(from, []synod.NodeID{1}) || zero.Undecided != "" {
		t.Errorf("the only answer, without a point: %s of %v, %s", top, from, zero.Undecided)
	}
	none := &Record{Answers: []WorkerAnswer{{Bottom: "silent"}}}
	if top, from := best(none); top != synod.None || from != nil || none.Undecided != "no worker gave an answer" {
		t.Errorf("no answer: %s of %v, %s", top, from, none.Undecided)
	}
}

// Workers are asked, evaluators vote. The evidence of an evaluator's record is returned.
func TestRolesAndEvidence(t *testing.T) {
	p, cast := New(), []synod.Role{Worker, Evaluator}
	for seat, worker := range []bool{true, false} {
		id := synod.NodeID(seat)
		if p.Asks(id, cast) != worker || p.Votes(id, cast) == worker {
			t.Errorf("%s: asked %v, votes %v", cast[seat], p.Asks(id, cast), p.Votes(id, cast))
		}
	}
	_, o := troubled()
	if got := p.Accusations(&o.last[3]); len(got) != 1 {
		t.Errorf("evidence against the worker that equivocated: %x", got)
	}
	if got := p.Accusations(&o.last[0]); got != nil {
		t.Errorf("a worker's evidence: %x", got)
	}
}
