// Package cli is the command line of Synod, one file a verb.
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
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"synod.dev/synod"
	"synod.dev/synod/core/table"
	"synod.dev/synod/llm"
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
	root, out, messages := newRoot(), newScreen(stdout), newScreen(stderr)
	messages.colours = coloured(stderr)
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
	var e *exitError
	switch {
	case err == nil:
		e = &exitError{code: exitOK}
	case !errors.As(err, &e):
		e = &exitError{exitUsage, err, unknownCommand(root, err)} // cobra reports only usage errors itself
	}
	if out.Flush(); out.Err() != nil && e.code != exitError1 { // whoever reads the output did not get it
		e = &exitError{code: exitError1, err: fmt.Errorf("write the output: %w", out.Err())}
	}
	if e.err != nil {
		paint(messages, red, "synod:")
		text := wrapped("synod: "+printable(e.err.Error()), messages.Columns())
		fmt.Fprintln(messages, strings.TrimPrefix(text, "synod:"))
	}
	if e.hint != "" {
		fmt.Fprintln(messages, wrapped(printable(e.hint), messages.Columns()))
	}
	messages.Flush()
	return e.code
}

// narrow breaks the lines of the help of a command and of those below it.
func narrow(cmd *cobra.Command, columns int) {
	if cmd.Long = wrapped(cmd.Long, columns); cmd.Example == "" && !cmd.HasSubCommands() { // a topic, without commands
		cmd.Long = hung(cmd.Long, columns)
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
			lines[i] = hung(line, columns)
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
				return fail(exitUsage, fmt.Errorf("there is no command %q", strings.Join(args, " ")),
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
			return fail(exitUsage, fmt.Errorf("%s takes no arguments", cmd.CommandPath()))
		}
		var known []string
		for _, c := range cmd.Commands() {
			known = append(known, c.Name())
		}
		return fail(exitUsage, fmt.Errorf("unknown command %s %q%s; available: %s", cmd.CommandPath(), args[0],
			synod.Hint(args[0], known), strings.Join(known, ", ")))
	}
}

// Exit codes; see "synod help exit-codes".
const (
	exitOK          = 0
	exitError1      = 1
	exitUsage       = 2
	exitUndecided   = 3
	exitDegraded    = 4
	exitBudget      = 5
	exitDeadline    = 6
	exitVerify      = 7
	exitGate        = 100
	exitInterrupted = 130
)

// exitError ends the program with an exit code. Nothing is printed for a nil err.
type exitError struct {
	code int
	err  error
	hint string // what the user can do about it
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// fail returns an exitError with an optional hint.
func fail(code int, err error, hint ...string) error {
	e := &exitError{code: code, err: err}
	if len(hint) > 0 {
		e.hint = hint[0]
	}
	return e
}

// app holds what the commands share.
type app struct {
	home    string
	quiet   bool
	verbose bool
	dirs    dirs
	prices  llm.Prices  // prices of models; nil: the published prices
	locks   []io.Closer // of files that the command works on
}

// unlock lets other processes work on the files of the command.
func (a *app) unlock() {
	for _, lock := range a.locks {
		lock.Close()
	}
	a.locks = nil
}

func newRoot() *cobra.Command {
	a := &app{}
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
		Version:       version(),
		SilenceUsage:  true,
		SilenceErrors: true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) (err error) {
			a.sayMoved(cmd)
			if a.dirs, err = findDirs(a.home); err != nil {
				return err
			}
			return a.readPrices(prices)
		},
	}
	root.SetVersionTemplate("synod {{.Version}}\n")
	a.addFlags(root, &prices)
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return fail(exitUsage, flagError(c, err), "try: "+c.CommandPath()+" --help")
	})
	root.DisableSuggestions = true // unknownCommand makes them
	root.SetGlobalNormalizationFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		if name == "output" { // the name before 0.2
			name = "out"
		}
		return pflag.NormalizedName(name)
	})
	a.addGroups(root)
	root.AddCommand(engineCommand())
	addCompletion(root)
	return root
}

// addFlags adds the flags of all commands.
func (a *app) addFlags(root *cobra.Command, prices *string) {
	fl := root.PersistentFlags()
	fl.StringVar(&a.home, "home", os.Getenv("SYNOD_HOME"), "`folder` for config, models, cache and journals")
	fl.StringVar(prices, "prices", os.Getenv("SYNOD_PRICES"),
		"price `file`; its prices take precedence over the published ones")
	fl.BoolVarP(&a.quiet, "quiet", "q", false, "print only the answer and errors")
	fl.BoolVarP(&a.verbose, "verbose", "v", false, "print more details")
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

// readPrices reads the named price file or, if file is empty, prices.yaml in the
// configuration folder if it exists.
func (a *app) readPrices(file string) (err error) {
	optional := file == ""
	if optional {
		file = filepath.Join(a.dirs.config, "prices.yaml")
	}
	a.prices, err = llm.ReadPrices(file)
	switch {
	case optional && errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return fail(exitUsage, err, "the format of a price file is:\n  prices:\n  - {server: api.openai.com, model: "+
			"gpt-4o, prompt: 2.5, completion: 10, date: 2026-11-01}")
	}
	return nil
}

// version returns the release and the commit that the program was built from.
func version() string {
	v := release
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	commit, dirty := "", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision" && len(s.Value) >= 12:
			commit = s.Value[:12]
		case s.Key == "vcs.modified" && s.Value == "true":
			dirty = "+changes"
		}
	}
	if commit == "" {
		commit = "unknown commit"
	}
	return v + " (" + commit + dirty + ")"
}

const release = "0.1.0"

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

// dirs are the folders that Synod uses: the XDG base directories, or folders under --home.
type dirs struct{ config, data, cache, state string }

func findDirs(home string) (dirs, error) {
	if home != "" {
		home, err := filepath.Abs(home)
		if err != nil {
			return dirs{}, fail(exitUsage, fmt.Errorf("--home: %w", err))
		}
		if err := folderOf("--home", home); err != nil {
			return dirs{}, err
		}
		return dirs{home + "/config", home + "/data", home + "/cache", home + "/state"}, nil
	}
	user, err := os.UserHomeDir()
	if err != nil {
		user = ""
	}
	at := func(env, under string) string {
		if d := os.Getenv(env); d != "" {
			return d + "/synod"
		}
		if user == "" {
			return ""
		}
		return user + under + "/synod"
	}
	d := dirs{at("XDG_CONFIG_HOME", "/.config"), at("XDG_DATA_HOME", "/.local/share"), at("XDG_CACHE_HOME", "/.cache"),
		at("XDG_STATE_HOME", "/.local/state")}
	if d.config == "" || d.data == "" || d.cache == "" || d.state == "" {
		return d, fail(exitUsage, errors.New("no home folder is known"), "set HOME or give a folder with --home FOLDER")
	}
	return d, nil
}
