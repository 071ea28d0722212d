// Synod-node plays one seat of a council whose seats have different owners, and makes and checks the
// rosters of such councils. "synod node" and "synod roster" start it when it lies beside synod.
//
// It is a module of its own because of go-libp2p, which the command synod neither downloads nor links.
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"synod.dev/synod/internal/durable"
	"synod.dev/synod/internal/keyfile"
	"synod.dev/synod/llm/engine"
	"synod.dev/synod/roster"
	"synod.dev/synod/sign"
)

// The exit codes; those of synod.
const (
	exitError  = 1
	exitUsage  = 2
	exitVerify = 7
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := root().ExecuteContext(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "synod:", printable(err.Error()))
		code := exitError
		var e *coded
		switch {
		case errors.As(err, &e):
			code = e.code
		case !isRun(err):
			code = exitUsage
		}
		os.Exit(code)
	}
}

// coded is an error with an exit code.
type coded struct {
	code int
	error
}

func (c *coded) Unwrap() error { return c.error }

// failed marks an error of a command's work; others are of its arguments.
func failed(err error) error {
	var done *coded
	if err == nil || errors.As(err, &done) {
		return err
	}
	return &coded{exitError, err}
}

func isRun(err error) bool {
	var e *coded
	return errors.As(err, &e)
}

// printable replaces control characters, which may come from a file or a peer.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' || r == 0x7f {
			return '·'
		}
		return r
	}, s)
}

func root() *cobra.Command {
	top := &cobra.Command{Use: "synod", Short: "Nodes and rosters of councils with several owners",
		SilenceUsage: true, SilenceErrors: true}
	top.CompletionOptions.DisableDefaultCmd = true
	top.AddCommand(nodeCommand(), rosterCommand(), engineCommand())
	return top
}

// engineCommand runs the embedded model of a seat; the node starts it as a child process.
func engineCommand() *cobra.Command {
	return &cobra.Command{Use: "engine", Hidden: true, DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			opts, err := engine.ParseArgs(args)
			if err == nil {
				err = engine.Serve(cmd.Context(), opts, os.Stdin, os.Stdout)
			}
			return failed(err)
		}}
}

// readKey reads the key in a file. Its passphrase is in SYNOD_PASSPHRASE or is typed.
func readKey(path string) (sign.Secret, error) {
	if path == "" {
		return sign.Secret{}, errors.New("give the key with --key FILE; synod node init FILE makes one")
	}
	return keyfile.Read(path, func() ([]byte, error) { return passphrase("passphrase of " + path + ": ") })
}

func passphrase(prompt string) ([]byte, error) {
	if p := os.Getenv("SYNOD_PASSPHRASE"); p != "" {
		return []byte(p), nil
	}
	if !term.IsTerminal(int(os.Stdin.Fd())) {
		return nil, errors.New("the key needs a passphrase: set SYNOD_PASSPHRASE, or run this in a terminal")
	}
	fmt.Fprint(os.Stderr, prompt)
	b, err := term.ReadPassword(int(os.Stdin.Fd()))
	fmt.Fprintln(os.Stderr)
	return b, err
}

// readRoster reads the roster in a file without checking its signatures.
func readRoster(path string) (*roster.Signed, error) {
	if path == "" {
		return nil, errors.New("give the roster with --roster FILE")
	}
	b, err := durable.ReadFile(path, 4*roster.MaxBytes)
	if err != nil {
		return nil, err
	}
	s, err := roster.Parse(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

// write writes a file for others to read, or to stdout for "-".
func write(path string, b []byte) error {
	if path == "-" {
		_, err := os.Stdout.Write(b)
		return err
	}
	if old, err := os.ReadFile(path); err == nil && !bytes.Equal(old, b) {
		return fmt.Errorf("%s exists; remove it or name another file with -o", path)
	}
	return os.WriteFile(path, b, 0o644)
}

// agree shows what somebody accepts, and asks.
func agree(cmd *cobra.Command, yes bool, question string) error {
	if yes {
		return nil
	}
	if !term.IsTerminal(int(os.Stdin.Fd())) {
		return errors.New("this needs your consent: read the above, and add --yes")
	}
	fmt.Fprint(cmd.ErrOrStderr(), question+" [y/N] ")
	var answer string
	if _, err := fmt.Fscanln(os.Stdin, &answer); err != nil || !strings.EqualFold(answer, "y") {
		return errors.New("not accepted")
	}
	return nil
}
