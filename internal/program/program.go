// Package program is what the programs beside synod share: synod-node and synod-serve. They are modules of their own.
package program

import (
	"context"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"synod.dev/synod/llm/engine"
)

// Context returns a context that the first interrupt or termination signal ends. The second one ends the process.
func Context() (context.Context, context.CancelFunc) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}

// Root returns the root command of a program, which the user starts as synod. It prints no errors. failed marks the
// errors of the embedded model's process.
func Root(short string, failed func(error) error, commands ...*cobra.Command) *cobra.Command {
	root := &cobra.Command{Use: "synod", Short: short, SilenceUsage: true, SilenceErrors: true}
	root.CompletionOptions.DisableDefaultCmd = true
	root.AddCommand(commands...)
	root.AddCommand(engineCommand(failed))
	return root
}

// engineCommand runs the embedded model of a member. The program starts it as a child process.
func engineCommand(failed func(error) error) *cobra.Command {
	return &cobra.Command{Use: "engine", Hidden: true, DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			opts, err := engine.ParseArgs(args)
			if err == nil {
				err = engine.Serve(cmd.Context(), opts, os.Stdin, os.Stdout)
			}
			return failed(err)
		}}
}

// Printable replaces control characters, which may come from a file or a peer.
func Printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' || r == 0x7f {
			return '·'
		}
		return r
	}, s)
}
