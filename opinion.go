package synod

import (
	"encoding/json"
	"fmt"
	"strconv"
)

// Source says where the answer that a member holds comes from (I-SAC-9).
type Source string

// The sources of an answer.
const (
	Own     Source = "own"     // the member's independent answer, before it heard anyone
	Kept    Source = "kept"    // unchanged in this round
	Adopted Source = "adopted" // equal to an answer that a neighbour had shown
	New     Source = "new"     // changed to an answer that no neighbour had shown
	Absent  Source = "absent"  // the member has no answer
)

// Score is a judgement in [0,1], or Untrusted.
type Score float64

// Untrusted is the score of an answer whose judgement failed or could not be read.
// It is lower than every real score, so filters drop such an answer first (SAC-8).
const Untrusted Score = -1

// String returns the score with two decimals, as the prompts of the papers show it.
func (s Score) String() string {
	if s == Untrusted {
		return "unreadable"
	}
	return strconv.FormatFloat(float64(s), 'f', 2, 64)
}

// MarshalJSON encodes Untrusted as null, and other scores as numbers.
func (s Score) MarshalJSON() ([]byte, error) {
	if s == Untrusted {
		return []byte("null"), nil
	}
	return strconv.AppendFloat(nil, float64(s), 'g', -1, 64), nil
}

// UnmarshalJSON is the inverse of MarshalJSON.
func (s *Score) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		*s = Untrusted
		return nil
	}
	v, err := strconv.ParseFloat(string(b), 64)
	*s = Score(v)
	return err
}

// Judged is the score of one member's answer.
type Judged struct {
	Of    NodeID `json:"of"`
	Score Score  `json:"score"`
}

// Opinion is what a member holds at the end of a round, and how it got there.
// Rounds are shown, graded and plotted from opinions alone.
type Opinion struct {
	Round   int      `json:"round"` // 0: the independent answer
	Answer  Answer   `json:"answer"`
	Surface string   `json:"surface,omitempty"` // Answer as the member wrote it; untrusted
	Source  Source   `json:"source"`
	From    []NodeID `json:"from,omitempty"` // with Adopted: the neighbours who had shown the answer, ascending
	// Confidence is the member's confidence in its answer, in [0,1]. It is nil if the
	// protocol asks for none, or if the reply had none.
	Confidence *float64 `json:"confidence,omitempty"`
	Scores     []Judged `json:"scores,omitempty"`   // ascending by member, the member's own answer included
	Retained   []NodeID `json:"retained,omitempty"` // ascending
	Dropped    []NodeID `json:"dropped,omitempty"`  // ascending
	Silent     []NodeID `json:"silent,omitempty"`   // ascending
	Suspects   []NodeID `json:"suspects,omitempty"` // members who sent different messages in one slot, ascending
	Record     Record   `json:"record,omitempty"`   // what only the member's protocol knows; nil in most protocols
	Failed     int      `json:"failed,omitempty"`   // calls of this round that did not end OK
	Unreadable int      `json:"garbled,omitempty"`  // calls of this round that ended OK but could not be read
	Unsure     int      `json:"unsure,omitempty"`   // answers of this round whose confidence was missing or unreadable
	Reused     int      `json:"reused,omitempty"`   // prompts of this round that were answered from memory
}

// UnmarshalJSON decodes an opinion. Its Record becomes a RawRecord.
func (o *Opinion) UnmarshalJSON(b []byte) error {
	type plain Opinion // without this method
	in := struct {
		*plain
		Record RawRecord `json:"record"`
	}{plain: (*plain)(o)}
	o.Record = nil
	if err := json.Unmarshal(b, &in); err != nil {
		return err
	}
	if in.Record != nil {
		o.Record = in.Record
	}
	return nil
}

// Record is the part of an opinion whose type belongs to one protocol. It must be
// encodable as JSON. String returns one line for transcripts.
type Record interface {
	String() string
}

// RawRecord is a record or a detail as it was read from JSON, before its protocol
// decodes it.
type RawRecord json.RawMessage

// String returns the JSON text.
func (r RawRecord) String() string { return string(r) }

// MarshalJSON returns the JSON text unchanged.
func (r RawRecord) MarshalJSON() ([]byte, error) { return json.RawMessage(r).MarshalJSON() }

// UnmarshalJSON keeps the JSON text.
func (r *RawRecord) UnmarshalJSON(b []byte) error { return (*json.RawMessage)(r).UnmarshalJSON(b) }

// Same reports whether the other detail has the same JSON text.
func (r RawRecord) Same(other Detail) bool {
	o, raw := other.(RawRecord)
	return raw && string(r) == string(o)
}

// RecordOf returns the opinion's record as a *T. It decodes a RawRecord. It returns
// nil without an error if the opinion has no record, and an error if the record is
// of another type or cannot be decoded.
func RecordOf[T any](o *Opinion) (*T, error) {
	switch r := any(o.Record).(type) {
	case nil:
		return nil, nil
	case *T:
		return r, nil
	case RawRecord:
		into := new(T)
		if err := json.Unmarshal(r, into); err != nil {
			return nil, fmt.Errorf("synod: the record of round %d: %w", o.Round, err)
		}
		return into, nil
	default:
		return nil, fmt.Errorf("synod: the record of round %d is a %T and not a %T", o.Round, r, new(T))
	}
}
