package task

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"

	"synod.dev/synod"
)

// builtinItems is the default number of problems: six of each kind at each level.
const builtinItems = 180

var builtin = Entry{
	Entry: synod.Entry{Name: "builtin", Summary: "generated problems of five levels, in the binary (no download)"},
	Form:  "mixed", Items: builtinItems,
	About: "Arithmetic, word problems, logic, dates, units and choices, generated from a seed. Every answer is " +
		"computed when the problem is generated, and tests check it in another way. The smallest model of " +
		"docs/use/models.md gets level 1 partly right.",
	Load: func(_ string, o Options) ([]Item, error) { return makeBuiltin(o) },
}

// kinds are the kinds of problem, in the order in which they alternate.
var kinds = []struct {
	name string
	make func(r *rand.Rand, level int) problem
}{
	{"arithmetic", makeArithmetic}, {"words", makeWords}, {"logic", makeLogic},
	{"dates", makeDates}, {"units", makeUnits}, {"choices", makeChoices},
}

// maxBuiltin bounds how many problems can be generated.
const maxBuiltin = 100_000

// makeBuiltin generates the requested number of problems of the wanted levels.
func makeBuiltin(o Options) ([]Item, error) {
	n, of := o.Number, maxBuiltin
	if n == 0 {
		n, of = builtinItems, builtinItems
	}
	if n < 0 || n > maxBuiltin {
		return nil, fmt.Errorf("task: builtin makes from 1 to %d problems, not %d", maxBuiltin, n)
	}
	var items []Item
	for i := 0; i < of && len(items) < n; i++ {
		if len(o.Levels) > 0 && !slices.Contains(o.Levels, builtinLevel(i)) {
			continue
		}
		it, _ := builtinItem(o.Seed, i)
		if err := it.check(); err != nil {
			return nil, fmt.Errorf("task: builtin %s: %w", it.Question.ID, err)
		}
		items = append(items, it)
	}
	return items, nil
}

// builtinLevel returns the level of problem i. Each level has one problem of every kind in turn.
func builtinLevel(i int) int { return 1 + i/len(kinds)%5 }

// builtinItem generates problem i. It depends on seed and i alone, so a longer list begins with the shorter
// one.
func builtinItem(seed uint64, i int) (Item, problem) {
	kind, level := kinds[i%len(kinds)], builtinLevel(i)
	p := kind.make(rand.New(rand.NewPCG(seed, uint64(i))), level)
	return Item{
		Question: synod.Question{ID: fmt.Sprintf("%s-%d-%d.%d", kind.name, level, seed, i), Text: p.text,
			Form: p.form, Options: p.options},
		Level: level, Topic: kind.name, key: p.key,
	}, p
}

// makeArithmetic asks for the value of an expression.
func makeArithmetic(r *rand.Rand, level int) problem {
	switch level {
	case 1:
		a, b := between(r, 1, 9), between(r, 1, 9)
		if a >= b && r.IntN(2) == 0 {
			return numeric(a-b, func(x int) bool { return x+b == a }, "What is %d - %d?", a, b)
		}
		return numeric(a+b, func(x int) bool { return x-b == a }, "What is %d + %d?", a, b)
	case 2:
		a, b := between(r, 11, 99), between(r, 11, 99)
		if r.IntN(2) == 0 {
			return numeric(a-b, func(x int) bool { return x+b == a }, "What is %d - %d?", a, b)
		}
		a = between(r, 3, 12)
		return numeric(a*b, func(x int) bool { return x%b == 0 && x/b == a }, "What is %d times %d?", a, b)
	case 3:
		a, b, c := between(r, 12, 99), between(r, 3, 19), between(r, 12, 99)
		return numeric(a+b*c, func(x int) bool {
			return (x-a)%c == 0 &&
				(x-a)/c == b
		}, "Compute %d + %d × %d.", a, b, c)
	case 4:
		return sumOfFractions(r)
	}
	return remainder(r)
}

func sumOfFractions(r *rand.Rand) problem {
	a, c := between(r, 1, 9), between(r, 1, 9)
	b, d := between(r, 3, 12), between(r, 3, 12)
	sum := new(big.Rat).Add(big.NewRat(int64(a), int64(b)), big.NewRat(int64(c), int64(d)))
	return problem{
		text: fmt.Sprintf("What is %d/%d + %d/%d, as a fraction in lowest terms?", a, b, c, d),
		form: synod.Number, key: sum.RatString(),
		holds: func(s string) bool { // cleared of denominators, in integers
			p, q := 0, 1
			if n, _ := fmt.Sscanf(s, "%d/%d", &p, &q); n == 0 {
				return false
			}
			return p*b*d == q*(a*d+c*b)
		},
	}
}

// remainder asks for a power modulo a number, computed here by squaring.
func remainder(r *rand.Rand) problem {
	base, exp, m := between(r, 2, 9), between(r, 8, 30), between(r, 7, 97)
	x := new(big.Int).Exp(big.NewInt(int64(base)), big.NewInt(int64(exp)), big.NewInt(int64(m)))
	return numeric(int(x.Int64()), func(x int) bool {
		rest := 1
		for range exp {
			rest = rest * base % m
		}
		return x == rest
	}, "What is the remainder when %d^%d is divided by %d?", base, exp, m)
}

