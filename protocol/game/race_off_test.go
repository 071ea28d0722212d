//go:build !race

package game_test

// usual is the number of executions of a campaign.
const usual = 20_000
