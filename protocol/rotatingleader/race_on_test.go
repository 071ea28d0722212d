//go:build race

package rotatingleader

// defaultExecutions is how many executions a campaign plays; make test runs more of them without the
// race detector.
const defaultExecutions = 1_000
