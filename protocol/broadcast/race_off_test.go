//go:build !race

package broadcast

// usual is how many executions of each model a campaign has.
const usual = 20_000

// largest is how many members a group drawn by chance has at most.
const largest = 7

// detector is what go test must be told to draw the same groups.
const detector = ""
