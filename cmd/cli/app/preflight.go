package app

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"synod.dev/synod/council"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/llm"
)

// AddNoPreflight adds --no-preflight.
func AddNoPreflight(cmd *cobra.Command, off *bool) {
	cmd.Flags().BoolVar(off, "no-preflight", false,
		"do not check keys, addresses and model names before the first call")
}

// WarnOf prints the members that cannot answer.
func WarnOf(w io.Writer, checks []council.Check) {
	for _, k := range checks {
		if k.Err != nil {
			fmt.Fprintf(w, "%s cannot answer: %s\n", CheckedMember(k), CheckedProblem(k))
		}
	}
}

// CheckedMember names the model that was checked, and its seats.
func CheckedMember(k council.Check) string {
	return fmt.Sprintf("%s (%s)", k.Model, strings.Join(k.Seats, ", "))
}

// CheckedProblem says why a member cannot answer, and what to do.
func CheckedProblem(k council.Check) string {
	why := OneLine(k.Err.Reason())
	if k.Server != "" {
		why = k.Server + ": " + why
	}
	if k.Advice == "" {
		return why
	}
	return why + "; " + k.Advice
}

// HasEndpoint reports whether a model of a council is behind a network API.
func HasEndpoint(spec plan.Spec) bool {
	for _, m := range spec.Models {
		name, _ := m["provider"].(string)
		if p, err := llm.Providers.Find(name); err == nil && p.Kind == llm.Endpoint {
			return true
		}
	}
	return false
}
