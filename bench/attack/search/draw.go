package search

import (
	"cmp"
	"maps"
	"math"
	"math/rand/v2"
	"slices"

	"synod.dev/synod/adversary"
	"synod.dev/synod/core/param"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/internal/payload"
)

// space is what attacks are drawn from.
type space struct {
	seats  []string // ids of the seats that may have an adversary
	kinds  []kind
	most   int // how many seats may have an adversary
	family []string
}

// kind is an adversary with the parameters that a search varies.
type kind struct {
	name   string
	fields []param.Field
	accept func(params map[string]any) (adversary.Adversary, error)
}

// newSpace returns the space of attacks on a council by some adversaries.
func newSpace(seats, names, keep []string, most int) (*space, error) {
	s := &space{seats: seats, most: most, family: payload.Judges()}
	for _, name := range names {
		e, err := adversary.Catalogue.Find(name)
		if err != nil {
			return nil, err
		}
		k := kind{name: name, accept: e.New}
		if e.Params != nil {
			k.fields = slices.DeleteFunc(param.Fields(e.Params()), func(f param.Field) bool {
				return slices.Contains(keep, f.Key)
			})
		}
		s.kinds = append(s.kinds, k)
	}
	return s, nil
}

// plain is the attack of one adversary without parameters at some seats.
func plain(k kind, seats []string) (c AttackCase) {
	for _, seat := range seats {
		c = c.with(Placed{seat, plan.Params{"name": k.name}})
	}
	return c
}

// draw draws an attack: one adversary, or in every third case two different ones, at drawn seats. Every second
// attack has as many seats as are allowed.
func (s *space) draw(r *rand.Rand) (c AttackCase) {
	kinds := []kind{s.kinds[r.IntN(len(s.kinds))]}
	if r.IntN(3) == 0 {
		kinds = append(kinds, s.kinds[r.IntN(len(s.kinds))])
	}
	n := s.most
	if r.IntN(2) == 0 {
		n = 1 + r.IntN(s.most)
	}
	for i, at := range r.Perm(len(s.seats))[:n] {
		c = c.with(s.placed(r, s.seats[at], kinds[i%len(kinds)]))
	}
	return c
}

// placed draws the parameters of an adversary. Each is left at its default in half of the cases, and where the
// adversary refuses what was drawn.
func (s *space) placed(r *rand.Rand, seat string, k kind) Placed {
	p := Placed{seat, plan.Params{"name": k.name}}
	for _, f := range k.fields {
		if r.IntN(2) != 0 {
			continue
		}
		s.set(r, p.Adversary, f)
		drawn := maps.Clone(p.Adversary)
		delete(drawn, "name")
		if _, err := k.accept(drawn); err != nil {
			delete(p.Adversary, f.Key)
		}
	}
	return p
}

// Parameters whose values are seats, and those whose values are texts of adversaries.
var (
	seatKeys = []string{"favours", "with", "copies", "shows"}
	textKeys = []string{"text"}
)

// set draws the value of one parameter. A parameter of which nothing is known, such as an answer, is left alone.
func (s *space) set(r *rand.Rand, params plan.Params, f param.Field) {
	switch {
	case slices.Contains(seatKeys, f.Key):
		params[f.Key] = s.seats[r.IntN(len(s.seats))]
	case f.Key == "family":
		params[f.Key] = s.family[r.IntN(len(s.family))]
	case slices.Contains(textKeys, f.Key) && params["name"] != "advertiser": // whose text is short
		all := payload.All()
		params[f.Key] = all[r.IntN(len(all))].Text("{answer}")
	case len(f.Enum) > 0:
		params[f.Key] = f.Enum[r.IntN(len(f.Enum))]
	case f.Type == "bool":
		params[f.Key] = true
	case f.Type == "number" && f.Low != nil && f.High != nil:
		params[f.Key] = math.Round((*f.Low+(*f.High-*f.Low)*r.Float64())*20) / 20
	case f.Type == "integer" && f.Low != nil && f.High != nil:
		params[f.Key] = whole(r, *f.Low, *f.High)
	}
}

// whole draws a whole number of a range. The logarithm of its distance from the end of the range that is nearest to 0
// is uniform, because small values of such parameters (rounds, milliseconds) differ more.
func whole(r *rand.Rand, low, high float64) int {
	from := min(max(0, low), high)
	side := high - from
	if from-low > 0 && r.IntN(2) == 0 {
		side = low - from
	}
	step := math.Round(math.Exp(r.Float64()*math.Log1p(math.Abs(side))) - 1)
	return int(from + math.Copysign(step, side))
}

// mutate changes an attack a little: the parameters or the kind of one adversary, the kind of all, its seat, or how
// many there are.
func (s *space) mutate(r *rand.Rand, c AttackCase) AttackCase {
	c = slices.Clone(c)
	i := r.IntN(len(c))
	free := slices.DeleteFunc(slices.Clone(s.seats), func(seat string) bool { return c.at(seat) >= 0 })
	any := func() kind { return s.kinds[r.IntN(len(s.kinds))] }
	switch change := r.IntN(6); {
	case change == 0 && len(c) > 1:
		return c.without(c[i].Seat)
	case change == 1 && len(c) < s.most && len(free) > 0:
		return c.with(Placed{free[r.IntN(len(free))], c[i].Adversary})
	case change == 2 && len(free) > 0:
		return c.without(c[i].Seat).with(Placed{free[r.IntN(len(free))], c[i].Adversary})
	case change == 3:
		return c.with(s.placed(r, c[i].Seat, any()))
	case change == 4:
		k := any()
		for _, p := range slices.Clone(c) {
			c = c.with(s.placed(r, p.Seat, k))
		}
		return c
	}
	at := slices.IndexFunc(s.kinds, func(k kind) bool { return k.name == c[i].name() })
	return c.with(s.placed(r, c[i].Seat, s.kinds[max(0, at)]))
}

// cross joins two attacks: every seat has what it has in one of them.
func (s *space) cross(r *rand.Rand, a, b AttackCase) (c AttackCase) {
	for _, p := range a {
		if r.IntN(2) == 0 {
			c = c.with(p)
		}
	}
	for _, p := range b {
		if len(c) < s.most && c.at(p.Seat) < 0 && r.IntN(2) == 0 {
			c = c.with(p)
		}
	}
	if len(c) == 0 {
		return a
	}
	return c
}

// better compares two tries: the one that harms more comes first, and of two that harm as much the earlier one.
func better(a, b Try) int { return cmp.Or(-a.Score.Compare(b.Score), cmp.Compare(a.N, b.N)) }
