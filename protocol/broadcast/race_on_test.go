//go:build race

package broadcast

// usual is how many executions of each model a campaign has. Under the race detector
// they take ten times as long, and the two models together make up 20,000.
const usual = 10_000

// largest is how many members a group drawn by chance has at most.
const largest = 5

// detector is what go test must be told to draw the same groups.
const detector = "-race "
