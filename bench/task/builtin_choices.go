package task

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"
)

// categories are things that people classify in the same way.
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
	return pick(r, "Which of these is "+c.name+"?", one(r, c.words...), others,
		func(s string) bool { return slices.Contains(c.words, s) })
}

// largest draws four different values and asks for the largest.
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
	best := slices.MaxFunc(all, func(a, b string) int { return cmp.Compare(values[a], values[b]) })
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

// divisor returns the smallest divisor of n above 1.
func divisor(n int) int {
	for d := 2; d*d <= n; d++ {
		if n%d == 0 {
			return d
		}
	}
	return n
}

// whichEquals offers products that are close to the wanted one.
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

var weekdays = []string{"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"}

var months = []string{"January", "February", "March", "April", "May", "June", "July", "August", "September",
	"October", "November", "December"}

// makeDates asks about days of the Gregorian calendar.
func makeDates(r *rand.Rand, level int) problem {
	switch level {
	case 1:
		return next(r)
	case 2:
		return weekdayAfter(r, between(r, 1, 3))
	case 3:
		if r.IntN(2) == 0 {
			return weekdayAfter(r, between(r, 10, 100))
		}
		month, year := time.Month(between(r, 1, 12)), between(r, 1990, 2040)
		return numeric(time.Date(year, month+1, 0, 0, 0, 0, 0, time.UTC).Day(), func(x int) bool {
			return day(year, month, x).Month() == month && day(year, month, x+1).Month() != month
		}, "How many days does %s %d have?", month, year)
	case 4:
		return daysBetween(r)
	}
	return weekdayOf(r)
}

func day(year int, month time.Month, d int) time.Time {
	return time.Date(year, month, d, 0, 0, 0, 0, time.UTC)
}

// next asks for the day or month that follows.
func next(r *rand.Rand) problem {
	what, names, at := "day", weekdays, r.IntN(7)
	if r.IntN(2) == 0 {
		what, names, at = "month", months, r.IntN(12)
	}
	var others []string
	for _, i := range r.Perm(len(names) - 2)[:3] {
		others = append(others, names[(at+2+i)%len(names)])
	}
	return pick(r, fmt.Sprintf("Which %s comes after %s?", what, names[at]), names[(at+1)%len(names)], others,
		func(s string) bool {
			for i := range names { // the one whose predecessor was named
				if names[i] == s {
					return names[(i+len(names)-1)%len(names)] == names[at]
				}
			}
			return false
		})
}

// pickDay offers the right weekday and three others.
func pickDay(r *rand.Rand, text string, right int, holds func(string) bool) problem {
	var others []string
	for _, i := range r.Perm(6)[:3] {
		others = append(others, weekdays[(right+1+i)%7])
	}
	return pick(r, text, weekdays[right], others, holds)
}

func weekdayAfter(r *rand.Rand, n int) problem {
	today := r.IntN(7)
	return pickDay(r, fmt.Sprintf("Today is %s. Which day of the week is it in %d days?", weekdays[today], n),
		(today+n)%7,
		func(s string) bool {
			at := today
			for range n { // one step a day
				if at++; at == 7 {
					at = 0
				}
			}
			return s == weekdays[at]
		})
}

func daysBetween(r *rand.Rand) problem {
	from := day(between(r, 1995, 2035), time.Month(between(r, 1, 12)), between(r, 1, 28))
	to := from.AddDate(0, 0, between(r, 20, 400))
	return numeric(int(to.Sub(from).Hours()/24), func(x int) bool {
		n := 0
		for at := from; at.Before(to); at = at.AddDate(0, 0, 1) {
			n++
		}
		return x == n
	}, "How many days after %s is %s?", from.Format("2 January 2006"), to.Format("2 January 2006"))
}

// weekdayOf checks with Zeller's congruence, which does not depend on package time.
func weekdayOf(r *rand.Rand) problem {
	d := day(between(r, 1901, 2099), time.Month(between(r, 1, 12)), between(r, 1, 28))
	return pickDay(r, "Which day of the week was or will be "+d.Format("2 January 2006")+"?", int(d.Weekday()),
		func(s string) bool {
			q, m, y := d.Day(), int(d.Month()), d.Year()
			if m < 3 {
				m, y = m+12, y-1
			}
			h := (q + 13*(m+1)/5 + y + y/4 - y/100 + y/400) % 7 // 0 is Saturday
			return s == weekdays[(h+6)%7]
		})
}
