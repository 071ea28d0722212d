//go:build !race

package fixedleader

// usual is how many executions a campaign has.
const usual = 20_000
