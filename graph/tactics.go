package graph

// tactics are the parts of the search that change its speed and never its answer. Tests run many settings against each
// other: an unsound shortcut once agreed with every brute-force check below 16 nodes.
type tactics struct {
	steps   int  // subgradient steps a node
	probing bool // drop possibilities whose price exceeds the gap
	orbits  bool // use interchangeable nodes
	upper   bool // look for pairs by tabu search too
	lower   bool // use algebraic connectivity
}

// bestTactics is what measured best: docs/performance.md has the commands.
var bestTactics = tactics{steps: 2, probing: true, orbits: true, upper: true, lower: true}

// Weights of rows are whole numbers, so that the bound is exact and the same on every machine. The figures are the flat
// bottom of a scan over random, regular and dense graphs of 38 to 46 nodes; twice or half of each costs a third more.
const (
	unit      = 64      // weight of a new row
	aim       = 96      // where a subgradient step wants the bound to be: safely above 0
	trial     = 40      // weight of the row that a node would bring when a choice is priced
	spread    = 8       // how much more the cheaper choice counts than the dearer when choosing where to branch
	weightCap = 1 << 20 // no sum of prices overflows
)

// stages say after how many nodes of a decision other means are tried: most decisions are over before the first. Tabu
// search makes so many tries of so many steps for each node of the graph; a pair that exists is nearly always found by
// the second stage.
var stages = [...]struct{ nodes, tries, steps int }{{150, 1, 30}, {2_000, 2, 100}, {20_000, 6, 400}}

// pollEvery is how many nodes, a few microseconds each, pass between questions to stop.
const pollEvery = 512

// verdict is how a search ended.
type verdict int8

const (
	refuted verdict = iota // no pair exists
	found                  // a pair is in the search
	gaveUp
)

// promise is what a row's value counts in the branching score: a row of no use yet may become one.
func promise(row int) int {
	if row < 0 {
		return row / 4
	}
	return row
}
