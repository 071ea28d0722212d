package task

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// categories are things that everybody would sort alike.
var categories = []struct {
	name  string
	words []string
}{
	{"an animal", []string{"otter", "sparrow", "salmon", "goat", "beetle"}},
	{"a colour", []string{"red", "green", "purple", "yellow", "grey"}},
	{"a musical instrument", []string{"violin", "trumpet", "piano", "flute", "drum"}},
	{"a piece of clothing", []string{"jacket", "scarf", "trousers", "sock", "shirt"}},
	{"a tool", []string{"hammer", "saw", "screwdriver", "chisel", "spanner"}},
	{"a vehicle", []string{"bicycle", "lorry", "tram", "ferry", "helicopter"}},
}

// makeChoices asks which of four fits.
func makeChoices(r *rand.Rand, level int) problem {
	switch level {
	case 1:
		return whichIs(r)
	case 2:
		return largest(r, func() (string, float64) { n := between(r, -50, 50); return itoa(n), float64(n) }, "number")
	case 3:
		return largest(r, func() (string, float64) {
			a, b := between(r, 1, 9), between(r, 2, 12)
			return fmt.Sprintf("%d/%d", a, b), float64(a) / float64(b)
		}, "fraction")
	case 4:
		return whichPrime(r)
	}
	return whichEquals(r)
}

func whichIs(r *rand.Rand) problem {
	at := r.Perm(len(categories))
	c := categories[at[0]]
	var others []string
	for _, i := range at[1:4] {
		others = append(others, one(r, categories[i].words...))
	}
	return pick(r, "Which of these is "+c.name+"?", one(r, c.words...), others, func(s string) bool { return slices.Contains(c.words, s) })
}

// largest draws four values, no two equal.
func largest(r *rand.Rand, next func() (string, float64), name string) problem {
	values := map[string]float64{}
	var all []string
	for len(all) < 4 {
		text, v := next()
		if !slices.ContainsFunc(all, func(s string) bool { return values[s] == v }) {
			values[text] = v
			all = append(all, text)
		}
	}
	best := slices.MaxFunc(all, func(a, b string) int { return compareFloats(values[a], values[b]) })
	others := slices.DeleteFunc(slices.Clone(all), func(s string) bool { return s == best })
	return pick(r, "Which "+name+" is the largest?", best, others, func(s string) bool {
		p, q := ratio(s)
		for _, o := range all { // by cross-multiplication, in integers
			if a, b := ratio(o); a*q > p*b {
				return false
			}
		}
		return true
	})
}

func compareFloats(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// ratio reads p/q or p.
func ratio(s string) (p, q int) {
	above, below, found := strings.Cut(s, "/")
	p, _ = strconv.Atoi(above)
	if q = 1; found {
		q, _ = strconv.Atoi(below)
	}
	return p, q
}

func whichPrime(r *rand.Rand) problem {
	var primes, others []int
	for n := 101; n < 400; n += 2 {
		if n%5 == 0 || n%3 == 0 {
			continue
		}
		if divisor(n) == n {
			primes = append(primes, n)
		} else {
			others = append(others, n)
		}
	}
	var wrong []string
	for _, i := range r.Perm(len(others))[:3] {
		wrong = append(wrong, itoa(others[i]))
	}
	return pick(r, "Which of these numbers is prime?", itoa(one(r, primes...)), wrong, func(s string) bool {
		n, _ := strconv.Atoi(s)
		rows := 0
		for d := 1; d <= n; d++ { // the definition: two divisors
			if n%d == 0 {
				rows++
			}
		}
		return rows == 2
	})
}

// divisor is the smallest divisor of n above 1.
func divisor(n int) int {
	for d := 2; d*d <= n; d++ {
		if n%d == 0 {
			return d
		}
	}
	return n
}

// whichEquals offers products near the one that is wanted.
func whichEquals(r *rand.Rand) problem {
	a, b := between(r, 12, 29), between(r, 12, 29)
	n := a * b
	show := func(x, y int) string { return fmt.Sprintf("%d × %d", x, y) }
	right := show(a, b)
	var others []string
	for len(others) < 3 {
		x, y := a+between(r, -2, 2), b+between(r, -2, 2)
		if s := show(x, y); x*y != n && !slices.Contains(others, s) {
			others = append(others, s)
		}
	}
	return pick(r, fmt.Sprintf("Which product is %d?", n), right, others, func(s string) bool {
		var x, y, sum int
		_, _ = fmt.Sscanf(s, "%d × %d", &x, &y)
		for range x {
			sum += y
		}
		return sum == n
	})
}
