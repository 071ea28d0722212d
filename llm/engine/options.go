package engine

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strconv"
	"strings"

	"synod.dev/synod/internal/durable"
)

// Options are the settings on the command line of the child.
type Options struct {
	LibDir     string
	ModelPath  string
	Context    int
	Seqs       int
	Threads    int
	AnyLibrary bool // accept another version than LibraryVersion if its layout fits
	Hidden     bool // hidden states can be requested
}

const (
	defaultContext = 2048
	defaultSeqs    = 8
	branches       = 8   // sequences for continuations
	batchTokens    = 256 // tokens in one decode call, and in one continuation
	chunkTokens    = 64  // prompt tokens in one decode call; more is not faster on a CPU and delays cancelling
	maxSeqs        = 64
)

func (o Options) withDefaults() Options {
	if o.Context == 0 {
		o.Context = defaultContext
	}
	if o.Seqs == 0 {
		o.Seqs = defaultSeqs
	}
	if o.Threads == 0 {
		o.Threads = 1
	}
	return o
}

func (o Options) check() error {
	switch {
	case o.LibDir == "":
		return fmt.Errorf("engine: %w: no folder is given", ErrLibrary)
	case o.ModelPath == "":
		return fmt.Errorf("engine: %w: no file is given", ErrModel)
	case o.Context < 64 || o.Context > 1<<20:
		return fmt.Errorf("engine: context of %d tokens, want 64 to %d", o.Context, 1<<20)
	case o.Seqs < 1 || o.Seqs > maxSeqs:
		return fmt.Errorf("engine: %d sequences, want 1 to %d", o.Seqs, maxSeqs)
	case o.Threads < 1 || o.Threads > 256:
		return fmt.Errorf("engine: %d threads, want 1 to 256", o.Threads)
	}
	return checkGGUF(o.ModelPath)
}

// cells returns the size of the key-value cache: half of what Seqs full contexts
// would need, because seats share prompts. A job that does not fit waits.
func (o Options) cells() int { return max(o.Context, o.Context*(o.Seqs+1)/2) }

// checkGGUF checks the first four bytes only. The child checks the rest.
func checkGGUF(path string) error {
	f, err := durable.Open(path)
	if err != nil {
		return fmt.Errorf("engine: %w: %w", ErrModel, err)
	}
	defer f.Close()
	var magic [4]byte
	if _, err := io.ReadFull(f, magic[:]); err != nil || string(magic[:]) != "GGUF" {
		return fmt.Errorf("engine: %w: %s is not a GGUF file", ErrModel, path)
	}
	return nil
}

// supported returns an error for another version of the library, unless the user
// chose the folder. Symbols and struct layouts are checked in any case.
func supported(version string, o Options) error {
	if base, _, _ := strings.Cut(version, "-"); base == LibraryVersion || o.AnyLibrary {
		return nil
	}
	return fmt.Errorf("engine: %w: llama.cpp %s in %s, this build needs %s: run `synod models pull llama.cpp`, or "+
		"give the folder in the configuration",
		ErrLibrary, version, o.LibDir, LibraryVersion)
}

// args returns the command line that ParseArgs reads.
func (o Options) args() []string {
	a := []string{
		"--lib", o.LibDir, "--model", o.ModelPath, "--context", strconv.Itoa(o.Context), "--seqs", strconv.Itoa(o.Seqs),
		"--threads", strconv.Itoa(o.Threads),
	}
	if o.AnyLibrary {
		a = append(a, "--any-library")
	}
	if o.Hidden {
		a = append(a, "--hidden")
	}
	return a
}

// ParseArgs reads the arguments of the hidden command `engine`.
func ParseArgs(args []string) (Options, error) {
	var o Options
	fs := flag.NewFlagSet("engine", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	fs.StringVar(&o.LibDir, "lib", "", "folder of llama.cpp's shared libraries")
	fs.StringVar(&o.ModelPath, "model", "", "GGUF file")
	fs.IntVar(&o.Context, "context", defaultContext, "limit of a sequence in tokens")
	fs.IntVar(&o.Seqs, "seqs", defaultSeqs, "number of sequences decoded together")
	fs.IntVar(&o.Threads, "threads", 1, "threads")
	fs.BoolVar(&o.AnyLibrary, "any-library", false, "accept another library version")
	fs.BoolVar(&o.Hidden, "hidden", false, "make hidden states available")
	if err := fs.Parse(args); err != nil {
		return o, fmt.Errorf("engine: %w", err)
	}
	if fs.NArg() > 0 {
		return o, errors.New("engine: unexpected argument " + fs.Arg(0))
	}
	return o, nil
}
