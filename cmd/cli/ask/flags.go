package ask

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"synod.dev/synod/cmd/cli/app"
)

// askFlags are the flags of "synod ask".
type askFlags struct {
	app.JournalFlags
	source   app.CouncilFlags
	attach   attachFlags
	form     string
	schema   string
	tools    string
	seed     uint64
	asJSON   bool
	dryRun   bool
	noCheck  bool
	record   string
	fallback string
	show     []string
	escalate bool
	atLeast  float64
	claims   bool
	drop     bool

	certificate string
	ledger      string
	bodies      bool
	key         string
	via         []string
	roster      string
}

// add adds the flags to a command.
func (f *askFlags) add(cmd *cobra.Command) {
	f.source.Add(cmd)
	f.attach.add(cmd)
	fl := cmd.Flags()
	fl.StringVar(&f.form, "form", "", "form of the answer: number, choice, bool, math, text, stance, prose, "+
		"json or action (default: that of the council file, or guessed from the question)")
	fl.StringVar(&f.schema, "schema", "", "ask for a JSON value under the JSON schema in this `file`, merged field by "+
		"field (--form json)")
	fl.StringVar(&f.tools, "tools", "", "ask for a call of one of the tools in this JSON `file` (--form action)")
	fl.Uint64Var(&f.seed, "seed", 0, "seed of all random choices (default: random, and printed; "+
		"the same for the same question where a model has cache: true)")
	fl.BoolVar(&f.asJSON, "json", false, "print the whole outcome as JSON")
	fl.BoolVar(&f.dryRun, "dry-run", false, "print the guarantee and the low, expected and worst-case cost, and ask "+
		"no model")
	fl.StringVar(&f.Path, "journal", "", "write the journal to this `file`")
	fl.BoolVar(&f.NoJournal, "no-journal", false, "write no journal")
	fl.StringVar(&f.Resume, "resume", "", "resume the run in this `journal`, which gets the rest of the run; "+
		"a complete run is printed again")
	fl.BoolVar(&f.Trust, "trust", false, "with --resume: "+fmt.Sprintf(app.TrustFlag, "journal"))
	fl.BoolVar(&f.escalate, "allow-escalation", false, "allow the webhook and the command that breakers of the "+
		"council file name")
	fl.StringVar(&f.record, "record", "", "add the first answers of the members, and their grades, to this "+
		"`trace`, which provider: "+
		"recorded replays; simulated members are left out")
	fl.StringVar(&f.fallback, "on-no-consensus", "fail",
		"fail, or best-effort: print the leading answer, with the exit code of the failure")
	fl.Float64Var(&f.atLeast, "at-least", 0, "an answer that is right with a lower probability is no decision, such "+
		"as 0.9; needs a council with tiers and graded questions")
	fl.StringSliceVar(&f.show, "show", nil, "also print: rounds (the answers after every round as a table, as with "+
		"-v), models (results per model), or reasoning (of every member)")
	fl.BoolVar(&f.claims, "claims", false, "prose: the members also judge every claim of the answer")
	fl.BoolVar(&f.drop, "drop-disputed", false, "prose: --claims, and the author of the answer leaves out what is "+
		"disputed")
	app.AddNoPreflight(cmd, &f.noCheck)
	fl.StringVar(&f.certificate, "certificate", "",
		"write a certificate of the decision to this `file`, signed by the "+
			"owner of all members; synod verify checks it")
	fl.StringVar(&f.ledger, "ledger", "", "record the decision in the ledger in this `folder`, as hashes")
	fl.BoolVar(&f.bodies, "ledger-bodies", false, "with --ledger: record the texts too, not only their hashes")
	fl.StringVar(&f.key, "key", "", "with --certificate and --ledger: the `file` of the owner's key; with --roster: "+
		"that of a member or caller (default: owner.key in the configuration folder, made when it is first needed)")
	fl.StringVar(&f.roster, "roster", "", "ask the nodes of this roster `file`, whose seats have other owners")
	fl.StringSliceVar(&f.via, "via", nil, "with --roster: `HOST:PORT` or ID=HOST:PORT where nodes are reached "+
		"(default: the roster's addresses)")
	cmd.MarkFlagsMutuallyExclusive("journal", "no-journal")
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
