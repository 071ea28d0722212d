package task

import (
	"fmt"
	"maps"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"
)

// makeLogic asks for a logical conclusion.
func makeLogic(r *rand.Rand, level int) problem {
	switch level {
	case 1:
		return member(r)
	case 2:
		return ordered(r, 3)
	case 3:
		if r.IntN(2) == 0 {
			return syllogism(r)
		}
		return ordered(r, 5)
	case 4:
		return sentence(r, 2)
	}
	return knights(r)
}

// draw returns n different people.
func draw(r *rand.Rand, n int) []string {
	all := slices.Clone(people)
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all[:n]
}

// ordered gives neighbours in an order and asks about two others.
func ordered(r *rand.Rand, n int) problem {
	who, word := draw(r, n), one(r, "older", "taller", "faster")
	var facts []string
	for i := range n - 1 {
		facts = append(facts, fmt.Sprintf("%s is %s than %s.", who[i], word, who[i+1]))
	}
	r.Shuffle(len(facts), func(i, j int) { facts[i], facts[j] = facts[j], facts[i] })
	i := r.IntN(n - 2)
	j := i + 2
	if r.IntN(2) == 0 {
		i, j = j, i
	}
	return truth(i < j, func(claim bool) bool { // search from i downwards along the facts
		at, reached := who[i], false
		for range n {
			for _, f := range facts {
				if rest, found := strings.CutPrefix(f, at+" is "+word+" than "); found {
					at = strings.TrimSuffix(rest, ".")
					reached = reached || at == who[j]
					break
				}
			}
		}
		return claim == reached
	}, "%s Is %s %s than %s? Answer true or false.", strings.Join(facts, " "), who[i], word, who[j])
}

// coined are invented words, so that only the logical form decides.
var coined = []string{"blickets", "dorps", "fennels", "grums", "quills", "zibbles", "tovers", "mirks"}

// member asks for the kind of something that belongs to a class inside another.
func member(r *rand.Rand) problem {
	classes := map[string]string{
		"an animal": "animals", "a tool": "tools", "an instrument": "instruments",
		"a vehicle": "vehicles", "a flower": "flowers", "a tree": "trees",
	}
	all := slices.Sorted(maps.Keys(classes))
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	inner, who := one(r, coined...), one(r, "Ziggy", "Momo", "Pip", "Bibi", "Taro", "Fifi")
	text := fmt.Sprintf("All %s are %s. %s is one of the %s. What is %s?", inner, classes[all[0]], who, inner, who)
	return pick(r, text, all[0], all[1:4], func(s string) bool {
		return strings.Contains(text,
			" are "+classes[s]+".")
	})
}

// syllogism returns a figure of two premises about three classes.
func syllogism(r *rand.Rand) problem {
	words := slices.Clone(coined)
	r.Shuffle(len(words), func(i, j int) { words[i], words[j] = words[j], words[i] })
	a, b, c := words[0], words[1], words[2]
	forms := []struct {
		text  string
		truth bool
	}{
		{"All %[1]s are %[2]s. All %[2]s are %[3]s. Must all %[1]s be %[3]s?", true},
		{"All %[1]s are %[2]s. All %[3]s are %[2]s. Must all %[1]s be %[3]s?", false},
		{"No %[1]s are %[2]s. All %[3]s are %[2]s. Can a thing be one of the %[1]s and one of the %[3]s?", false},
		{"Some %[1]s are %[2]s. All %[2]s are %[3]s. Must some %[1]s be %[3]s?", true},
		{"All %[1]s are %[2]s. Some %[2]s are %[3]s. Must some %[1]s be %[3]s?", false},
	}
	f := forms[r.IntN(len(forms))]
	return truth(f.truth, func(claim bool) bool { return claim == follows(f.text) },
		f.text+" Answer true or false.", a, b, c)
}

// follows decides a syllogism by trying all worlds, that is, which of the eight kinds of thing (in a, b, c or
// not) exist.
func follows(text string) bool {
	sentences := strings.Split(strings.TrimSuffix(text, "?"), ". ")
	can := strings.HasPrefix(sentences[2], "Can")
	for world := range 256 {
		if !holdsIn(sentences[0], world) || !holdsIn(sentences[1], world) {
			continue
		}
		asked := strings.TrimPrefix(sentences[2], "Must ")
		asked = strings.ToUpper(asked[:1]) + strings.ReplaceAll(asked[1:], " be ", " are ")
		if can {
			if holdsIn("Some %[1]s are %[3]s", world) {
				return true
			}
		} else if !holdsIn(asked, world) {
			return false
		}
	}
	return !can
}

// holdsIn evaluates "All|Some|No %[i]s are %[j]s". All is false for an empty class.
func holdsIn(sentence string, world int) bool {
	var x, y int
	quantity, rest, _ := strings.Cut(sentence, " ")
	fmt.Sscanf(rest, "%%[%d]s are %%[%d]s", &x, &y)
	both, only := false, false
	for thing := range 8 {
		if world>>thing&1 == 1 && thing>>(x-1)&1 == 1 {
			both = both || thing>>(y-1)&1 == 1
			only = only || thing>>(y-1)&1 == 0
		}
	}
	switch quantity {
	case "All":
		return both && !only
	case "Some":
		return both
	}
	return !both
}

