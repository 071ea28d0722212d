//go:build !race

package broadcast

// defaultExecutions is how many executions of each model a campaign plays.
const defaultExecutions = 20_000

// largest is the largest number of members of a random group.
const largest = 7

// detector is the flag of go test that draws the same groups.
const detector = ""
