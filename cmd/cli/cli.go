// Package cli is the command line of Synod. It puts the root command together; the groups of commands are the packages
// below it, and package app is what they share.
//
// A program of another module that adds its own protocols, adversaries, tasks or
// topologies registers them in their catalogues and then calls Main:
//
//	func main() {
//		catalog.Protocols.Add(mine.Entry)
//		cli.Main()
//	}
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"regexp"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"synod.dev/synod"
	"synod.dev/synod/cmd/cli/app"
	"synod.dev/synod/core/table"
	"synod.dev/synod/network/node/call"
)

// Main runs the command line of this process and exits with its code. The first
// interrupt or termination signal cancels the command, which saves its state; the
// second one ends the process.
func Main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	log.SetOutput(io.Discard) // net/http logs bytes that servers send unasked, which may contain a key or escapes
	code := Run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// Run runs the command given by args (without the program's name) and returns its
// exit code. Errors and hints are written to stderr. Progress bars are drawn only
// if stderr is a terminal.
func Run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	call.Register()
	a := &app.App{}
	root, out, messages := rootOf(a), app.NewScreen(stdout), app.NewScreen(stderr)
	messages.Colours = app.Coloured(stderr)
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(out)
	root.SetErr(messages)
	complete(root)
	if n := messages.Columns(); n > 0 {
		root.SetUsageTemplate(strings.NewReplacer(".FlagUsages ", fmt.Sprintf(".FlagUsagesWrapped %d ", n),
			" for more information about a command", " for more about it").Replace(root.UsageTemplate()))
		narrow(root, n)
	}
	err := root.ExecuteContext(ctx)
	var e *app.Error
	switch {
	case err == nil:
		e = &app.Error{Code: app.ExitOK}
	case !errors.As(err, &e):
		// cobra reports only usage errors itself
		e = &app.Error{Code: app.ExitUsage, Err: err, Hint: unknownCommand(root, err)}
	}
	if out.Flush(); out.Err() != nil && e.Code != app.ExitFailure { // whoever reads the output did not get it
		e = &app.Error{Code: app.ExitFailure, Err: fmt.Errorf("write the output: %w", out.Err())}
	}
	if err := a.Unmarked(); err != nil && e.Code != app.ExitFailure {
		errors.As(err, &e)
	}
	if e.Err != nil {
		app.Paint(messages, app.Red, "synod:")
		text := wrapped("synod: "+app.Printable(app.WithHelp(e.Err)), messages.Columns())
		fmt.Fprintln(messages, strings.TrimPrefix(text, "synod:"))
	}
	if e.Hint != "" {
		fmt.Fprintln(messages, wrapped(app.Printable(e.Hint), messages.Columns()))
	}
	messages.Flush()
	return e.Code
}

// narrow breaks the lines of the help of a command and of those below it.
func narrow(cmd *cobra.Command, columns int) {
	if cmd.Long = wrapped(cmd.Long, columns); cmd.Example == "" && !cmd.HasSubCommands() { // a topic, without commands
		cmd.Long = app.Hang(cmd.Long, columns)
	}
	for _, sub := range cmd.Commands() {
		narrow(sub, columns)
	}
}

// remedy is the beginning of a line about something that it names: "  m2: text".
var remedy = regexp.MustCompile(`^ +\S+: `)

// wrapped breaks the lines of a message between words. Other lines that begin with a space than those about something
// stay: they are commands to copy.
func wrapped(text string, columns int) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		switch {
		case !strings.HasPrefix(line, " "):
			lines[i] = table.Wrap(line, columns)
		case remedy.MatchString(line):
			lines[i] = app.Hang(line, columns)
		}
	}
	return strings.Join(lines, "\n")
}

// Command returns the command line, for programs that document it. Main runs it.
func Command() *cobra.Command {
	root := newRoot()
	complete(root)
	return root
}

// complete adds the commands that cobra provides. The output of root must be set before.
func complete(root *cobra.Command) {
	root.SetHelpCommand(helpCommand(root))
	root.SetHelpCommandGroupID(operateGroup)
	root.SetCompletionCommandGroupID(operateGroup)
	root.InitDefaultCompletionCmd()
	refuseUnknown(root)
}

// helpCommand is "synod help" with an error for an unknown command.
func helpCommand(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Show the help of a command",
		RunE: func(_ *cobra.Command, args []string) error {
			found, rest, err := root.Find(args)
			if err != nil || len(rest) > 0 {
				return app.Fail(app.ExitUsage, fmt.Errorf("there is no command %q", strings.Join(args, " ")),
					"try: synod --help")
			}
			found.InitDefaultHelpFlag()
			return found.Help()
		},
	}
}

