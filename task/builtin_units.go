package task

import (
	"math/rand/v2"
	"strings"
)

// measures are pairs of units with a whole factor.
var measures = []struct {
	big, small string
	factor     int
}{
	{"kilometres", "metres", 1000}, {"metres", "centimetres", 100}, {"hours", "minutes", 60}, {"kilograms", "grams", 1000},
	{"days", "hours", 24}, {"minutes", "seconds", 60}, {"litres", "millilitres", 1000}, {"weeks", "days", 7}, {"feet", "inches", 12},
}

// makeUnits asks for a quantity in another unit.
func makeUnits(r *rand.Rand, level int) problem {
	m := measures[r.IntN(len(measures))]
	n := between(r, 2, 9)
	switch level {
	case 1:
		return unitFact(r)
	case 2:
		return numeric(n*m.factor, func(x int) bool { return x/m.factor == n && x%m.factor == 0 }, "How many %s are %d %s?", m.small, n, m.big)
	case 3:
		if r.IntN(2) == 0 {
			return mixed(r, m.big, m.small, m.factor)
		}
		n = between(r, 12, 40)
		return numeric(n, func(x int) bool { return x*m.factor == n*m.factor }, "How many %s are %d %s?", m.big, n*m.factor, m.small)
	case 4: // 18 km/h are 5 m/s
		v := 5 * between(r, 2, 12)
		return numeric(v, func(x int) bool { return x*3600 == v*18/5*1000 },
			"A train moves at %d kilometres an hour. How many metres does it move in one second?", v*18/5)
	}
	a, b, c := 10*between(r, 2, 9), 10*between(r, 2, 9), 10*between(r, 2, 9)
	return numeric(a*b*c/1000, func(x int) bool { return x*10*10*10 == a*b*c },
		"A tank is %d cm long, %d cm wide and %d cm high. How many litres of water fill it?", a, b, c)
}

// mixed asks for a sum of two units in the smaller one.
func mixed(r *rand.Rand, big, small string, factor int) problem {
	n, extra := between(r, 2, 9), between(r, 1, factor-1)
	return numeric(n*factor+extra, func(x int) bool { return (x-extra)/factor == n && (x-extra)%factor == 0 },
		"How many %s are %d %s and %d %s?", small, n, big, extra, small)
}

// facts are what everybody has by heart.
var facts = []struct {
	small, big string
	factor     int
}{
	{"minutes", "hour", 60}, {"seconds", "minute", 60}, {"hours", "day", 24}, {"days", "week", 7}, {"months", "year", 12},
	{"years", "century", 100}, {"years", "decade", 10}, {"centimetres", "metre", 100}, {"metres", "kilometre", 1000},
	{"millimetres", "centimetre", 10}, {"inches", "foot", 12}, {"grams", "kilogram", 1000}, {"millilitres", "litre", 1000},
}

// sizes are units in the smallest of their kind, to check facts by: seconds,
// months, tenths of a millimetre, grams, millilitres.
var sizes = map[string]int{
	"second": 1, "minute": 60, "hour": 3_600, "day": 86_400, "week": 604_800,
	"month": 1, "year": 12, "decade": 120, "century": 1_200,
	"millimetre": 10, "centimetre": 100, "metre": 10_000, "kilometre": 10_000_000, "inche": 254, "foot": 3_048,
	"gram": 1, "kilogram": 1_000, "millilitre": 1, "litre": 1_000,
}

// unitFact asks for one of the facts, in one of two wordings.
func unitFact(r *rand.Rand) problem {
	f := facts[r.IntN(len(facts))]
	article := "a"
	if f.big == "hour" {
		article = "an"
	}
	within := one(r, "in "+article+" ", "there in one ")
	holds := func(x int) bool { return x*sizes[strings.TrimSuffix(f.small, "s")] == sizes[f.big] }
	return numeric(f.factor, holds, "How many %s are %s%s?", f.small, within, f.big)
}
