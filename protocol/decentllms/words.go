package decentllms

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"math"

	"synod.dev/synod"
	"synod.dev/synod/protocol/grade"
)

// maxAnswer is the room for an answer in a worker's value, in bytes, what a
// Response needs beside its strings included.
const maxAnswer = 400

// nonceSize is the length of what an evaluator adds to the salt.
const nonceSize = 16

// marksSize is the length of an evaluator's marks of so many workers.
func marksSize(workers int) int { return nonceSize + workers*(1+8*len(grade.Grades{})) }

var errMarks = errors.New("decentllms: malformed marks")

// marks are what an evaluator says in the second phase: what it had committed to,
// and its marks of every worker's answer, nil where that is ⊥.
type marks struct {
	nonce  [nonceSize]byte
	grades []*grade.Grades // by worker
}

// encode writes the nonce and for each worker a 0, or a 1 and five numbers.
func (m *marks) encode() []byte {
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

// decode reads marks of these answers: one for each that is not ⊥ and none for the
// rest, every number in its range. Anything else is ⊥ for all alike [I-DL-6].
func (m *marks) decode(b []byte, answers []answered) error {
	if len(b) < nonceSize {
		return errMarks
	}
	m.nonce, b = [nonceSize]byte(b[:nonceSize]), b[nonceSize:]
	m.grades = make([]*grade.Grades, len(answers))
	for i := range answers {
		marked := len(b) > 0 && b[0] == 1
		if len(b) == 0 || b[0] > 1 || marked != (answers[i].Bottom == "") {
			return errMarks
		}
		if b = b[1:]; !marked {
			continue
		}
		var g grade.Grades
		if len(b) < 8*len(g) {
			return errMarks
		}
		for j := range g {
			g[j] = math.Float64frombits(binary.BigEndian.Uint64(b[8*j:]))
		}
		if !g.Valid() {
			return errMarks
		}
		m.grades[i], b = &g, b[8*len(g):]
	}
	if len(b) > 0 {
		return errMarks
	}
	return nil
}

// commitment binds an evaluator to its part of the salt before it is told.
func commitment(by synod.NodeID, nonce [nonceSize]byte) []byte {
	b := binary.BigEndian.AppendUint32([]byte("decentllms/salt/1"), uint32(by))
	sum := sha256.Sum256(append(b, nonce[:]...))
	return sum[:]
}

// ReplyBytes is what an evaluator signs when it replies to the user, for a third
// party that has the record (Record) and the committee's keys. The answer may
// be None. The signature is bound to the run.
func ReplyBytes(a synod.Answer) []byte { return append([]byte("decentllms/reply/1\x00"), a...) }
