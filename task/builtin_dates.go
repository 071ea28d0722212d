package task

import (
	"fmt"
	"math/rand/v2"
	"time"
)

var weekdays = []string{"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"}

var months = []string{"January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"}

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
	return pick(r, fmt.Sprintf("Which %s comes after %s?", what, names[at]), names[(at+1)%len(names)], others, func(s string) bool {
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
	return pickDay(r, fmt.Sprintf("Today is %s. Which day of the week is it in %d days?", weekdays[today], n), (today+n)%7,
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

// weekdayOf checks with Zeller's congruence, which knows nothing of package time.
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
