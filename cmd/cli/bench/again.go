package bench

import (
	"strings"

	"github.com/spf13/cobra"

	"synod.dev/synod/cmd/cli/app"
)

// again adds the flags that a command was given, and that say what is asked, to its words.
func again(cmd *cobra.Command, source *app.CouncilFlags, words ...string) string {
	for _, name := range []string{"council", "out", "number", "repeat", "sample", "seed", "form", "schema", "tools",
		"data", "level", "members", "cell", "rounds", "substitute", "full", "parallel",
		"no-preflight"} {
		fl := cmd.Flags().Lookup(name)
		switch {
		case fl == nil || !fl.Changed:
		case fl.Value.Type() == "bool":
			words = append(words, "--"+name+"="+fl.Value.String())
		default:
			words = append(words, "--"+name, app.ShellWord(strings.Trim(fl.Value.String(), "[]")))
		}
	}
	for _, m := range source.Models {
		words = append(words, "--model", app.ShellWord(m))
	}
	for _, s := range source.Sets {
		words = append(words, "--set", app.ShellWord(s))
	}
	return strings.Join(words, " ")
}
