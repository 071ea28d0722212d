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
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"synod.dev/synod/cli"
	"synod.dev/synod/llm/engine"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process
	log.SetOutput(io.Discard)    // net/http logs bytes that clients and servers send
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// usageError is an error of the arguments or the configuration.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// run runs the command line and returns its exit code; those of synod.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	root := &cobra.Command{Use: "synod", Short: "Serve councils over HTTP", SilenceUsage: true, SilenceErrors: true,
		Version: cli.Version()}
	root.CompletionOptions.DisableDefaultCmd = true
	root.AddCommand(serveCommand(), mcpCommand(), engineCommand())
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
	fmt.Fprintln(stderr, "synod:", printable(err.Error()))
	if _, hint := cli.Code(err); hint != "" {
		fmt.Fprintln(stderr, printable(hint))
	}
	var usage usageError
	if errors.As(err, &usage) || strings.HasPrefix(err.Error(), "unknown command") {
		return 2
	}
	return 1
}

// printable replaces control characters, which may come from a file.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' || r == 0x7f {
			return '·'
		}
		return r
	}, s)
}

// engineCommand runs the embedded model of a member; the gateway starts it as a child process.
func engineCommand() *cobra.Command {
	return &cobra.Command{Use: "engine", Hidden: true, DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			opts, err := engine.ParseArgs(args)
			if err == nil {
				err = engine.Serve(cmd.Context(), opts, os.Stdin, os.Stdout)
			}
			return err
		}}
}
