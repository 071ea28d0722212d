//go:build !race

package decentllms

// raced reports the race detector. An execution takes ten times as long under it, so
// that most councils drawn by chance are small ones.
const raced = false

// defaultExecutions is how many executions a campaign plays; CI runs 20,000 where time allows (make campaign).
const defaultExecutions = 5_000

// detector is what go test must be told to draw the same councils.
const detector = ""
