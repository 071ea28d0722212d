package decentllms

import (
	"fmt"
	"strings"

	"synod.dev/synod"
	"synod.dev/synod/protocol/grade"
)

// Record is an evaluator's record of a decision: what the workers answered, how the
// evaluators graded, and who signed it (DL-7). At all honest evaluators it is the
// same, apart from Withheld and Evidence, which is what this evaluator saw, and signatures: the
// author of a value can make several valid ones of it.
type Record struct {
	Answers   []WorkerAnswer    `json:"answers"` // ascending by worker
	Grades    []EvaluatorGrades `json:"grades"`  // ascending by evaluator
	Salt      []byte            `json:"salt,omitempty"`
	Latest    string            `json:"latest,omitempty"`    // the root of the ledger in the salt (synod.Question.Salt)
	Signature []byte            `json:"signature,omitempty"` // the evaluator's, under its reply to the user
	Withheld  string            `json:"withheld,omitempty"`  // why this evaluator sent no grades; "" if it did
	Unsafe    bool              `json:"unsafe,omitempty"`    // the bound on delays seems to have been broken
	Undecided string            `json:"undecided,omitempty"` // why there is no decision; "" if there is one
	// that members signed two values of one broadcast, as broadcast.Evidence encodes it
	Evidence [][]byte `json:"evidence,omitempty"`
}

// WorkerAnswer is what a worker broadcast.
type WorkerAnswer struct {
	Of        synod.NodeID `json:"of"`
	Answer    synod.Answer `json:"answer,omitempty"`
	Bottom    string       `json:"bottom,omitempty"` // why there is no answer (⊥); "" if there is one
	Total     *float64     `json:"total,omitempty"`  // the aggregated score; nil: none
	Converged bool         `json:"converged,omitempty"`
	Value     []byte       `json:"value,omitempty"` // the bytes that the worker broadcast and signed, readable or not
	Signature []byte       `json:"signature,omitempty"`
}

// EvaluatorGrades is what an evaluator broadcast.
type EvaluatorGrades struct {
	By        synod.NodeID   `json:"by"`
	Grades    []grade.Grades `json:"grades,omitempty"` // of the answers that are not ⊥, ascending by worker
	Bottom    string         `json:"bottom,omitempty"`
	Value     []byte         `json:"value,omitempty"` // the bytes that the evaluator broadcast and signed
	Signature []byte         `json:"signature,omitempty"`
	// Committed is what the evaluator broadcast with the answers and signed: a digest
	// of the nonce that it reveals with its grades. It is nil for ⊥.
	Committed       []byte `json:"committed,omitempty"`
	CommitSignature []byte `json:"commit_signature,omitempty"`
}

// RecordOf returns the record of an opinion, or nil if it has none that can be read.
func RecordOf(o *synod.Opinion) *Record {
	r, err := synod.RecordOf[Record](o)
	if err != nil {
		return nil
	}
	return r
}

// Accusations returns the evidence in an evaluator's record.
func (p *DecentLLMs) Accusations(o *synod.Opinion) [][]byte {
	if r := RecordOf(o); r != nil {
		return r.Evidence
	}
	return nil
}

// String returns the score of each answer, and what is wrong.
func (r *Record) String() string {
	var s strings.Builder
	s.WriteString("panel")
	for _, a := range r.Answers {
		if a.Total != nil {
			fmt.Fprintf(&s, " n%d %s=%.2f", a.Of, a.Answer, *a.Total)
		} else {
			fmt.Fprintf(&s, " n%d ⊥ %s", a.Of, a.Bottom)
		}
	}
	for _, g := range r.Grades {
		if g.Bottom != "" {
			fmt.Fprintf(&s, " marks of n%d ⊥ %s", g.By, g.Bottom)
		}
	}
	if r.Unsafe {
		s.WriteString(" unsafe")
	}
	if r.Undecided != "" {
		fmt.Fprintf(&s, " undecided: %s", r.Undecided)
	}
	return s.String()
}
