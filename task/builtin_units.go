package task

import (
	"math/rand/v2"
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
		return numeric(n*m.factor, func(x int) bool { return x/m.factor == n && x%m.factor == 0 }, "How many %s are %d %s?", m.small, n, m.big)
	case 2:
		n = between(r, 12, 40)
		return numeric(n, func(x int) bool { return x*m.factor == n*m.factor }, "How many %s are %d %s?", m.big, n*m.factor, m.small)
	case 3:
		extra := between(r, 1, m.factor-1)
		return numeric(n*m.factor+extra, func(x int) bool { return (x-extra)/m.factor == n && (x-extra)%m.factor == 0 },
			"How many %s are %d %s and %d %s?", m.small, n, m.big, extra, m.small)
	case 4: // 18 km/h are 5 m/s
		v := 5 * between(r, 2, 12)
		return numeric(v, func(x int) bool { return x*3600 == v*18/5*1000 },
			"A train moves at %d kilometres an hour. How many metres does it move in one second?", v*18/5)
	}
	a, b, c := 10*between(r, 2, 9), 10*between(r, 2, 9), 10*between(r, 2, 9)
	return numeric(a*b*c/1000, func(x int) bool { return x*10*10*10 == a*b*c },
		"A tank is %d cm long, %d cm wide and %d cm high. How many litres of water fill it?", a, b, c)
}
