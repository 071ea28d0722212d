package call

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"synod.dev/synod"
	"synod.dev/synod/core/sign"
	"synod.dev/synod/council/outcome"
)

// seatRecord is a outcome.Record as nodes send it.
type seatRecord struct {
	Opinions []noted        `json:"opinions"`
	Opened   *[]synod.Given `json:"opened,omitempty"` // null: it opened none
	outcome.Account
}

type noted struct {
	Tick    synod.Tick    `json:"t"`
	Opinion synod.Opinion `json:"opinion"`
}

// EncodeRecord returns the record of a seat as JSON, for Final.Record.
func EncodeRecord(r outcome.Record) ([]byte, error) {
	s := seatRecord{Opinions: []noted{}, Account: r.Account()}
	for _, o := range r.Opinions {
		s.Opinions = append(s.Opinions, noted{o.Tick, *o.Opinion})
	}
	if r.Opened != nil {
		s.Opened = &r.Opened
	}
	return json.Marshal(s)
}

// The bounds of what a member's record may say.
const (
	maxRound = 1 << 16
	maxTick  = 1 << 40
)

// SeatRecord returns the record of the seat. The node may have written anything into it that is about
// its own seat, so everything that could disturb a reader is refused.
func (f *Final) SeatRecord() (r outcome.Record, err error) {
	var s seatRecord
	d := json.NewDecoder(bytes.NewReader(f.Record))
	d.DisallowUnknownFields()
	if err := d.Decode(&s); err != nil {
		return r, fmt.Errorf("its record cannot be read: %w", err)
	}
	r = outcome.Record{Seat: synod.NodeID(f.Seat), Instance: sign.Instance(f.Instance)}
	if err := r.SetAccount(&s.Account); err != nil {
		return r, err
	}
	last := -1
	for i := range s.Opinions {
		o := &s.Opinions[i]
		if o.Opinion.Round <= last || o.Opinion.Round > maxRound || o.Tick < 0 || o.Tick > maxTick {
			return r, errors.New("its record has an opinion without a possible round")
		}
		last = o.Opinion.Round
		r.Opinions = append(r.Opinions, outcome.Noted{Tick: o.Tick, Opinion: &o.Opinion})
	}
	if s.Opened != nil {
		r.Opened = append([]synod.Given{}, *s.Opened...)
	}
	return r, nil
}
