package robustness

// tactics are settings of the search that change its speed but not its answer. Tests compare many settings with each
// other on larger graphs too, because an unsound shortcut once passed every brute-force check below 16 nodes.
type tactics struct {
	steps   int  // subgradient steps per search node
	probing bool // remove choices that cost more than the gap
	orbits  bool // use symmetries of the graph
	upper   bool // also look for pairs by tabu search
	lower   bool // use the bound by algebraic connectivity
}

// bestTactics is the setting that measured fastest; docs/operate/performance.md has the commands.
var bestTactics = tactics{steps: 2, probing: true, orbits: true, upper: true, lower: true}

// Weights of rows are integers, so that the bound is exact and the same on every machine. The values were the best of a
// scan over random, regular and dense graphs of 38 to 46 nodes; half or twice of each costs up to a third more time.
const (
	unit      = 64      // weight of a new row
	aim       = 96      // value of the bound that a subgradient step aims at: safely above 0
	trial     = 40      // weight of the row that a node would add, when the cost of a choice is computed
	spread    = 8       // how much more the cheaper choice counts than the dearer in the branching score
	weightCap = 1 << 20 // keeps sums of prices from overflowing
)

// stages are the numbers of search nodes after which a decision tries other methods; most decisions
// end before the first. Tabu search then makes that many tries of that many steps per node of the
// graph. Nearly always it finds an existing pair by the second stage.
var stages = [...]struct{ nodes, tries, steps int }{{150, 1, 30}, {2_000, 2, 100}, {20_000, 6, 400}}

// pollEvery is the number of search nodes, a few microseconds each, between two calls of the caller's stop function.
const pollEvery = 512

// verdict is the result of a decision.
type verdict int8

const (
	refuted verdict = iota // no pair exists
	found                  // the search holds a pair
	gaveUp                 // undecided
)

// potential is what the value of a row adds to the branching score. A row of negative value adds
// nothing to the bound now, but may do so deeper in the tree.
func potential(row int) int {
	if row < 0 {
		return row / 4
	}
	return row
}
