package engine

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

// TestMain makes the test binary its own engine, as `synod engine` will be:
// Start runs this executable with "engine" as its first argument. "liar" and the
// like are children that misbehave; see fake_test.go.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "engine" {
		os.Exit(child(os.Args[2:]))
	}
	if len(os.Args) > 2 && strings.HasPrefix(os.Args[1], "fake-") {
		os.Exit(fakeChild(os.Args[1]))
	}
	code := m.Run()
	if shared.c != nil {
		_ = shared.c.Close()
	}
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func child(args []string) int {
	opts, err := ParseArgs(args)
	if err == nil {
		err = Serve(context.Background(), opts, os.Stdin, os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}
