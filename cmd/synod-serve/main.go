// Synod-serve answers OpenAI and Anthropic clients with the decisions of councils. "synod serve" starts it when
// it lies beside synod.
//
// It is a module of its own because of the libraries for databases and telemetry, which the command synod
// neither downloads nor links.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"synod.dev/synod/cmd/cli/app"
	"synod.dev/synod/internal/program"
)

func main() {
	ctx, stop := program.Context()
	log.SetOutput(io.Discard) // net/http logs bytes that clients and servers send
	code := run(ctx, os.Args[1:], &program.Screen{To: os.Stdout}, &program.Screen{To: os.Stderr})
	stop()
	os.Exit(code)
}

// run runs the command line and returns its exit code; those of synod.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	root := program.Root("Serve councils over HTTP", func(err error) error { return err }, serveCommand(), mcpCommand(),
		watchCommand())
	root.Version = app.Version()
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return usageError{fmt.Errorf("%w (try: %s --help)", err, c.CommandPath())}
	})
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	fmt.Fprintln(stderr, "synod:", program.Printable(err.Error()))
	if _, hint := app.Code(err); hint != "" {
		fmt.Fprintln(stderr, program.Printable(hint))
	}
	var usage usageError
	if errors.As(err, &usage) || strings.HasPrefix(err.Error(), "unknown command") {
		return 2
	}
	return 1
}
