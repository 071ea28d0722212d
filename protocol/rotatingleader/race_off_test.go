//go:build !race

package rotatingleader

// defaultExecutions is how many executions a campaign plays; CI runs 20,000 where time allows (make campaign).
const defaultExecutions = 5_000
