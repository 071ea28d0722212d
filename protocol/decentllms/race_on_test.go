//go:build race

package decentllms

// raced reports the race detector. An execution takes ten times as long under it, so
// that most councils drawn by chance are small ones.
const raced = true

// usual is how many executions a campaign has; make test runs all 20,000 without the
// race detector.
const usual = 8_000

// detector is what go test must be told to draw the same councils.
const detector = "-race "
