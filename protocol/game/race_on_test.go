//go:build race

package game_test

// defaultExecutions is how many executions a campaign plays; make test runs all 20,000 without the
// race detector too.
const defaultExecutions = 1_000
