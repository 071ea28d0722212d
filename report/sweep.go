package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// sweep is a grid of which one number is varied and, beside it, other things: what
// a plot of a rate against that number takes.
type sweep struct {
	by    string   // the number
	key   []string // what tells lines apart, names first
	cells []Cell   // those that have the number, ascending in it
}

// honest is the number of players that are no adversaries, where a cell says n and
// b: what is varied by hand, while n follows from it.
const honest = "honest"

// number is a parameter that is one.
func (c *Cell) number(name string) (float64, bool) {
	switch v := c.Params[name].(type) {
	case float64:
		return v, true
	case int:
		return float64(v), true
	}
	if name != honest {
		return 0, false
	}
	n, ok := c.number("n")
	b, also := c.number("b")
	return n - b, ok && also
}

// value is a parameter in words, honest too.
func (c *Cell) value(name string) string {
	if v, ok := c.number(name); ok {
		return number(v)
	}
	return c.param(name)
}

// swept are the numbers that a grid may be about, the likeliest first; any other
// comes after them.
var swept = []string{"b", "f_e", "f", "spread", "n_e", "n"}

// sweepOf finds the number that is varied; nil where none is.
func sweepOf(g *Grid) *sweep {
	names := map[string]bool{}
	for _, c := range g.Cells {
		for name := range c.Params {
			names[name] = true
		}
	}
	params := slices.Sorted(maps.Keys(names))
	order := append(slices.Clone(swept), params...)
	for k, by := range order {
		if !names[by] || slices.Index(order, by) < k {
			continue
		}
		if s := sweepBy(g, by, append(slices.Clone(params), honest)); s != nil {
			return s
		}
	}
	return nil
}

// sweepBy is the grid as one in which a number is varied: of what else varies as
// little is kept as tells cells of one number apart, and whatever has a name is the
// same along a line. nil where the number takes fewer than three values, or most
// lines would be single points.
func sweepBy(g *Grid, by string, params []string) *sweep {
	s := &sweep{by: by, cells: g.cells(func(c Cell) bool { _, ok := c.number(by); return ok })}
	slices.SortStableFunc(s.cells, func(a, b Cell) int {
		x, _ := a.number(by)
		y, _ := b.number(by)
		return cmp.Compare(x, y)
	})
	if s.values(by) < 3 {
		return nil
	}
	for _, p := range params {
		if p != by && s.values(p) > 1 {
			s.key = append(s.key, p)
		}
	}
	slices.SortStableFunc(s.key, func(a, b string) int { return cmp.Compare(s.dispensable(a), s.dispensable(b)) })
	for k := 0; k < len(s.key); {
		if less := slices.Delete(slices.Clone(s.key), k, k+1); s.unique(less) && (s.counts(s.key[k]) || s.follows(s.key[k], less)) {
			s.key = less
			continue
		}
		k++
	}
	slices.Reverse(s.key)
	lines := s.lines(s.cells)
	long := 0
	for _, l := range lines {
		if len(l) > 1 {
			long++
		}
	}
	if !s.unique(s.key) || 2*long < len(lines) {
		return nil
	}
	return s
}

// values counts the values of a parameter.
func (s *sweep) values(name string) int {
	all := map[string]bool{}
	for i := range s.cells {
		all[s.cells[i].value(name)] = true
	}
	return len(all)
}

// dispensable is lower, the rather a parameter is left out where it follows from
// others: counts first, and of them those that are sums.
func (s *sweep) dispensable(name string) int {
	if k := slices.Index([]string{"n", "f", "r", "w"}, name); k >= 0 {
		return k
	}
	if k := slices.Index([]string{honest, "adversary", "position", "agents", "graph", "protocol"}, name); k >= 0 {
		return 100 + k
	}
	return 50
}

// unique reports whether the number and a key tell all cells apart.
func (s *sweep) unique(key []string) bool {
	seen := map[string]bool{}
	for i := range s.cells {
		seen[s.cells[i].line(key)+"\x00"+s.cells[i].value(s.by)] = true
	}
	return len(seen) == len(s.cells)
}

// counts reports whether a parameter is a number, which may follow from the one
// that is varied.
func (s *sweep) counts(name string) bool {
	return !slices.ContainsFunc(s.cells, func(c Cell) bool { _, ok := c.number(name); return !ok })
}

// follows reports whether a parameter has one value along every line.
func (s *sweep) follows(name string, key []string) bool {
	seen := map[string]string{}
	for i := range s.cells {
		line, value := s.cells[i].line(key), s.cells[i].value(name)
		if before, known := seen[line]; known && before != value {
			return false
		}
		seen[line] = value
	}
	return true
}

// line names the line of a cell: the values of a key.
func (c *Cell) line(key []string) string {
	var words []string
	for _, name := range key {
		value := c.value(name)
		if _, ok := c.number(name); ok {
			value = fmt.Sprintf("%s %s", name, value)
		}
		if value == "" {
			value = "no " + name
		}
		words = append(words, value)
	}
	return plain(strings.Join(words, ", "))
}

// lines are cells by line, in the order in which the grid has them.
func (s *sweep) lines(cells []Cell) (lines [][]Cell) {
	at := map[string]int{}
	for _, c := range cells {
		name := c.line(s.key)
		if _, known := at[name]; !known {
			at[name] = len(lines)
			lines = append(lines, nil)
		}
		lines[at[name]] = append(lines[at[name]], c)
	}
	return lines
}
