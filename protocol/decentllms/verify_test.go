package decentllms

import (
	"fmt"
	"slices"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/protocol"
	"synod.dev/synod/protocol/grade"
)

// [DL-7] [BB-5] What a Byzantine evaluator can make of true signatures: it puts
// answers, grades and salt in the record as it likes, computes totals and reply again,
// and signs. Whoever checks the record sees it.
func TestVerifyForged(t *testing.T) {
	good := grade.Grades{18, 18, 18, 18, 18}
	x := &trial{w: 3, e: 5, f: 2, p: New(), seed: 5, grade: func(_ synod.NodeID, a synod.Answer) grade.Grades {
		if a == "3" {
			return grade.Grades{1, 1, 1, 1, 1}
		}
		return good
	}}
	q := &synod.Question{Text: "?", Form: synod.Number}
	salted := *q
	salted.Salt = "ab"
	for what, forge := range map[string]func(*Record){
		"nothing": func(*Record) {},
		"answers with another's grades": func(r *Record) {
			r.Answers[0], r.Answers[2] = r.Answers[2],
				r.Answers[0]
		},
		"the grades of one evaluator three times": func(r *Record) {
			r.Grades[1], r.Grades[2] = r.Grades[0],
				r.Grades[0]
		},
		"fewer evaluators":                    func(r *Record) { r.Grades = r.Grades[:1] },
		"evaluators in another order":         func(r *Record) { slices.Reverse(r.Grades) },
		"no evaluators":                       func(r *Record) { r.Grades = nil },
		"no answers":                          func(r *Record) { r.Answers = nil },
		"an evaluator's message as an answer": func(r *Record) { r.Answers[0].Of = 3 },
		"a worker without a value or ⊥": func(r *Record) {
			r.Answers[0].Value, r.Answers[0].Signature = nil,
				nil
		},
		"an evaluator without a value or ⊥": func(r *Record) {
			r.Grades[0].Value, r.Grades[0].Signature = nil,
				nil
		},
		"another salt":                    func(r *Record) { r.Salt = []byte("the one I like") },
		"no salt":                         func(r *Record) { r.Salt = nil },
		"a head of the ledger":            func(r *Record) { r.Latest = "cd" },
		"a signed answer as silent":       func(r *Record) { r.Answers[0].Bottom = "silent" },
		"signed grades as silent":         func(r *Record) { r.Grades[0].Bottom = "silent" },
		"a commitment that nobody signed": func(r *Record) { r.Grades[1].Committed = []byte("x") },
		"the commitment of another":       func(r *Record) { r.Grades[1].Committed = r.Grades[0].Committed },
		"grades that were signed as an answer": func(r *Record) {
			r.Grades[0].Value, r.Grades[0].Signature = r.Grades[0].Committed, r.Grades[0].CommitSignature
		},
	} {
		o := x.play()
		h := o.held[0]
		forge(h.Record)
		answers, all := x.onRecord(h.Record)
		again := &Record{}
		x.p.score(again, answers, all, x.f)
		for i := range h.Answers {
			h.Answers[i].Total = again.Answers[i].Total
		}
		h.Undecided = again.Undecided
		top, _ := best(h.Record)
		h.Signature = o.keys.Signer(h.id, run).Sign(ReplyBytes(top))
		_, err := x.p.Verify(protocol.VerifyInput{
			Self: h.id, Opinion: &synod.Opinion{Answer: top, Record: h.Record}, Question: q, N: x.w + x.e,
			Cast: x.cast(), F: x.f, Check: o.keys.Signer(0, run),
			Name: func(id synod.NodeID) string { return fmt.Sprint(id) },
		})
		if (err == nil) != (what == "nothing") {
			t.Errorf("%s: %v", what, err)
		}
		if _, err := x.p.Verify(protocol.VerifyInput{
			Self: h.id, Opinion: &synod.Opinion{Answer: top, Record: h.Record}, Question: &salted, N: x.w + x.e,
			Cast: x.cast(), F: x.f, Check: o.keys.Signer(0, run),
			Name: func(id synod.NodeID) string { return fmt.Sprint(id) },
		}); err == nil {
			t.Errorf("%s: the record without the head of the ledger is accepted for a question with it", what)
		}
	}
}

// onRecord is what a record says, signed or not.
func (x *trial) onRecord(r *Record) (answers []answered, all []evaluated) {
	for _, a := range r.Answers {
		answers = append(answers, answered{WorkerAnswer: a})
	}
	for _, g := range r.Grades {
		m := evaluated{by: g.By, bottom: g.Bottom, value: g.Value, signature: g.Signature}
		m.grades = make([]*grade.Grades, len(answers))
		k := 0
		for i, a := range answers {
			if a.Bottom == "" && k < len(g.Grades) {
				m.grades[i] = &g.Grades[k]
				k++
			}
		}
		all = append(all, m)
	}
	return answers, all
}
