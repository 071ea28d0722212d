package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"synod.dev/synod/core/sign"
	"synod.dev/synod/internal/durable"
	"synod.dev/synod/internal/keyfile"
	"synod.dev/synod/network/roster"
)

// The exit codes, as those of synod.
const (
	exitError  = 1
	exitUsage  = 2
	exitVerify = 7
)

// coded is an error with an exit code.
type coded struct {
	code int
	error
}

// failed marks an error of a command's work; others are of its arguments.
func failed(err error) error {
	var done *coded
	if err == nil || errors.As(err, &done) {
		return err
	}
	return &coded{exitError, err}
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

func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

func (c *coded) Unwrap() error { return c.error }

func isRun(err error) bool {
	var e *coded
	return errors.As(err, &e)
}
