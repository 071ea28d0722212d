package outcome

import (
	"encoding/binary"
	"math"

	"synod.dev/synod"
)

// packed is opinions in one array without pointers. The machines of simulated members use the
// memory of their opinions again, so an outcome has a copy; most outcomes of a study are only
// counted, and a copy of every opinion and its lists would be half of all memory that a question
// takes.
type packed struct {
	bytes   []byte
	records []synod.Record // of the opinions that have one, in order
}

// add appends an opinion, without when it was noted.
func (p *packed) add(o *synod.Opinion) {
	b := appendNumber(p.bytes, o.Round)
	b = appendText(b, string(o.Answer))
	b = appendText(b, o.Surface)
	b = appendText(b, string(o.Source))
	b = appendSeats(b, o.From)
	b = appendSeats(b, o.Retained)
	b = appendSeats(b, o.Dropped)
	b = appendSeats(b, o.Silent)
	b = appendSeats(b, o.Suspects)
	b = appendNumber(b, len(o.Scores))
	for i := range o.Scores {
		b = appendNumber(b, int(o.Scores[i].Of))
		b = appendFloat(b, float64(o.Scores[i].Score))
	}
	for _, n := range [...]int{o.Failed, o.Unreadable, o.Unsure, o.Reused} {
		b = appendNumber(b, n)
	}
	has := 0
	if o.Confidence != nil {
		has |= hasConfidence
	}
	if o.Record != nil {
		has |= hasRecord
		p.records = append(p.records, o.Record)
	}
	if b = appendNumber(b, has); o.Confidence != nil {
		b = appendFloat(b, *o.Confidence)
	}
	p.bytes = b
}

// What an opinion has beside the fields of all.
const (
	hasConfidence = 1 << iota
	hasRecord
)

// next removes the first opinion and returns it.
func (p *packed) next() *synod.Opinion {
	o := &synod.Opinion{Round: p.nextNumber(), Answer: synod.Answer(p.nextText()), Surface: p.nextText(),
		Source: synod.Source(p.nextText())}
	for _, seats := range [...]*[]synod.NodeID{&o.From, &o.Retained, &o.Dropped, &o.Silent, &o.Suspects} {
		for range p.nextNumber() {
			*seats = append(*seats, synod.NodeID(p.nextNumber()))
		}
	}
	for range p.nextNumber() {
		o.Scores = append(o.Scores, synod.Judged{Of: synod.NodeID(p.nextNumber()), Score: synod.Score(p.nextFloat())})
	}
	for _, n := range [...]*int{&o.Failed, &o.Unreadable, &o.Unsure, &o.Reused} {
		*n = p.nextNumber()
	}
	has := p.nextNumber()
	if has&hasConfidence != 0 {
		c := p.nextFloat()
		o.Confidence = &c
	}
	if has&hasRecord != 0 {
		o.Record, p.records = p.records[0], p.records[1:]
	}
	return o
}

func (p *packed) nextNumber() int {
	n, size := binary.Uvarint(p.bytes)
	p.bytes = p.bytes[size:]
	return int(n)
}

func (p *packed) nextText() string {
	n := p.nextNumber()
	s := string(p.bytes[:n])
	p.bytes = p.bytes[n:]
	return s
}

func (p *packed) nextFloat() float64 {
	x := math.Float64frombits(binary.LittleEndian.Uint64(p.bytes))
	p.bytes = p.bytes[8:]
	return x
}

func appendNumber(b []byte, n int) []byte {
	if uint(n) < 1<<7 { // nearly all: one byte
		return append(b, byte(n))
	}
	return binary.AppendUvarint(b, uint64(n))
}

func appendText(b []byte, s string) []byte { return append(appendNumber(b, len(s)), s...) }

func appendFloat(b []byte, x float64) []byte {
	return binary.LittleEndian.AppendUint64(b, math.Float64bits(x))
}

func appendSeats(b []byte, seats []synod.NodeID) []byte {
	b = appendNumber(b, len(seats))
	for _, id := range seats {
		b = appendNumber(b, int(id))
	}
	return b
}
