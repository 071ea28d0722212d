// Package verification checks certificates and says what they prove. Its Result is also what the commands about
// journals, ledgers and evidence print. Programs beside synod use it too.
package verification

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"synod.dev/synod/cmd/cli/app"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/llm/structured"
)

// Result is the JSON output of synod verify.
type Result struct {
	Version    int      `json:"version"`
	Kind       string   `json:"kind"` // journal or certificate
	Valid      bool     `json:"valid"`
	FirstError string   `json:"first_error"` // "" if valid
	Claims     []string `json:"claims"`
	NotProved  []string `json:"not_proved"`
	// Of a certificate of a merged JSON value: the value, and how its parts were decided.
	Value  *structured.Value  `json:"value,omitempty"`
	Fields []structured.Field `json:"fields,omitempty"`
	// Warning says why a valid certificate should not be relied on.
	Warning string `json:"warning,omitempty"`
}

// Print prints a verification that found the error, or none, and returns the error with its exit code.
func (v *Result) Print(cmd *cobra.Command, err error, asJSON bool) error {
	var bad *plan.ConfigError
	if errors.As(err, &bad) {
		return app.Fail(app.ExitFailure, err)
	}
	v.conclude(err)
	if asJSON {
		if err := app.WriteJSON(cmd.OutOrStdout(), v); err != nil {
			return app.Fail(app.ExitFailure, err)
		}
	} else if v.Valid {
		fmt.Fprintln(cmd.OutOrStdout(), "VALID")
		if v.Warning != "" {
			fmt.Fprintln(cmd.OutOrStdout(), "WARNING:", v.Warning)
		}
		printList(cmd, "proved:", v.Claims)
		printList(cmd, "not proved:", v.NotProved)
	}
	if errors.Is(err, os.ErrNotExist) {
		return app.Fail(app.ExitVerify, err, "check the path; see the journals with: synod journals list")
	}
	if err != nil {
		return app.Fail(app.ExitVerify, err)
	}
	return nil
}

// conclude records the first problem, or that there is none.
func (v *Result) conclude(err error) {
	if v.Valid = err == nil; err != nil {
		v.FirstError, v.Claims = err.Error(), []string{}
	}
}

func printList(cmd *cobra.Command, title string, lines []string) {
	fmt.Fprintln(cmd.OutOrStdout(), title)
	for _, line := range lines {
		app.PrintLine(cmd.OutOrStdout(), "  - "+app.OneLine(line))
	}
}
