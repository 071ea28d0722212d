//go:build !race

package game_test

// defaultExecutions is how many executions a campaign plays.
const defaultExecutions = 20_000