// sentence asks for the truth of a nested sentence about P, Q and R. The sentence is evaluated twice: while it
// is built, and from its text in holds.
func sentence(r *rand.Rand, depth int) problem {
	values := [3]bool{r.IntN(2) == 0, r.IntN(2) == 0, r.IntN(2) == 0}
	text, value := clause(r, values, depth)
	return truth(value, func(claim bool) bool {
		got, _ := evaluate(text, values)
		return claim == got
	}, "P is %v, Q is %v and R is %v. Is the sentence %q true? Answer true or false.", values[0], values[1],
		values[2], text)
}

func clause(r *rand.Rand, values [3]bool, depth int) (string, bool) {
	if depth == 0 {
		i := r.IntN(3)
		if r.IntN(3) == 0 {
			return "not " + "PQR"[i:i+1], !values[i]
		}
		return "PQR"[i : i+1], values[i]
	}
	a, x := clause(r, values, depth-1)
	b, y := clause(r, values, depth-1)
	if r.IntN(2) == 0 {
		return "(" + a + " and " + b + ")", x && y
	}
	return "(" + a + " or " + b + ")", x || y
}

// evaluate reads a sentence from the left and returns its truth and the rest.
func evaluate(s string, values [3]bool) (bool, string) {
	s = strings.TrimLeft(s, " ")
	if rest, found := strings.CutPrefix(s, "not "); found {
		v, rest := evaluate(rest, values)
		return !v, rest
	}
	if s[0] != '(' {
		return values[strings.IndexByte("PQR", s[0])], s[1:]
	}
	a, rest := evaluate(s[1:], values)
	word, rest, _ := strings.Cut(rest[1:], " ")
	b, rest := evaluate(rest, values)
	if word == "and" {
		return a && b, rest[1:]
	}
	return a || b, rest[1:]
}

// statement is an islander's statement: that one of them is a knight or a knave or, if about is -1, how many
// of the three are knights.
type statement struct {
	about  int
	knight bool
	count  int
}

// isTrue reports whether a statement is true in a world, given as bits.
func (s statement) isTrue(world int) bool {
	if s.about < 0 {
		return bits.OnesCount(uint(world)) == s.count
	}
	return (world>>s.about&1 == 1) == s.knight
}

func (s statement) text(who []string) string {
	if s.about < 0 {
		return fmt.Sprintf("Exactly %d of us three are knights.", s.count)
	}
	return who[s.about] + " is a " + map[bool]string{true: "knight", false: "knave"}[s.knight] + "."
}

// knights asks for the number of knights among three islanders; knights always tell the truth and knaves
// always lie. Statements are drawn until all possible worlds agree on the number. One of them must count,
// because for statements about one another alone the opposite world is possible too.
func knights(r *rand.Rand) problem {
	who := draw(r, 3)
	for {
		statements := [3]statement{{about: -1, count: r.IntN(4)}}
		for i := 1; i < 3; i++ {
			statements[i] = statement{about: (i + 1 + r.IntN(2)) % 3, knight: r.IntN(2) == 0}
		}
		n := agreed(statements)
		if n < 0 {
			continue
		}
		text := "On an island knights always tell the truth and knaves always lie."
		for i, s := range statements {
			text += fmt.Sprintf(" %s says: %q", who[i], s.text(who))
		}
		return numeric(n, func(x int) bool { return onlyCount(statements, x) },
			"%s How many of the three are knights?", text)
	}
}

// agreed returns how many knights there are in every possible world, or -1.
func agreed(statements [3]statement) int {
	n := -1
	for world := range 8 {
		fits := true
		for i, s := range statements {
			fits = fits && s.isTrue(world) == (world>>i&1 == 1)
		}
		if !fits {
			continue
		}
		if c := bits.OnesCount(uint(world)); n >= 0 && n != c {
			return -1
		} else {
			n = c
		}
	}
	return n
}

// onlyCount decides by trying the three islanders one by one: x is the answer if some choice of kinds with x
// knights makes all statements consistent, and no choice with another number does.
func onlyCount(statements [3]statement, x int) bool {
	kinds := []bool{true, false}
	found := map[int]bool{}
	for _, a := range kinds {
		for _, b := range kinds {
			for _, c := range kinds {
				is, n := []bool{a, b, c}, 0
				for _, k := range is {
					if k {
						n++
					}
				}
				ok := true
				for i, s := range statements {
					says := n == s.count
					if s.about >= 0 {
						says = is[s.about] == s.knight
					}
					ok = ok && says == is[i]
				}
				if ok {
					found[n] = true
				}
			}
		}
	}
	return len(found) == 1 && found[x]
}
