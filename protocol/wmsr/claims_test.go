package wmsr

import (
	"cmp"
	"flag"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"synod.dev/synod"
	"synod.dev/synod/internal/nightly"
	"synod.dev/synod/internal/simtest"
)

// execution is a run of the step rule on a random graph, round by round, with Byzantine members
// that send any number to any neighbour.
type execution struct {
	simtest.Chance
	simtest.Setting
	byzantine int
	trim      int        // the F that honest members act on
	x         []*big.Rat // by node
	low, high *big.Rat   // of the first honest numbers
}

// units is a scale without decimals: its last place is 1.
var units = scale{}

func whole(n int64) *big.Rat { return new(big.Rat).SetInt64(n) }

func newExecution(c simtest.Chance, s simtest.Setting, b, trim int) *execution {
	e := &execution{Chance: c, Setting: s, byzantine: b, trim: trim, x: make([]*big.Rat, s.G.N())}
	for i := range e.x {
		e.x[i] = whole(c.Int64N(1_000_000) - 500_000)
	}
	e.low, e.high = e.span()
	return e
}

func (e *execution) honest(i int) bool { return e.byzantine>>i&1 == 0 }

func (e *execution) span() (low, high *big.Rat) {
	for i, x := range e.x {
		if !e.honest(i) {
			continue
		}
		if low == nil || x.Cmp(low) < 0 {
			low = x
		}
		if high == nil || x.Cmp(high) > 0 {
			high = x
		}
	}
	return low, high
}

// forged returns what a Byzantine member sends to one neighbour in one round; nil: nothing.
func (e *execution) forged() *big.Rat {
	low, high := e.span()
	switch e.IntN(6) {
	case 0:
		return nil
	case 1:
		return whole(e.Int64N(2_000_000_000) - 1_000_000_000)
	case 2:
		return new(big.Rat).Add(high, whole(1)) // just outside
	case 3:
		return new(big.Rat).Sub(low, whole(1))
	case 4:
		return high // inside: to keep them apart
	default:
		return low
	}
}

func (e *execution) round() {
	next := slices.Clone(e.x)
	for i := range e.x {
		if !e.honest(i) {
			continue
		}
		var heard []value
		for _, j := range e.G.In(i) {
			x := e.x[j]
			if !e.honest(j) {
				x = e.forged()
			}
			if x != nil {
				heard = append(heard, value{synod.NodeID(j), x})
			}
		}
		next[i] = units.step(e.x[i], heard, e.trim).next
	}
	e.x = next
}

// inside reports whether all honest numbers are in the range of the first ones.
func (e *execution) inside() bool {
	low, high := e.span()
	return low.Cmp(e.low) >= 0 && high.Cmp(e.high) <= 0
}

var executions = flag.Int("executions", 2000, "seeded executions of TestConvergesInside; make campaign plays more")

// [LB-5] Validity in every round and convergence, on (2F+1)-robust graphs with
// F-local members that equivocate, are silent or send wrong numbers.
// Because of rounding the final numbers may differ by some units, at most one for each member.
func TestConvergesInside(t *testing.T) {
	played, longest := 0, 0
	simtest.EachChance(t, *executions*19/10, func(c simtest.Chance) error {
		s, b, ok := c.Draw(true)
		if !ok {
			return nil
		}
		played++
		e := newExecution(c, s, b, s.F)
		for t := 0; ; t++ {
			if !e.inside() {
				return fmt.Errorf("round %d: %v is outside [%v, %v]: edges %v F=%d Byzantine %b", t, e.x, e.low, e.high,
					s.G.Edges(), s.F, b)
			}
			low, high := e.span()
			if new(big.Rat).Sub(high, low).Cmp(whole(int64(s.G.N()))) <= 0 {
				longest = max(longest, t)
				return nil
			}
			if t == 2000 {
				return fmt.Errorf("after %d rounds they are at %v: edges %v r=%d F=%d Byzantine %b", t, e.x,
					s.G.Edges(), s.R, s.F, b)
			}
			e.round()
		}
	})
	t.Logf("%d executions, the longest %d rounds", played, longest)
	if !testing.Short() && played < *executions {
		t.Errorf("only %d executions", played)
	}
}

// Validity needs no robustness: it holds on any graph with at most F Byzantine neighbours of each
// member.
func TestStaysInsideOnAnyGraph(t *testing.T) {
	simtest.EachChance(t, nightly.Size(2000, 8000), func(c simtest.Chance) error {
		s, b, ok := c.Draw(false)
		if !ok {
			return nil
		}
		e := newExecution(c, s, b, s.F)
		for t := range 15 {
			if e.round(); !e.inside() {
				return fmt.Errorf("round %d: %v is outside [%v, %v]: edges %v F=%d Byzantine %b", t, e.x, e.low, e.high,
					s.G.Edges(), s.F, b)
			}
		}
		return nil
	})
}

// Without trimming, Byzantine members move honest numbers out of their range.
func TestWithoutTrimmingNumbersLeaveTheRange(t *testing.T) {
	out, played := 0, 0
	simtest.EachChance(t, 3000, func(c simtest.Chance) error {
		s, b, ok := c.Draw(true)
		if !ok || b == 0 {
			return nil
		}
		played++
		e := newExecution(c, s, b, 0)
		for range 20 {
			if e.round(); !e.inside() {
				out++
				break
			}
		}
		return nil
	})
	if out < played*9/10 {
		t.Errorf("numbers left the range in %d of %d executions", out, played)
	}
}

