//go:build !race

package rotatingleader

// usual is the number of executions of a campaign; CI runs 20,000 where time allows (make campaign).
const usual = 5_000
