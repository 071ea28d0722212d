//go:build !((linux || darwin) && (amd64 || arm64)) || noengine

package engine

import (
	"context"
	"fmt"
	"io"
)

const haveEngine = false

// Serve returns ErrLibrary: a model cannot run on this platform, or this is a build with
// the tag noengine, which makes a fully static binary.
func Serve(_ context.Context, _ Options, _ io.Reader, stdout io.Writer) error {
	err := fmt.Errorf("engine: %w: this build has no embedded model", ErrLibrary)
	_ = writeFrame(stdout, fromChild{Err: toWire(err)})
	return err
}
