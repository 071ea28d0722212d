package task

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"synod.dev/synod"
)

// builtinItems is how many problems there are unless another number is asked for:
// six of each kind at each level.
const builtinItems = 180

var builtin = Entry{
	Entry: synod.Entry{Name: "builtin", Summary: "generated problems of five levels, inside the binary: no download"},
	Form:  "mixed", Items: builtinItems,
	About: "Arithmetic, word problems, logic, dates, units and choices, made from a seed. Every answer is computed " +
		"when the problem is made and checked by another route in the tests. Level 1 is one that the model in the box gets partly right (docs/box.md).",
	open: func(_ string, o Options) ([]Item, error) { return makeBuiltin(o) },
}

// problem is one made problem.
type problem struct {
	text    string
	form    synod.Form
	options []synod.Option
	key     string
	// holds says of a candidate whether it is the answer, from the problem's own
	// statement and not by the way in which key was computed. Tests call it.
	holds func(candidate string) bool
}

// kinds are the kinds of problem, in the order in which they take turns.
var kinds = []struct {
	name string
	make func(r *rand.Rand, level int) problem
}{
	{"arithmetic", makeArithmetic}, {"words", makeWords}, {"logic", makeLogic},
	{"dates", makeDates}, {"units", makeUnits}, {"choices", makeChoices},
}

// maxBuiltin bounds how many problems one can ask for.
const maxBuiltin = 100_000

// makeBuiltin makes as many problems of the wanted levels as are asked for.
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

// builtinLevel is the level of problem i: every kind takes its turn in each.
func builtinLevel(i int) int { return 1 + i/len(kinds)%5 }

// builtinItem makes problem i. It depends on seed and i alone, so a longer list
// begins with the shorter one.
func builtinItem(seed uint64, i int) (Item, problem) {
	kind, level := kinds[i%len(kinds)], builtinLevel(i)
	p := kind.make(rand.New(rand.NewPCG(seed, uint64(i))), level)
	return Item{
		Question: synod.Question{ID: fmt.Sprintf("%s-%d-%d.%d", kind.name, level, seed, i), Text: p.text, Form: p.form, Options: p.options},
		Level:    level, Topic: kind.name, key: p.key,
	}, p
}

// between draws a whole number from low to high, both included.
func between(r *rand.Rand, low, high int) int { return low + r.IntN(high-low+1) }

// one draws one of several.
func one[T any](r *rand.Rand, all ...T) T { return all[r.IntN(len(all))] }

// numeric is a problem whose answer is a whole number. holds is given it.
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

// truth is a problem whose answer is true or false.
func truth(key bool, holds func(bool) bool, format string, args ...any) problem {
	return problem{
		text: fmt.Sprintf(format, args...), form: synod.Bool, key: fmt.Sprint(key),
		holds: func(c string) bool { return holds(c == "true") },
	}
}

// pick is a problem with choices; the right one is shuffled among the others.
// holds is given the text of a choice.
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
