//go:build race

package decentllms

// raced reports the race detector. An execution takes ten times as long under it, so
// that most councils drawn by chance are small ones.
const raced = true

// defaultExecutions is how many executions a campaign plays; make test runs more of them without the
// race detector.
const defaultExecutions = 2_000

// detector is what go test must be told to draw the same councils.
const detector = "-race "
