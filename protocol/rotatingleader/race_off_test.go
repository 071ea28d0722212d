//go:build !race

package rotatingleader

// usual is how many executions a campaign has.
const usual = 20_000
