// Package nightly marks tests that compute for long and repeat, with more runs, what faster tests check for every
// change. "make nightly" plays them before a release.
package nightly

import (
	"os"
	"testing"
)

// Variable is the environment variable that "make nightly" sets to 1.
const Variable = "SYNOD_NIGHTLY"

// Only skips a test unless it is played by "make nightly".
func Only(t testing.TB) {
	t.Helper()
	if !On() {
		t.Skip("make nightly plays this test")
	}
}

// On reports whether "make nightly" plays the tests, for tests that then play more runs.
func On() bool { return os.Getenv(Variable) == "1" }

// Size returns how large a test is, such as its number of runs: all in "make nightly", else the smaller size.
func Size(small, all int) int {
	if On() {
		return all
	}
	return small
}
