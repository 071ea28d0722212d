//go:build !race

package fixedleader

// defaultExecutions is how many executions a campaign plays.
const defaultExecutions = 20_000
