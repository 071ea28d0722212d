//go:build race

package rotatingleader

// usual is the number of executions of a campaign; make test runs more of them without the
// race detector.
const usual = 1_000
