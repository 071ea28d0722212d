//go:build race

package fixedleader

// usual is the number of executions of a campaign; make test runs all 20,000 without the
// race detector too.
const usual = 1_000
