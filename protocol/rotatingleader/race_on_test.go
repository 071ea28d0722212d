//go:build race

package rotatingleader

// usual is how many executions a campaign has; make test runs all 20,000 without the
// race detector too.
const usual = 4_000
