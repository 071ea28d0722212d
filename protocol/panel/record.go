package panel

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"synod.dev/synod"
	"synod.dev/synod/protocol/grade"
)

// Sum identifies a text: its SHA-256 in hexadecimal.
type Sum string

func sumOf(a synod.Answer) Sum {
	if a == synod.None {
		return ""
	}
	h := sha256.Sum256([]byte(a))
	return Sum(hex.EncodeToString(h[:]))
}

// Mark is what a member makes of one answer.
type Mark struct {
	Of     synod.NodeID  `json:"of"`
	Text   Sum           `json:"text"`             // what was graded
	Grades *grade.Grades `json:"grades,omitempty"` // nil: none
	Why    string        `json:"why,omitempty"`    // why there are none
}

// Record is what a member notes beside its answer.
type Record struct {
	Given  Sum    `json:"given,omitempty"` // its answer of round 0, which others grade; "" if it had none
	Marks  []Mark `json:"marks"`           // ascending by author
	Claims *Check `json:"claims,omitempty"`
	Again  *Check `json:"again,omitempty"` // of the answer without disputed claims
}

// Check is what one member makes of the sentences of a text.
type Check struct {
	Of     synod.NodeID `json:"of"`               // the author
	Text   Sum          `json:"text"`             // what was judged
	Before Sum          `json:"before,omitempty"` // the text that it replaces; "": none
	Marks  []Verdict    `json:"marks,omitempty"`  // of its parts in order; nil: the author, or no readable reply
	// Faithful is the verdict on a new text: it says nothing that the old one does not say.
	Faithful Verdict `json:"faithful,omitempty"`
	Old      string  `json:"old,omitempty"` // in the author's record of a new text: the text that it replaces
}

// Verdict is what a member says of a sentence.
type Verdict string

// The verdicts of a member.
const (
	Supported    Verdict = "supported"
	Contradicted Verdict = "contradicted"
	CannotTell   Verdict = "cannot tell"
)

// String returns one line for transcripts.
func (r *Record) String() string {
	var s strings.Builder
	s.WriteString("panel")
	for _, m := range r.Marks {
		if m.Grades == nil {
			fmt.Fprintf(&s, " n%d=%s", m.Of, m.Why)
		} else {
			fmt.Fprintf(&s, " n%d=%.0f", m.Of, m.Grades.Sum())
		}
	}
	for _, c := range []*Check{r.Claims, r.Again} {
		if c == nil {
			continue
		}
		fmt.Fprintf(&s, " sentences of n%d", c.Of)
		for _, v := range c.Marks {
			s.WriteString(" " + string(v[:1]))
		}
	}
	return s.String()
}

// recordOf returns the record of an opinion; an empty one if it has none that can be read.
func recordOf(o *synod.Opinion) *Record {
	if r, err := synod.RecordOf[Record](o); err == nil && r != nil {
		return r
	}
	return &Record{}
}
