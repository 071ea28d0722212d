package robustness_test

import (
	"bytes"
	"go/format"
	"os"
	"strings"
	"testing"
)

// TestWidened checks that the search on 128 nodes is a current copy of the one on 64.
func TestWidened(t *testing.T) {
	for _, name := range []string{"search64.go", "bound64.go", "drive64.go"} {
		source, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		want, err := format.Source([]byte("// Code generated from " + name + " by go generate; DO NOT EDIT.\n\n" +
			strings.NewReplacer("uint64", "uint64", "64", "128").Replace(string(source))))
		if err != nil {
			t.Fatal(err)
		}
		copied := strings.Replace(name, "64", "128", 1)
		if got, err := os.ReadFile(copied); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not a current copy of %s: run go generate in this folder", copied, name)
		}
	}
}
