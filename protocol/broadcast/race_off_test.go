//go:build !race

package broadcast

// usual is the number of executions of each model in a campaign.
const usual = 20_000

// largest is the largest number of members of a random group.
const largest = 7

// detector is the flag of go test that draws the same groups.
const detector = ""
