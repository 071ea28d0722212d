package task

import (
	"fmt"
	"math/rand/v2"

	"synod.dev/synod"
)

var people = []string{"Ada", "Bruno", "Chidi", "Dana", "Elif", "Farid", "Greta", "Hana", "Ivo", "Juno", "Kofi", "Lena"}

// problem is one generated problem.
type problem struct {
	text    string
	form    synod.Form
	options []synod.Option
	key     string
	// holds reports whether a candidate is the answer. It decides from the statement of the problem, not in the
	// way in which key was computed. Tests call it.
	holds func(candidate string) bool
}

// between draws a whole number from low to high, both included.
func between(r *rand.Rand, low, high int) int { return low + r.IntN(high-low+1) }

// one draws one of several values.
func one[T any](r *rand.Rand, all ...T) T { return all[r.IntN(len(all))] }

// numeric returns a problem whose answer is a whole number. holds receives a candidate.
func numeric(key int, holds func(int) bool, format string, args ...any) problem {
	return problem{
		text: fmt.Sprintf(format, args...), form: synod.Number, key: itoa(key),
		holds: func(c string) bool {
			var n int
			_, err := fmt.Sscan(c, &n)
			return err == nil && holds(n)
		},
	}
}

// truth returns a problem whose answer is true or false.
func truth(key bool, holds func(bool) bool, format string, args ...any) problem {
	return problem{
		text: fmt.Sprintf(format, args...), form: synod.Bool, key: fmt.Sprint(key),
		holds: func(c string) bool { return holds(c == "true") },
	}
}

// pick returns a problem with choices; the right one is shuffled among the others. holds receives the text of
// a choice.
func pick(r *rand.Rand, text, right string, others []string, holds func(string) bool) problem {
	all := append([]string{right}, others...)
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	options, _ := lettered(all)
	p := problem{text: text, form: synod.Choice, options: options}
	for _, o := range options {
		if o.Text == right {
			p.key = o.Label
		}
	}
	p.holds = func(label string) bool {
		for _, o := range options {
			if o.Label == label {
				return holds(o.Text)
			}
		}
		return false
	}
	return p
}
