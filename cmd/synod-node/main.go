// Synod-node plays one seat of a council whose seats have different owners, and makes and checks the
// rosters of such councils. "synod node" and "synod roster" start it when it lies beside synod.
//
// It is a module of its own because of go-libp2p, which the command synod neither downloads nor links.
package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"synod.dev/synod/internal/program"
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

func root() *cobra.Command {
	return program.Root("Nodes and rosters of councils with several owners", failed, nodeCommand(), rosterCommand())
}
