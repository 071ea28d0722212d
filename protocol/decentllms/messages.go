package decentllms

import (
	"crypto/sha256"
	"encoding/binary"
	"math"

	"synod.dev/synod"
	"synod.dev/synod/core/wire"
	"synod.dev/synod/protocol/grade"
)

// maxAnswer is the largest length of an answer in a worker's message, in bytes, including
// the other fields of a Response.
const maxAnswer = 400

// nonceSize is the length of the part of the salt of one evaluator.
const nonceSize = 16

// marksSize returns the length of an evaluator's message with the grades of the given
// number of workers.
func marksSize(workers int) int { return nonceSize + workers*(1+8*len(grade.Grades{})) }

// evaluatorGrades is an evaluator's message in the second phase: the nonce that it committed to, and
// its grades of every worker's answer, nil for ⊥.
type evaluatorGrades struct {
	nonce  [nonceSize]byte
	grades []*grade.Grades // by worker
}

// encode writes the nonce and, for each worker, a 0, or a 1 and five numbers.
func (m *evaluatorGrades) encode() []byte {
	b := append([]byte(nil), m.nonce[:]...)
	for _, g := range m.grades {
		if g == nil {
			b = append(b, 0)
			continue
		}
		b = append(b, 1)
		for _, x := range g {
			b = binary.BigEndian.AppendUint64(b, math.Float64bits(x))
		}
	}
	return b
}

// decode reads grades for exactly those of the answers that are not ⊥, every number in its
// range. Any other message is ⊥ for all evaluators [I-DL-6].
func (m *evaluatorGrades) decode(b []byte, answers []answered) error {
	r := wire.NewReader(b, len(b))
	copy(m.nonce[:], r.Fixed(nonceSize))
	m.grades = make([]*grade.Grades, len(answers))
	for i := range answers {
		graded := r.Uint(1)
		r.Require(graded <= 1 && (graded == 1) == (answers[i].Bottom == ""))
		if graded == 0 {
			continue
		}
		m.grades[i] = new(grade.Grades)
		for j := range m.grades[i] {
			m.grades[i][j] = math.Float64frombits(r.Uint(8))
		}
		r.Require(m.grades[i].Valid())
	}
	return r.End()
}

// commitment returns what binds an evaluator to its part of the salt before it reveals it.
func commitment(by synod.NodeID, nonce [nonceSize]byte) []byte {
	b := binary.BigEndian.AppendUint32([]byte("decentllms/salt/1"), uint32(by))
	sum := sha256.Sum256(append(b, nonce[:]...))
	return sum[:]
}

// ReplyBytes returns what an evaluator signs when it replies to the user. A third party
// needs it to check a Record. The answer may be None. The signature is bound to the run.
func ReplyBytes(a synod.Answer) []byte { return append([]byte("decentllms/reply/1\x00"), a...) }
