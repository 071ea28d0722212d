package reference

import (
	"slices"
	"strconv"

	"synod.dev/synod"
)

// Breaking is a run under circuit breakers (docs/research/papers.md), as far as it has come. All seats vote.
type Breaking struct {
	Poll // F and Voice
	Rule Rule

	NoProgress, Oscillation, Drift int // rounds in a row; 0: never
	Quorum, Equivocation           bool

	Said    [][]synod.Answer // by seat, by round: what it has noted so far
	Dead    []bool           // by seat: none of its calls has succeeded
	Accused bool             // a seat was seen to equivocate
	Hostile int              // how many voices may be hostile; one is always left

	over     int      // rounds that were looked at
	wandered int      // rounds of drift in a row
	group    int      // the largest group of voices with one answer so far
	width    *float64 // the narrowest range of numbers so far; nil: none yet
}

// Trips returns which breaker trips after more was said, and after which round; "" if none does.
func (b *Breaking) Trips() (name string, round int) {
	if b.Accused && b.Equivocation {
		return "equivocation", b.longest() - 1
	}
	for ; b.ended(b.over); b.over++ {
		if name := b.after(b.over); name != "" {
			return name, b.over
		}
	}
	return "", 0
}

// longest returns how many rounds the seat has noted that has noted the most.
func (b *Breaking) longest() (most int) {
	for _, said := range b.Said {
		most = max(most, len(said))
	}
	return most
}

// ended reports whether a round is over: each seat that has noted a first answer has noted it, or all of them but F
// have noted the next one, at least one.
func (b *Breaking) ended(t int) bool {
	began, noted, next := 0, 0, 0
	for _, said := range b.Said {
		if len(said) > 0 {
			began++
		}
		if len(said) > t {
			noted++
		}
		if len(said) > t+1 {
			next++
		}
	}
	return began > 0 && t < b.longest() && (noted == began || next > 0 && next >= began-b.out())
}

// out is how many seats may say what they like: F, but never all.
func (b *Breaking) out() int { return min(b.F, len(b.Said)-1) }

// at returns what a seat holds after a round: its last answer if it has not come so far.
func (b *Breaking) at(seat, t int) synod.Answer {
	if said := b.Said[seat]; len(said) > 0 {
		return said[min(t, len(said)-1)]
	}
	return synod.None
}

// all returns what the seats hold after a round.
func (b *Breaking) all(t int) (answers []synod.Answer) {
	for seat := range b.Said {
		answers = append(answers, b.at(seat, t))
	}
	return answers
}

// after looks at a round that is over.
func (b *Breaking) after(t int) string {
	wanders := b.wanders(t)
	switch {
	case t == 0:
		return ""
	case b.Quorum && !b.live(t):
		return "no-quorum"
	case b.decides(t):
		return ""
	case b.NoProgress > 0 && b.stands(t, b.NoProgress):
		return "no-progress"
	case b.Oscillation > 0 && b.swings(t, b.Oscillation):
		return "oscillation"
	case b.Drift > 0 && wanders >= b.Drift:
		return "drift"
	}
	return ""
}

// live reports whether as many seats can be reached as the rule needs. One that has no answer, and of which no call has
// succeeded, cannot.
func (b *Breaking) live(t int) bool {
	live := 0
	for seat, a := range b.all(t) {
		if a != synod.None || !b.Dead[seat] {
			live++
		}
	}
	return b.Rule.reached(live, len(b.Said))
}

// decides reports whether the rule decides on the answers of a round.
func (b *Breaking) decides(t int) bool {
	p := b.Poll
	p.First, p.Last, p.Failed = b.all(0), b.all(t), make([]bool, len(b.Said))
	return Judge(b.Rule, &p).Status == Agreed
}

// stands reports whether all seats but F have kept their answers for k rounds, up to round t.
func (b *Breaking) stands(t, k int) bool {
	kept := 0
	for seat := range b.Said {
		if b.returns(seat, t, k, 1) {
			kept++
		}
	}
	return kept >= len(b.Said)-b.out()
}

// returns reports whether a seat held, after each of the k rounds up to t, what it had held some rounds before.
func (b *Breaking) returns(seat, t, k, before int) bool {
	for r := t; r > t-k; r-- {
		if r < before || b.at(seat, r) != b.at(seat, r-before) {
			return false
		}
	}
	return true
}

// swings reports whether all seats but F held, after each of the k rounds up to t, what they had held two to four
// rounds before, and one of them changed its answer meanwhile.
func (b *Breaking) swings(t, k int) bool {
	for before := 2; before <= 4; before++ {
		back, changed := 0, false
		for seat := range b.Said {
			if b.returns(seat, t, k, before) {
				back++
				changed = changed || !b.returns(seat, t, k, 1)
			}
		}
		if changed && back >= len(b.Said)-b.out() {
			return true
		}
	}
	return false
}

// wanders returns for how many rounds in a row, up to t, more voices than may be hostile changed their answers while
// the seats came no closer together than ever before.
func (b *Breaking) wanders(t int) int {
	if b.Drift == 0 {
		return 0
	}
	closer, moved := b.closer(t), map[int]bool{}
	for seat := range b.Said {
		if t > 0 && b.at(seat, t) != b.at(seat, t-1) {
			moved[b.Voice[seat]] = true
		}
	}
	b.wandered++
	if closer || len(moved) <= b.Hostile {
		b.wandered = 0
	}
	return b.wandered
}

// closer reports whether more voices than ever before hold one answer, or the range of the numbers is a tenth narrower
// than ever before, which is that without the F lowest and the F highest ones.
func (b *Breaking) closer(t int) (closer bool) {
	answers := b.all(t)
	for _, a := range distinct(answers) {
		if n := b.voices(answers, a); n > b.group {
			b.group, closer = n, true
		}
	}
	var numbers []float64
	for _, a := range answers {
		if x, err := strconv.ParseFloat(string(a), 64); err == nil {
			numbers = append(numbers, x)
		}
	}
	if slices.Sort(numbers); len(answers)-len(numbers) <= b.out() && len(numbers)-2*b.out() >= 2 {
		width := numbers[len(numbers)-1-b.out()] - numbers[b.out()]
		if b.width == nil || width < 0.9**b.width {
			b.width, closer = &width, true
		}
	}
	return closer
}
