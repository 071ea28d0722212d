//go:build !race

package game_test

// usual is how many executions a campaign has.
const usual = 20_000
