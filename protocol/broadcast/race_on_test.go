//go:build race

package broadcast

// defaultExecutions is how many executions of each model a campaign plays. Under the race detector
// they take ten times as long, and the two models together make up 20,000.
const defaultExecutions = 10_000

// largest is the largest number of members of a random group.
const largest = 5

// detector is the flag of go test that draws the same groups.
const detector = "-race "
