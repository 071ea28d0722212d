//go:build race

package broadcast

// largest is the largest number of members of a random group.
const largest = 5

// detector is the flag of go test that draws the same groups.
const detector = "-race "
