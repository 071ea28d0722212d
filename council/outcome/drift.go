package outcome

import (
	"math"
	"slices"
	"strconv"

	"synod.dev/synod"
)

// drift watches whether members that keep changing their answers come closer together. Members with one voice count as
// one, except in the range of numbers. They
// have come closer when more of them than ever before hold one answer, or when numbers lie
// closer together than ever before, by a tenth at least.
//
// At most F adversaries cannot disable it. A round counts as one of drift only if more
// members than F changed their answers, so at least one honest one did; that an adversary
// says nothing new makes no difference. An adversary may join a group or move into the range
// of the numbers, and so pretend that the members came closer. Because only records count,
// it can do so at most F times with groups. The range is that without the F lowest and the F
// highest numbers, so what lies outside the honest numbers has no influence on it.
type drift struct {
	rounds   int     // in a row, up to the last round
	support  int     // the largest group so far
	narrowed float64 // the narrowest range so far; infinite: no numbers yet
}

// voicing says who is one voice among the voting seats, and how many voices and seats may say what they like.
type voicing struct {
	voices         []int // by voting seat; nil: each is a voice
	leftOut, seats int
}

// of returns the voice of a voting seat.
func (v voicing) of(seat int) int {
	if v.voices == nil {
		return seat
	}
	return v.voices[seat]
}

// next takes the answers of the voting members after a round and after the round before.
func (d *drift) next(before, now []synod.Answer, v voicing) {
	moved := map[int]bool{}
	for i := range now {
		if now[i] != before[i] {
			moved[v.of(i)] = true
		}
	}
	if closer := d.record(now, v); closer || len(moved) <= v.leftOut {
		d.rounds = 0
		return
	}
	d.rounds++
}

// record reports whether the answers are closer together than ever before, and keeps how
// close they are.
func (d *drift) record(now []synod.Answer, v voicing) bool {
	held := map[synod.Answer]map[int]bool{}
	most := 0
	for i, a := range now {
		if a != synod.None {
			if held[a] == nil {
				held[a] = map[int]bool{}
			}
			held[a][v.of(i)] = true
			most = max(most, len(held[a]))
		}
	}
	closer := most > d.support
	d.support = max(d.support, most)
	if width, ok := width(now, v.seats); ok && width < 0.9*d.narrowed {
		d.narrowed, closer = width, true
	}
	return closer
}

// width returns the distance between the least and the greatest of the numbers without the f
// lowest and the f highest. There is none if more than f answers are no numbers, or too few
// numbers remain.
func width(answers []synod.Answer, f int) (float64, bool) {
	var numbers []float64
	for _, a := range answers {
		if x, err := strconv.ParseFloat(string(a), 64); err == nil && !math.IsInf(x, 0) && !math.IsNaN(x) {
			numbers = append(numbers, x)
		}
	}
	if len(numbers) < len(answers)-f || len(numbers) < 2*f+2 {
		return 0, false
	}
	slices.Sort(numbers)
	return numbers[len(numbers)-1-f] - numbers[f], true
}