var (
	wares = []string{"lemons", "postcards", "candles", "marbles", "pencils", "muffins", "tulips", "stamps"}
)

// makeWords tells a short story with numbers in it.
func makeWords(r *rand.Rand, level int) problem {
	who, what := one(r, people...), one(r, wares...)
	switch level {
	case 1:
		a, b := between(r, 2, 5), between(r, 2, 3)
		return numeric(a+b, func(x int) bool { return x-b == a }, "What is %d %s plus %d %s?", a, what, b, what)
	case 2:
		a, b := between(r, 2, 9), between(r, 2, 9)
		return numeric(a+b, func(x int) bool { return x-a == b },
			"%s has %d %s and is given %d more. How many %s does %s have now?", who, a, what, b, what, who)
	case 3:
		if r.IntN(2) == 0 {
			return change(r, who, what)
		}
		boxes, each, gone := between(r, 3, 9), between(r, 4, 12), between(r, 2, 11)
		return numeric(boxes*each-gone, func(x int) bool { return (x+gone)/boxes == each && (x+gone)%boxes == 0 },
			"%s packs %d boxes with %d %s each and then gives %d %s away. How many %s are left?", who, boxes, each,
			what, gone, what, what)
	case 4:
		return workRate(r, who)
	}
	return ages(r, who)
}

// change asks how much change is given for a note.
func change(r *rand.Rand, who, what string) problem {
	price, n, note := between(r, 2, 8), between(r, 3, 9), 100
	return numeric(note-price*n-price/2*2, func(x int) bool { return x+n*price+2*(price/2) == note },
		"%s buys %d %s at %d dollars each and two bags at %d dollars each, and pays with a %d-dollar note. How many "+
			"dollars does %s get back?",
		who, n, what, price, price/2, note, who)
}

// workRate draws a sale after a rise and a discount with whole numbers.
func workRate(r *rand.Rand, who string) problem {
	base, up, down := 100*between(r, 2, 12), 10*between(r, 1, 5), 10*between(r, 1, 5)
	return numeric(base*(100+up)*(100-down)/10000, func(x int) bool {
		raised := base + base*up/100
		return x == raised-raised*down/100
	},
		"%s sells a bicycle that cost %d dollars. First the price is raised by %d%%, then the new price is lowered "+
			"by %d%%. How many dollars does the bicycle cost in the end?",
		who, base, up, down)
}

// ages is a system of two equations: the sum of two ages, and their ratio some years ago.
func ages(r *rand.Rand, who string) problem {
	other := one(r, people...)
	for other == who {
		other = one(r, people...)
	}
	young, times, ago := between(r, 3, 12), between(r, 2, 5), between(r, 2, 9)
	sum := young*(1+times) + 2*ago
	return numeric(young*times+ago, func(x int) bool { return x-ago == times*(sum-x-ago) },
		"Together %s and %s are %d years old. %d years ago %s was %d times as old as %s. How old is %s now?",
		who, other, sum, ago, who, times, other, who)
}

// measures are pairs of units with a whole factor.
var measures = []struct {
	big, small string
	factor     int
}{
	{"kilometres", "metres", 1000}, {"metres", "centimetres", 100}, {"hours", "minutes", 60}, {"kilograms", "grams",
		1000},
	{"days", "hours", 24}, {"minutes", "seconds", 60}, {"litres", "millilitres", 1000}, {"weeks", "days", 7}, {"feet",
		"inches", 12},
}

// makeUnits asks for a quantity in another unit.
func makeUnits(r *rand.Rand, level int) problem {
	m := measures[r.IntN(len(measures))]
	n := between(r, 2, 9)
	switch level {
	case 1:
		return unitFact(r)
	case 2:
		return numeric(n*m.factor, func(x int) bool {
			return x/m.factor == n &&
				x%m.factor == 0
		}, "How many %s are %d %s?", m.small, n, m.big)
	case 3:
		if r.IntN(2) == 0 {
			return mixed(r, m.big, m.small, m.factor)
		}
		n = between(r, 12, 40)
		return numeric(n, func(x int) bool { return x*m.factor == n*m.factor }, "How many %s are %d %s?", m.big,
			n*m.factor, m.small)
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

// facts are relations between units that most people know.
var facts = []struct {
	small, big string
	factor     int
}{
	{"minutes", "hour", 60}, {"seconds", "minute", 60}, {"hours", "day", 24}, {"days", "week", 7}, {"months", "year",
		12},
	{"years", "century", 100}, {"years", "decade", 10}, {"centimetres", "metre", 100}, {"metres", "kilometre", 1000},
	{"millimetres", "centimetre", 10}, {"inches", "foot", 12}, {"grams", "kilogram", 1000}, {"millilitres", "litre",
		1000},
}

// sizes are the sizes of units in the smallest of their kind, to check facts with: seconds, months, tenths of
// a millimetre, grams, millilitres.
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
