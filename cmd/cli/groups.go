package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"synod.dev/synod/cmd/cli/app"
	"synod.dev/synod/cmd/cli/bench"
)

// The groups of commands, by what somebody wants to do.
const (
	askGroup      = "ask"
	serveGroup    = "serve"
	measureGroup  = "measure"
	researchGroup = "research"
	operateGroup  = "operate"
)

// moved are the commands that stand under their group, by the name that they had before. The old name works and says
// the new one.
var moved = map[string]string{"game": researchGroup, "probe": researchGroup, "campaign": researchGroup,
	"verify-claims": researchGroup, "ledger": operateGroup, "evidence": operateGroup, "trust": operateGroup}

// addGroups adds all commands in five groups, of which help lists at most eight commands each.
func addGroups(a *app.App, root *cobra.Command) {
	root.AddGroup(&cobra.Group{ID: askGroup, Title: "Ask:"}, &cobra.Group{ID: serveGroup, Title: "Serve:"},
		&cobra.Group{ID: measureGroup, Title: "Measure:"}, &cobra.Group{ID: researchGroup, Title: "Research:"},
		&cobra.Group{ID: operateGroup, Title: "Operate:"})
	add := func(group string, all ...*cobra.Command) {
		for _, c := range all {
			c.GroupID = group
		}
		root.AddCommand(all...)
	}
	add(askGroup, askCommand(a), initCommand(a), bench.CalibrateCommand(a), doctorCommand(a), demoCommand(a),
		modelsCommand(a), replayCommand(a), verifyCommand(a))
	add(serveGroup, besideCommands(a)...)
	add(measureGroup, bench.Command(a), bench.AttackCommand(a), dataCommand(a), gradeCommand())
	add(researchGroup, graphCommand(a), listCommand(a), explainCommand(a),
		rest(a, "research", "Play games, train probes, and try the claims of the protocols", researching(a)))
	add(operateGroup, configCommand(a), journalsCommand(a), cacheCommand(a), environmentTopic(), exitCodesTopic(),
		rest(a, "operate", "Keep ledgers, evidence, and what members were trusted with", operating(a)))
	for _, old := range append(slices.Concat(researching(a), operating(a)), bench.OldCommand(a)) {
		old.Hidden = true
		root.AddCommand(old)
	}
}

func researching(a *app.App) []*cobra.Command {
	return []*cobra.Command{gameCommand(a), probeCommand(a), campaignCommand(a), verifyClaimsCommand(a)}
}

func operating(a *app.App) []*cobra.Command {
	return []*cobra.Command{ledgerCommand(a), evidenceCommand(a), trustCommand(a)}
}

// rest is the command of a group that has further commands.
func rest(a *app.App, name, short string, all []*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{Use: name, Short: short}
	cmd.AddCommand(all...)
	return cmd
}

// sayMoved says the new name of a command that was called by its old one.
func sayMoved(a *app.App, cmd *cobra.Command) {
	words := strings.Fields(cmd.CommandPath())
	if len(words) < 2 || a.Quiet {
		return
	}
	if words[1] == "lab" {
		fmt.Fprintln(cmd.ErrOrStderr(), "synod lab is now synod bench")
		return
	}
	if moved[words[1]] == "" {
		return
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "%s is now synod %s %s\n", strings.Join(words[:2], " "), moved[words[1]], words[1])
}

// unmoved returns the path of a command without its group: synod game for synod research game.
func unmoved(path string) string {
	words := strings.Fields(path)
	if len(words) > 2 && moved[words[2]] == words[1] {
		words = slices.Delete(words, 1, 2)
	}
	return strings.Join(words, " ")
}

// usualFlags are those that the help of synod ask lists; --help-all lists all.
var usualFlags = []string{"council", "model", "set", "form", "schema", "image", "file", "json", "show", "dry-run",
	"resume", "help", "help-all", "quiet", "verbose"}

// shortHelp has the help of a command list the usual flags, and --help-all all of them.
func shortHelp(cmd *cobra.Command) {
	all := cmd.Flags().Bool("help-all", false, "help with all flags")
	long, run := cmd.HelpFunc(), cmd.RunE
	cmd.SetHelpFunc(func(c *cobra.Command, args []string) {
		var hidden []*pflag.Flag
		hide := func(f *pflag.Flag) {
			if !*all && !f.Hidden && !slices.Contains(usualFlags, f.Name) {
				f.Hidden, hidden = true, append(hidden, f)
			}
		}
		c.LocalFlags().VisitAll(hide)
		c.InheritedFlags().VisitAll(hide)
		long(c, args)
		for _, f := range hidden {
			f.Hidden = false
		}
	})
	cmd.RunE = func(c *cobra.Command, args []string) error {
		if *all {
			return c.Help()
		}
		return run(c, args)
	}
}
