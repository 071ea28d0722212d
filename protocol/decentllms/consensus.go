package decentllms

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/core/robust"
	"synod.dev/synod/protocol/answer"
	"synod.dev/synod/protocol/broadcast"
)

// judge is phase 3: Eq. 1 for every answer, over the grades that all honest evaluators
// have.
func (m *member) judge(answers []answered, all []evaluated) *Record {
	record := &Record{Withheld: m.why, Latest: m.Me.Seat().Question.Salt}
	whole := m.p.score(record, answers, all, m.Me.Seat().F)
	for _, d := range m.first.Deliveries {
		if i := slices.IndexFunc(all, func(x evaluated) bool { return x.by == d.Sender }); i >= 0 && d.Signed != nil {
			record.Grades[i].Committed, record.Grades[i].CommitSignature = d.Signed.Value, d.Signed.Signature
		}
	}
	record.Salt = salt(record, whole)
	return record
}

// score records answers and grades, and the totals of the valid grades, which it returns.
// An evaluator without valid grades uses up the budget f, whether it is hostile or
// failing: of the others, at most f minus their number are hostile. With more than f of
// them the council has more faults than it tolerates.
func (p *DecentLLMs) score(record *Record, answers []answered, all []evaluated, f int) (whole []evaluated) {
	for _, a := range answers {
		record.Answers = append(record.Answers, a.WorkerAnswer)
	}
	for _, x := range all {
		g := EvaluatorGrades{By: x.by, Bottom: x.bottom, Value: x.value, Signature: x.signature}
		if x.bottom == "" {
			whole = append(whole, x)
			for _, i := range x.indexes(answers) {
				g.Grades = append(g.Grades, *x.grades[i])
			}
		}
		record.Grades = append(record.Grades, g)
	}
	if lost := len(all) - len(whole); lost > f {
		record.Undecided = fmt.Sprintf("%d of %d evaluators sent no grades; f is %d", lost, len(all), f)
	} else {
		p.total(record, answers, whole, f-lost)
	}
	return whole
}

// total aggregates the grades of every answer, at most f of them hostile.
func (p *DecentLLMs) total(record *Record, answers []answered, whole []evaluated, f int) {
	aggregate, _ := robust.Catalogue.Find(p.Aggregate) // Validate has found it
	var w robust.Workspace
	for i := range answers {
		if answers[i].Bottom != "" {
			continue
		}
		vectors := make([][]float64, len(whole))
		for k := range whole {
			vectors[k] = whole[k].grades[i][:]
		}
		r, err := aggregate.Of(&w, vectors, f)
		if err != nil { // not with a cast that Suits has let pass
			record.Undecided = err.Error()
			return
		}
		record.Answers[i].Total, record.Answers[i].Converged = &r.Total, r.Converged
	}
}

// salt returns the salt that follows from the latest record of the council's ledger, if it has one, and from what the
// evaluators revealed of what they had committed to (DL-4). The record alone, as in the paper, would be known to
// workers before they answer.
func salt(record *Record, whole []evaluated) []byte {
	h := sha256.New()
	if record.Latest != "" {
		fmt.Fprintf(h, "decentllms/latest/1\x00%s\x00", record.Latest)
	}
	for _, x := range whole {
		kept := slices.ContainsFunc(record.Grades, func(g EvaluatorGrades) bool {
			return g.By == x.by && bytes.Equal(g.Committed, commitment(x.by, x.nonce))
		})
		if kept {
			h.Write(binary.BigEndian.AppendUint32(nil, uint32(x.by)))
			h.Write(x.nonce[:])
		}
	}
	return h.Sum(nil)
}

// late is why an evaluator does not decide if it knows that delays exceeded a round:
// others may hold other answers and grades (DE-2). No f Byzantine evaluators and no
// workers can cause it (broadcast.Outcome.Broken).
const late = "delays were longer than a round"

// check returns the members that equivocated, ascending, and records whether any
// message came late.
func (m *member) check(record *Record) (suspects []synod.NodeID) {
	m.first.Recheck()
	all := slices.Concat(m.first.Deliveries, m.second.Deliveries)
	record.Evidence = broadcast.Proofs(all)
	for _, d := range all {
		record.Unsafe = record.Unsafe || d.Unsafe
		if d.Evidence != nil && !slices.Contains(suspects, d.Sender) {
			suspects = append(suspects, d.Sender)
		}
	}
	slices.Sort(suspects)
	if m.first.Broken() || m.second.Broken() {
		record.Undecided = late
	}
	return suspects
}

// best returns the answer with the highest total, and its workers. Between equal totals it
// returns the answer whose hash with the salt is the largest.
func best(record *Record) (top synod.Answer, from []synod.NodeID) {
	if record.Undecided != "" {
		return synod.None, nil
	}
	scored := record.scored()
	if len(scored) == 0 {
		record.Undecided = "no worker gave an answer"
		return synod.None, nil
	}
	top = slices.MaxFunc(scored, func(a, b WorkerAnswer) int {
		return cmp.Or(cmp.Compare(*a.Total, *b.Total),
			bytes.Compare(salted(a.Answer, record.Salt), salted(b.Answer, record.Salt)))
	}).Answer
	for _, a := range scored {
		if a.Answer == top {
			from = append(from, a.Of)
		}
	}
	return top, from
}

// scored returns the answers that have a total.
func (r *Record) scored() []WorkerAnswer {
	return slices.DeleteFunc(slices.Clone(r.Answers), func(a WorkerAnswer) bool { return a.Total == nil })
}

func salted(a synod.Answer, salt []byte) []byte {
	h := sha256.Sum256(append(append([]byte(a), 0), salt...))
	return h[:]
}

// reply signs and records what the evaluator replies to the user (DL-7).
func (m *member) reply(best synod.Answer, from, suspects []synod.NodeID, record *Record) synod.Answer {
	record.Signature = m.Me.Seat().Signer.Sign(ReplyBytes(best))
	r := answer.Held{Answer: best, Source: synod.Absent}
	if best != synod.None {
		r.Source, r.From = synod.Adopted, from
	}
	m.Note(1, r, synod.Opinion{Suspects: suspects, Record: record})
	return best
}
