// Synod-node plays one seat of a council whose seats have different owners, and makes and checks the
// rosters of such councils. "synod node" and "synod roster" start it when it lies beside synod.
//
// It is a module of its own because of go-libp2p, which the command synod neither downloads nor links.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"synod.dev/synod/core/sign"
	"synod.dev/synod/internal/durable"
	"synod.dev/synod/internal/keyfile"
	"synod.dev/synod/internal/program"
	"synod.dev/synod/network/roster"
)

// The exit codes; those of synod.
const (
	exitError  = 1
	exitUsage  = 2
	exitVerify = 7
)

func main() {
	ctx, stop := program.Context()
	command, messages := root(), &program.Screen{To: os.Stderr}
	command.SetOut(&program.Screen{To: os.Stdout})
	command.SetErr(messages)
	err := command.ExecuteContext(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(messages, "synod:", program.Printable(err.Error()))
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

func root() *cobra.Command {
	return program.Root("Nodes and rosters of councils with several owners", failed, nodeCommand(), rosterCommand())
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
	b, err := durable.ReadFile(path, 2*roster.MaxFile)
	if err != nil {
		return nil, err
	}
	s, err := roster.Parse(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

// readAfter is readRoster for a roster whose file may lack the one before it, which previous then names.
func readAfter(path, previous string) (*roster.Signed, error) {
	s, err := readRoster(path)
	if err != nil || previous == "" {
		return s, err
	}
	before, err := readRoster(previous)
	if err != nil {
		return nil, err
	}
	after := roster.Successor(s.Roster, before)
	after.Signatures = s.Signatures
	return after, nil
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
