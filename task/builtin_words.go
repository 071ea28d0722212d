package task

import "math/rand/v2"

var (
	people = []string{"Ada", "Bruno", "Chidi", "Dana", "Elif", "Farid", "Greta", "Hana", "Ivo", "Juno", "Kofi", "Lena"}
	wares  = []string{"lemons", "postcards", "candles", "marbles", "pencils", "muffins", "tulips", "stamps"}
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
			"%s packs %d boxes with %d %s each and then gives %d %s away. How many %s are left?", who, boxes, each, what, gone, what, what)
	case 4:
		return workRate(r, who)
	}
	return ages(r, who)
}

// change asks what is given back on a note.
func change(r *rand.Rand, who, what string) problem {
	price, n, note := between(r, 2, 8), between(r, 3, 9), 100
	return numeric(note-price*n-price/2*2, func(x int) bool { return x+n*price+2*(price/2) == note },
		"%s buys %d %s at %d dollars each and two bags at %d dollars each, and pays with a %d-dollar note. How many dollars does %s get back?",
		who, n, what, price, price/2, note, who)
}

// workRate draws a sale after a rise and a discount that come out in whole numbers.
func workRate(r *rand.Rand, who string) problem {
	base, up, down := 100*between(r, 2, 12), 10*between(r, 1, 5), 10*between(r, 1, 5)
	return numeric(base*(100+up)*(100-down)/10000, func(x int) bool {
		raised := base + base*up/100
		return x == raised-raised*down/100
	}, "%s sells a bicycle that cost %d dollars. First the price is raised by %d%%, then the new price is lowered by %d%%. How many dollars does the bicycle cost in the end?",
		who, base, up, down)
}

// ages is a system of two equations: the sum, and a ratio some years ago.
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
