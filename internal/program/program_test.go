package program

import (
	"syscall"
	"testing"
	"time"
)

func TestPrintable(t *testing.T) {
	if got := Printable("a\x1b[31m\tb\nü\x7f"); got != "a·[31m·b\nü·" {
		t.Errorf("%q", got)
	}
}

// A termination signal ends the context and not the process.
func TestContext(t *testing.T) {
	ctx, stop := Context()
	defer stop()
	if err := syscall.Kill(syscall.Getpid(), syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	select {
	case <-ctx.Done():
	case <-time.After(10 * time.Second):
		t.Fatal("the context goes on")
	}
}

// The engine of embedded members is there, and hidden.
func TestRoot(t *testing.T) {
	root := Root("Serve", func(err error) error { return err })
	cmd, _, err := root.Find([]string{"engine"})
	if err != nil || !cmd.Hidden || cmd.Name() != "engine" {
		t.Errorf("%v, %v", cmd, err)
	}
}
