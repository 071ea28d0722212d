package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"synod.dev/synod/cmd/cli/app"
	"synod.dev/synod/cmd/cli/ask"
	"synod.dev/synod/cmd/cli/bench"
	"synod.dev/synod/cmd/cli/graph"
	"synod.dev/synod/cmd/cli/operate"
	"synod.dev/synod/cmd/cli/research"
	"synod.dev/synod/cmd/cli/setup"
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
	add(askGroup, ask.Command(a), setup.InitCommand(a), bench.CalibrateCommand(a), setup.DoctorCommand(a),
		setup.DemoCommand(a), setup.ModelsCommand(a), ask.ReplayCommand(a), ask.VerifyCommand())
	add(serveGroup, besideCommands(a)...)
	add(measureGroup, bench.Command(a), bench.AttackCommand(a), bench.DataCommand(a), bench.GradeCommand())
	add(researchGroup, graph.Command(a), research.ListCommand(), research.ExplainCommand(),
		rest("research", "Play games, train probes, and try the claims of the protocols", researching(a)))
	add(operateGroup, setup.ConfigCommand(a), operate.JournalsCommand(a), operate.CacheCommand(a), environmentTopic(),
		exitCodesTopic(),
		rest("operate", "Keep ledgers, evidence, and what members were trusted with", operating(a)))
	for _, old := range append(slices.Concat(researching(a), operating(a)), bench.OldCommand(a)) {
		old.Hidden = true
		root.AddCommand(old)
	}
}

func researching(a *app.App) []*cobra.Command {
	return []*cobra.Command{research.GameCommand(a), research.ProbeCommand(a), research.CampaignCommand(a),
		research.VerifyClaimsCommand(a)}
}

func operating(a *app.App) []*cobra.Command {
	return []*cobra.Command{operate.LedgerCommand(a), operate.EvidenceCommand(a), operate.TrustCommand(a)}
}

// rest is the command of a group that has further commands.
func rest(name, short string, all []*cobra.Command) *cobra.Command {
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
	old := strings.Join(words[:2], " ")
	fmt.Fprintf(cmd.ErrOrStderr(), "%s is now %s\n", old, grouped(old))
}

// grouped returns the path of a command under its group: synod research game for synod game.
func grouped(path string) string {
	words := strings.Fields(path)
	if len(words) > 1 && moved[words[1]] != "" {
		words = slices.Insert(words, 1, moved[words[1]])
	}
	return strings.Join(words, " ")
}