// refuseUnknown makes every command that only has subcommands fail for another word. Cobra
// would print its help and succeed.
func refuseUnknown(cmd *cobra.Command) {
	for _, c := range cmd.Commands() {
		refuseUnknown(c)
	}
	if cmd.Runnable() || !cmd.HasParent() {
		return
	}
	cmd.Args = cobra.ArbitraryArgs
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return cmd.Help()
		}
		if !cmd.HasSubCommands() {
			return app.Fail(app.ExitUsage, fmt.Errorf("%s takes no arguments", cmd.CommandPath()))
		}
		var known []string
		for _, c := range cmd.Commands() {
			known = append(known, c.Name())
		}
		return app.Fail(app.ExitUsage, fmt.Errorf("unknown command %s %q%s; available: %s", cmd.CommandPath(), args[0],
			synod.Hint(args[0], known), strings.Join(known, ", ")))
	}
}

func newRoot() *cobra.Command { return rootOf(&app.App{}) }

// rootOf returns the root command, whose commands work with a.
func rootOf(a *app.App) *cobra.Command {
	var prices string
	root := &cobra.Command{
		Use:   "synod",
		Short: "Byzantine-robust agreement for language models",
		Long: `Synod asks a council of language models a question. Some members may be wrong,
broken or hostile. Synod prints the answer and states what is guaranteed about it.`,
		Example: `  synod ask "What is the capital of France?"        # the embedded model
  synod ask --model ollama:llama3.2 "What is 17 + 25?"
  synod ask -c council.yaml --json "Is 91 prime?"
  synod list protocols`,
		Version:       app.Version(),
		SilenceUsage:  true,
		SilenceErrors: true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			sayMoved(a, cmd)
			a.Memory.Keep()
			return a.Open(prices)
		},
	}
	root.SetVersionTemplate("synod {{.Version}}\n")
	addFlags(a, root, &prices)
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return app.Fail(app.ExitUsage, flagError(c, err), "try: "+c.CommandPath()+" --help")
	})
	root.DisableSuggestions = true // unknownCommand makes them
	root.SetGlobalNormalizationFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		if name == "output" { // the name before 0.2
			name = "out"
		}
		return pflag.NormalizedName(name)
	})
	addGroups(a, root)
	root.AddCommand(engineCommand())
	addCompletion(root)
	return root
}

// addFlags adds the flags of all commands.
func addFlags(a *app.App, root *cobra.Command, prices *string) {
	fl := root.PersistentFlags()
	fl.StringVar(&a.Home, "home", os.Getenv("SYNOD_HOME"), "`folder` for config, models, cache and journals")
	fl.StringVar(prices, "prices", os.Getenv("SYNOD_PRICES"),
		"price `file`; its prices take precedence over the published ones")
	fl.Var(&a.Memory, "memory", "memory that the program tries to keep to, such as `256MiB`; responses of models are "+
		"held within an eighth of it (default 512MiB, or GOMEMLIMIT)")
	fl.BoolVarP(&a.Quiet, "quiet", "q", false, "print only the answer and errors")
	fl.BoolVarP(&a.Verbose, "verbose", "v", false, "print more details")
}

// unknownCommand is the hint for cobra's error about an unknown command.
func unknownCommand(root *cobra.Command, err error) string {
	var word string
	if _, scan := fmt.Sscanf(err.Error(), "unknown command %q for", &word); scan != nil {
		return "try: synod --help"
	}
	var known []string
	for _, c := range root.Commands() {
		if c.IsAvailableCommand() || moved[c.Name()] != "" {
			known = append(known, c.Name())
		}
	}
	return strings.TrimLeft(strings.Trim(synod.Hint(word, known), " ()")+" try: synod --help", " ")
}

// flagError says what a flag takes, or which flag is nearest to an unknown one.
func flagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	var wrong *pflag.InvalidValueError
	switch {
	case errors.As(err, &unknown) && len(unknown.GetSpecifiedName()) > 1:
		var known []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { known = append(known, "--"+f.Name) })
		return fmt.Errorf("%w%s", err, synod.Hint("--"+unknown.GetSpecifiedName(), known))
	case errors.As(err, &wrong):
		takes := map[string]string{"int": "a whole number, such as 3", "uint64": "a whole number, 0 or more, such as 3",
			"float64": "a number, such as 0.5", "duration": "a duration with its unit, such as 10s",
			"bool": "true or false", "intSlice": "whole numbers, such as 4,5"}[wrong.GetFlag().Value.Type()]
		if takes != "" {
			return fmt.Errorf("--%s is %q; it must be %s", wrong.GetFlag().Name, wrong.GetValue(), takes)
		}
	}
	return err
}

func exitCodesTopic() *cobra.Command {
	return &cobra.Command{
		Use:   "exit-codes",
		Short: "List the exit codes",
		Long: `Exit codes:
  0    ok
  1    error
  2    usage or configuration
  3    no consensus: enough members answered, but no answer satisfies the rule
  4    degraded: fewer members answered than the rule needs
  5    a limit on calls, tokens or money was reached before the question was decided
  6    the deadline passed before the question was decided
  7    verification failed, for example a replay that differs
  100  a gate or assertion failed
  130  interrupted; the state is saved and the command that continues is printed`,
	}
}