// The rule against a reference that drops one number after another.
func TestStepAgainstReference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		small := rapid.Int64Range(-9, 9)
		own, f := whole(small.Draw(t, "own")), rapid.IntRange(0, 4).Draw(t, "f")
		var heard []value
		for j, x := range rapid.SliceOfN(small, 0, 8).Draw(t, "heard") {
			heard = append(heard, value{synod.NodeID(j), whole(x)})
		}
		left := slices.Clone(heard)
		for range f {
			for _, side := range []int{-1, 1} {
				at := -1
				for i, v := range left {
					if v.x.Cmp(own) == side && (at < 0 || v.x.Cmp(left[at].x) == side) {
						at = i
					}
				}
				if at >= 0 {
					left = slices.Delete(left, at, at+1)
				}
			}
		}
		sum := new(big.Rat).Set(own)
		for _, v := range left {
			sum.Add(sum, v.x)
		}
		mean := sum.Quo(sum, whole(int64(len(left)+1)))
		got := units.step(own, heard, f)
		if want := mean.FloatString(0); got.next.RatString() != want && want != "-0" {
			t.Fatalf("own %v heard %v F=%d: %v, want %s", own, heard, f, got.next, want)
		}
		if len(got.retained) != len(left) || len(got.retained)+len(got.dropped) != len(heard) {
			t.Fatalf("retained %v, dropped %v of %v", got.retained, got.dropped, heard)
		}
		slices.Reverse(heard)
		if again := units.step(own, heard, f); again.next.Cmp(got.next) != 0 || !slices.Equal(again.dropped,
			got.dropped) {
			t.Fatalf("the order of arrival shows: %v and %v", got, again)
		}
	})
}

// Rounding does not leave the range of the numbers that are averaged, however small or close
// they are, and what is written is read as itself.
func TestRoundingStaysInside(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := newScale(rapid.IntRange(0, 12).Draw(t, "decimals"))
		fraction := rapid.Custom(func(t *rapid.T) *big.Rat {
			return big.NewRat(rapid.Int64Range(-50, 50).Draw(t, "a"),
				rapid.SampledFrom([]int64{1, 3, 7, 1000, 99_999, 1e18}).Draw(t, "b"))
		})
		own := fraction.Draw(t, "own")
		var heard []value
		for j, x := range rapid.SliceOfN(fraction, 0, 6).Draw(t, "heard") {
			heard = append(heard, value{synod.NodeID(j), x})
		}
		got := s.step(own, heard, rapid.IntRange(0, 2).Draw(t, "f"))
		shown := s.read(s.shown(got.next, got.averaged))
		if !got.averaged.has(got.next) || !got.averaged.has(shown) {
			t.Fatalf("%v is shown as %v, outside [%v, %v]", got.next, shown, got.averaged.low, got.averaged.high)
		}
		if again := s.read(s.write(got.next)); again.Cmp(got.next) != 0 {
			t.Fatalf("%v is written %s and read %v", got.next, s.write(got.next), again)
		}
	})
	s := newScale(3)
	for _, c := range []struct{ x, low, high, want synod.Answer }{
		{"0.0004", "0.0004", "0.0004", "0.0004"}, // of all members; it was decided as 0
		{"0.0004", "0", "1", "0"}, {"1/3", "1/3", "1/3", "1/3"}, {"1/3", "0", "1", "0.333"},
		{"-0.0005", "-0.0005", "1", "-0.0005"}, {"2.5", "2.5", "2.5", "2.5"}, {"0.1255", "0.1", "0.2", "0.126"},
		{"-0.0001", "-1", "1", "0"}, {"0.33333", "0.33332", "0.34", "0.33333"},
		{"1/3", "0.33333333299", "0.34", "0.333333333"}, // with all internal decimals
	} {
		if got := s.shown(s.read(c.x), span{s.read(c.low), s.read(c.high)}); got != c.want {
			t.Errorf("%s in [%s, %s] is shown as %s, want %s", c.x, c.low, c.high, got, c.want)
		}
	}
}

// A number that would be too long to be sent is not: the member sends the low end of the range.
func TestLongNumbersAreNotSent(t *testing.T) {
	s := newScale(3)
	longest := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(maxSent-int64(s.places)-2), nil))
	ten := whole(10)
	longer := new(big.Rat).Mul(longest, ten)
	for x, want := range map[*big.Rat]*big.Rat{longest: longest, longer: ten} {
		if got := s.round(x, span{ten, longer}); got.Cmp(want) != 0 {
			t.Errorf("a number of %d characters is sent with %d", len(x.FloatString(s.places)),
				len(got.FloatString(s.places)))
		}
	}
}

// The guarantee states what the tests above check.
func TestGuarantee(t *testing.T) {
	for _, c := range []struct {
		f, r       int
		want, says string
	}{{0, 1, Approach, "r is 1:"}, {1, 3, Approach, "r is 3:"}, {1, 2, Inside, "need r of at least 3"},
		{2, 4, Inside, "need r of at least 5"}} {
		if name, note := New().Guarantee(c.f, c.r, true); name != c.want || !strings.Contains(note, c.says) {
			t.Errorf("F=%d r=%d: %s; %s", c.f, c.r, cmp.Or(name, "none"), note)
		}
	}
}
