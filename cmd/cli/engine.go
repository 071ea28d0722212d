package cli

import (
	"github.com/spf13/cobra"

	"synod.dev/synod/cmd/cli/app"
	"synod.dev/synod/llm/engine"
)

// engineCommand runs an embedded model; Synod starts it as a child process.
func engineCommand() *cobra.Command {
	return &cobra.Command{
		Use:                "engine",
		Hidden:             true,
		DisableFlagParsing: true,
		PersistentPreRunE:  func(*cobra.Command, []string) error { return nil },
		RunE: func(cmd *cobra.Command, args []string) error {
			opts, err := engine.ParseArgs(args)
			if err != nil {
				return app.Fail(app.ExitUsage, err)
			}
			if err := engine.Serve(cmd.Context(), opts, cmd.InOrStdin(), app.RawOut(cmd)); err != nil {
				return app.Fail(app.ExitFailure, err)
			}
			return nil
		},
	}
}
