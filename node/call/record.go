package call

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"synod.dev/synod"
	"synod.dev/synod/council"
	"synod.dev/synod/llm"
)

// seatRecord is a council.Record as nodes send it.
type seatRecord struct {
	Opinions   []noted             `json:"opinions"`
	Decided    *synod.Answer       `json:"decided"`
	Statuses   council.StatusCount `json:"statuses"`
	Use        llm.Use             `json:"use"`
	Took       []int               `json:"took,omitempty"`
	Reported   []string            `json:"reported,omitempty"`
	Said       []council.Said      `json:"said,omitempty"`
	Failure    string              `json:"failure,omitempty"`
	Misreports council.Misreports  `json:"misreports"`
	Late       []council.LateCall  `json:"late,omitempty"`
	Stopped    string              `json:"stopped"`
	Ticks      synod.Tick          `json:"ticks"`
}

type noted struct {
	Tick    synod.Tick    `json:"t"`
	Opinion synod.Opinion `json:"opinion"`
}

// EncodeRecord returns the record of a seat as JSON, for Final.Record.
func EncodeRecord(r council.Record) ([]byte, error) {
	s := seatRecord{Opinions: []noted{}, Decided: r.Decided, Statuses: r.Statuses, Use: r.Use, Took: r.Took,
		Reported: r.Reported, Said: r.Said,
		Failure: r.Failure, Misreports: r.Misreports, Late: r.Late, Stopped: r.Stopped, Ticks: r.Ticks}
	s.Use.Model, s.Use.Info = "", llm.Info{}
	for _, o := range r.Opinions {
		s.Opinions = append(s.Opinions, noted{o.Tick, *o.Opinion})
	}
	return json.Marshal(s)
}

// The bounds of what a member's record may say.
const (
	maxRound = 1 << 16
	maxTick  = 1 << 40
	maxCount = 1 << 40
)

// SeatRecord returns the record of the seat. The node may have written anything into it that is about
// its own seat, so everything that could disturb a reader is refused.
func (f *Final) SeatRecord() (r council.Record, err error) {
	var s seatRecord
	d := json.NewDecoder(bytes.NewReader(f.Record))
	d.DisallowUnknownFields()
	if err := d.Decode(&s); err != nil {
		return r, fmt.Errorf("its record cannot be read: %w", err)
	}
	r = council.Record{Seat: synod.NodeID(f.Seat), Decided: s.Decided, Statuses: s.Statuses, Use: s.Use, Took: s.Took,
		Said: s.Said, Failure: s.Failure, Misreports: s.Misreports, Late: s.Late, Stopped: s.Stopped, Ticks: s.Ticks,
		Reported: s.Reported}
	last := -1
	for i := range s.Opinions {
		o := &s.Opinions[i]
		if o.Opinion.Round <= last || o.Opinion.Round > maxRound || o.Tick < 0 || o.Tick > maxTick {
			return r, errors.New("its record has an opinion without a possible round")
		}
		last = o.Opinion.Round
		r.Opinions = append(r.Opinions, council.Noted{Tick: o.Tick, Opinion: &o.Opinion})
	}
	for _, n := range append([]int{s.Use.Calls, s.Use.Prompt, s.Use.Completion}, s.Took...) {
		if n < 0 || n > maxCount {
			return r, errors.New("its record has a count that is out of range")
		}
	}
	for _, n := range s.Statuses {
		if n < 0 || n > maxCount {
			return r, errors.New("its record has a count that is out of range")
		}
	}
	if s.Ticks < 0 || s.Ticks > maxTick {
		return r, errors.New("its record has a time that is out of range")
	}
	return r, nil
}
