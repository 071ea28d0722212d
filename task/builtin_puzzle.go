package task

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"strings"
)

// sentence asks for the truth of a nested sentence about P, Q and R. It is written
// in words and evaluated twice: while it is built, and from its text in holds.
func sentence(r *rand.Rand, depth int) problem {
	values := [3]bool{r.IntN(2) == 0, r.IntN(2) == 0, r.IntN(2) == 0}
	text, value := clause(r, values, depth)
	return truth(value, func(claim bool) bool {
		got, _ := evaluate(text, values)
		return claim == got
	}, "P is %v, Q is %v and R is %v. Is the sentence %q true? Answer true or false.", values[0], values[1], values[2], text)
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

// evaluate reads a sentence from the left and returns its truth and what is left.
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

// statement is what an islander says: that one of them is a knight or a knave or,
// where about is -1, how many of the three are knights.
type statement struct {
	about  int
	knight bool
	count  int
}

// told reports whether a statement is true in a world, given as bits.
func (s statement) told(world int) bool {
	if s.about < 0 {
		return bits.OnesCount(uint(world)) == s.count
	}
	return (world>>s.about&1 == 1) == s.knight
}

func (s statement) words(who []string) string {
	if s.about < 0 {
		return fmt.Sprintf("Exactly %d of us three are knights.", s.count)
	}
	return who[s.about] + " is a " + map[bool]string{true: "knight", false: "knave"}[s.knight] + "."
}

// knights asks for the number of knights among three islanders, knights always
// telling the truth and knaves always lying. Statements are drawn until all
// worlds that fit agree on it. One must count: of statements about one another
// alone, the opposite world fits too.
func knights(r *rand.Rand) problem {
	who := draw(r, 3)
	for {
		said := [3]statement{{about: -1, count: r.IntN(4)}}
		for i := 1; i < 3; i++ {
			said[i] = statement{about: (i + 1 + r.IntN(2)) % 3, knight: r.IntN(2) == 0}
		}
		n := agreed(said)
		if n < 0 {
			continue
		}
		text := "On an island knights always tell the truth and knaves always lie."
		for i, s := range said {
			text += fmt.Sprintf(" %s says: %q", who[i], s.words(who))
		}
		return numeric(n, func(x int) bool { return onlyCount(said, x) }, "%s How many of the three are knights?", text)
	}
}

// agreed is how many knights there are in every world that fits, or -1.
func agreed(said [3]statement) int {
	n := -1
	for world := range 8 {
		fits := true
		for i, s := range said {
			fits = fits && s.told(world) == (world>>i&1 == 1)
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

// onlyCount decides by the three islanders one by one: x is the answer if some
// choice of kinds with x knights makes each speaker's words fit, and no other does.
func onlyCount(said [3]statement, x int) bool {
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
				for i, s := range said {
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
