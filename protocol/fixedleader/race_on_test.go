//go:build race

package fixedleader

// usual is how many executions a campaign has; make test runs all 20,000 without the
// race detector too.
const usual = 3_000
