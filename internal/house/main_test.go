// Package house_test checks the rules of the house: the order of packages, purity, the length of lines, which
// files start programs.
package house_test

import (
	"os"
	"testing"
)

// TestMain plays the tests in the folder of the module, which they read.
func TestMain(m *testing.M) {
	if err := os.Chdir("../.."); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}
