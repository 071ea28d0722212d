//go:build !race

package rotatingleader

// usual is the number of executions of a campaign.
const usual = 20_000
