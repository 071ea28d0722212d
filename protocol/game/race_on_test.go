//go:build race

package game_test

// usual is how many executions a campaign has; make test runs all 20,000 without the
// race detector too.
const usual = 3_000
