package cli

import (
	"github.com/spf13/cobra"

	"synod.dev/synod/cmd/cli/app"
)

// besideCommands are the commands of synod-node and synod-serve, which are programs of their own because of
// the libraries that they link.
func besideCommands(a *app.App) (all []*cobra.Command) {
	for _, c := range []struct{ program, use, short string }{
		{"synod-node", "node COMMAND", "Play one seat of a council of several owners as a daemon"},
		{"synod-node", "roster COMMAND", "Make, sign, show, check and compare rosters of such councils"},
		{"synod-serve", "serve [COMMAND]", "Serve councils to OpenAI and Anthropic clients over HTTP"},
		{"synod-serve", "mcp", "Serve councils to a Model Context Protocol client"},
	} {
		all = append(all, &cobra.Command{
			Use: c.use, Short: c.short, DisableFlagParsing: true,
			RunE: func(cmd *cobra.Command, args []string) error {
				return a.RunBeside(cmd, c.program, append([]string{cmd.Name()}, args...))
			},
		})
	}
	return all
}
