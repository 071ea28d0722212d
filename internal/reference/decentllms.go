package reference

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math"

	"synod.dev/synod"
)

// DecentLLMs is phase 3 of DecentLLMs (§III.C) at one evaluator.
type DecentLLMs struct {
	F         int
	Aggregate string
	Answers   []synod.Answer // by worker; None: ⊥
	Grades    [][][]float64  // by evaluator, of the answers that are not ⊥; nil: ⊥
	Salt      []byte         // fixed after all answers
}

// Decide returns the totals, NaN for ⊥, how far from the right value each may be, and the answer with the highest
// total; between equal totals the larger hash of answer and salt decides. An evaluator without grades uses up F: with
// more than F of them nothing is decided. near reports that two totals are too near to one another to tell.
func (d *DecentLLMs) Decide() (best synod.Answer, totals, within []float64, near bool) {
	var graded [][][]float64
	for _, g := range d.Grades {
		if g != nil {
			graded = append(graded, g)
		}
	}
	lost, given := len(d.Grades)-len(graded), 0
	for _, a := range d.Answers {
		total, off := math.NaN(), 0.0
		if a != synod.None && lost <= d.F {
			var vectors [][]float64
			for _, g := range graded {
				vectors = append(vectors, g[given])
			}
			if x, w, ok := Total(d.Aggregate, vectors, d.F-lost); ok {
				total, off = x, w
			}
		}
		if a != synod.None {
			given++
		}
		totals, within = append(totals, total), append(within, off)
	}
	top := -1
	for i, total := range totals {
		if math.IsNaN(total) {
			continue
		}
		if top < 0 || total > totals[top] ||
			total == totals[top] && bytes.Compare(d.ticket(i), d.ticket(top)) > 0 {
			top = i
		}
	}
	if top < 0 {
		return synod.None, totals, within, false
	}
	for i := range totals {
		near = near || d.Answers[i] != d.Answers[top] && tooNear(totals, within, i, top)
	}
	return d.Answers[top], totals, within, near
}

// tooNear reports whether one cannot tell which of two totals is higher, nor that they are equal.
func tooNear(totals, within []float64, i, k int) bool {
	gap := math.Abs(totals[i] - totals[k])
	return gap <= within[i]+within[k] && (gap > 0 || within[i]+within[k] > 1e-6)
}

// ticket is the hash of an answer and the salt, which no answer contains: a zero byte is between them.
func (d *DecentLLMs) ticket(i int) []byte {
	h := sha256.New()
	h.Write([]byte(d.Answers[i]))
	h.Write([]byte{0})
	h.Write(d.Salt)
	return h.Sum(nil)
}

// Accept is what the user takes (DecentLLMs §III.C): an answer that f+1 evaluators replied, signed, unless another one
// has as many replies. lacking reports that fewer than f+1 replied.
func Accept(signed []synod.Answer, f int) (answer synod.Answer, lacking bool) {
	counts := map[synod.Answer]int{}
	for _, a := range signed {
		counts[a]++
	}
	enough := 0
	for a, n := range counts {
		if n > f {
			answer = a
			enough++
		}
	}
	if enough != 1 {
		answer = synod.None
	}
	return answer, len(signed) <= f
}

// NonceSize is the length of an evaluator's part of the salt.
const NonceSize = 16

// Marks is the second message of an evaluator: its part of the salt, and five grades of each answer; nil for ⊥.
type Marks struct {
	Nonce  []byte
	Grades [][]float64 // by worker
}

// ReadMarks reads it: the part of the salt, and for each worker a zero, or a one and five numbers of eight bytes. It is
// not ok unless exactly the answers that are not ⊥ have grades, each from 0 to 20.
func ReadMarks(body []byte, answers []synod.Answer) (m Marks, ok bool) {
	r := bytesReader{left: body}
	m.Nonce = r.take(NonceSize)
	for _, a := range answers {
		graded := r.number(1)
		if graded > 1 || (graded == 1) != (a != synod.None) {
			return m, false
		}
		var grades []float64
		for range 5 * graded {
			high := r.number(4)
			x := math.Float64frombits(uint64(high)<<32 | uint64(r.number(4)))
			if !(x >= 0 && x <= 20) {
				return m, false
			}
			grades = append(grades, x)
		}
		m.Grades = append(m.Grades, grades)
	}
	return m, !r.bad && len(r.left) == 0
}

// Commitment is what an evaluator broadcasts with the answers, so that its part of the salt is fixed and nobody knows
// it.
func Commitment(by synod.NodeID, nonce []byte) []byte {
	h := sha256.New()
	h.Write([]byte("decentllms/salt/1"))
	h.Write([]byte{byte(by >> 24), byte(by >> 16), byte(by >> 8), byte(by)})
	h.Write(nonce)
	return h.Sum(nil)
}

// Salt is the hash of the latest record of the ledger, if there is one, and of the parts of all evaluators whose grades
// count and who reveal what they committed to. marks and committed are by evaluator; marks of nil are ⊥.
func Salt(latest string, evaluators []synod.NodeID, marks []*Marks, committed [][]byte) []byte {
	h := sha256.New()
	if latest != "" {
		h.Write([]byte("decentllms/latest/1\x00" + latest + "\x00"))
	}
	for k, by := range evaluators {
		if marks[k] != nil && bytes.Equal(committed[k], Commitment(by, marks[k].Nonce)) {
			h.Write([]byte{byte(by >> 24), byte(by >> 16), byte(by >> 8), byte(by)})
			h.Write(marks[k].Nonce)
		}
	}
	return h.Sum(nil)
}

// ReadGrades reads the five grades that a simulated member writes, from 0 to 20, under the names of DecentLLMs'
// criteria.
func ReadGrades(r *synod.Reply) (grades [5]float64, ok bool) {
	if r.Status != synod.OK {
		return grades, false
	}
	return fiveGrades([]byte(r.Text))
}

// ReadAllGrades reads what a simulated member writes of n answers at once: the grades of each, and nothing else.
func ReadAllGrades(r *synod.Reply, n int) (all [][5]float64, ok bool) {
	said := map[string]json.RawMessage{}
	if r.Status != synod.OK || json.Unmarshal([]byte(r.Text), &said) != nil || len(said) != n {
		return nil, false
	}
	for k := range n {
		grades, ok := fiveGrades(said[fmt.Sprint("answer_", k+1)])
		if !ok {
			return nil, false
		}
		all = append(all, grades)
	}
	return all, true
}

func fiveGrades(object []byte) (grades [5]float64, ok bool) {
	said := map[string]float64{}
	if json.Unmarshal(object, &said) != nil || len(said) != len(grades) {
		return grades, false
	}
	for k, name := range []string{"factual_contradiction", "factual_fabrication", "instruction_inconsistency",
		"context_inconsistency", "logical_inconsistency"} {
		x, has := said[name]
		if !has || !(x >= 0 && x <= 20) {
			return grades, false
		}
		grades[k] = x
	}
	return grades, true
}
