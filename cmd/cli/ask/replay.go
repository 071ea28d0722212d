package ask

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"synod.dev/synod/bench"
	"synod.dev/synod/cmd/cli/app"
	"synod.dev/synod/cmd/cli/verification"
	"synod.dev/synod/council"
	"synod.dev/synod/council/outcome"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/record/certificate"
)

// ReplayCommand is "synod replay".
func ReplayCommand(a *app.App) *cobra.Command {
	return &cobra.Command{
		Use:   "replay JOURNAL",
		Short: "Replay a journal without any model",
		Long: `Replays a journal without any model: new members get the recorded events and replies
and must produce the same effects. Prints the digest of the run, or what differs
(exit code 7). Signed records are verified too. FOLDER#QUESTION-REPEAT is that of
a question of a bench run, and FOLDER/cells/NAME#QUESTION-REPEAT that of a grid.`,
		Example: "  synod replay ~/.local/state/synod/journals/20260509-101500-1a2b3c.jsonl\n  synod replay " +
			"'runs/first#q0-0'   # repeat 0 of question q0 of a bench run",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			run, err := bench.LoadJournal(args[0])
			if err != nil {
				return app.Unreadable(err)
			}
			digest, err := council.Replay(run)
			var bad *plan.ConfigError
			switch {
			case errors.As(err, &bad):
				return app.Fail(app.ExitFailure, err)
			case err != nil:
				return app.Fail(app.ExitVerify, err)
			}
			fmt.Fprintln(cmd.OutOrStdout(), digest)
			v, err := outcome.Verify(run, run.Opinions())
			if err != nil {
				return app.Fail(app.ExitVerify, err)
			}
			if v.Records > 0 && !a.Quiet {
				fmt.Fprintf(cmd.ErrOrStderr(), "%d signed records are valid; synod verify shows what they prove\n",
					v.Records)
			}
			if outcome.Unfinished(run) && !a.Quiet {
				fmt.Fprintln(cmd.ErrOrStderr(), "the run is not complete; resume it with:", app.ResumeCommand(run,
					args[0]))
			}
			return nil
		},
	}
}

// verifyFlags are the flags of "synod verify". Each names what a certificate is compared with.
type verifyFlags struct {
	asJSON           bool
	question, answer string
	roster           string // file of the roster of its council
	pool, draw       string // files of the draw of its council
}

// VerifyCommand is "synod verify".
func VerifyCommand() *cobra.Command {
	var f verifyFlags
	cmd := &cobra.Command{
		Use:   "verify FILE",
		Short: "Verify a certificate, or the signed records in a journal",
		Long: `Verifies a certificate: that its file is unchanged, every signature, and everything that
can be computed again (the graph's robustness, the guarantee, support, the rule).

Verifies a journal: its digest, that the effects of honest members follow from the
recorded events and replies, and the signed records of protocols that have them
(decentllms, fixed-leader, rotating-leader).

Prints VALID, what is proved and what is not, or the first thing that is wrong. The exit
code is 7 if the file is not valid.`,
		Example: "  synod verify answer.cert --answer Paris\n  synod verify j.jsonl\n  synod verify --json " +
			"'runs/first#q0-0'",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return f.verify(cmd, args[0]) },
	}
	cmd.Flags().BoolVar(&f.asJSON, "json", false, "print JSON")
	cmd.Flags().StringVar(&f.question, "question", "", "check that the certificate is about this question")
	cmd.Flags().StringVar(&f.roster, "roster", "",
		"check that the certificate is of the council with this roster `file`")
	cmd.Flags().StringVar(&f.draw, "draw", "", "check that the council was drawn as this `file` says; needs --pool")
	cmd.Flags().StringVar(&f.pool, "pool", "", "the `file` of the pool from which the council was drawn")
	cmd.MarkFlagsRequiredTogether("draw", "pool")
	cmd.Flags().StringVar(&f.answer, "answer", "", "check that the certificate is about this answer")
	return cmd
}

// verify verifies the certificate or the journal in a file, and prints the result.
func (f *verifyFlags) verify(cmd *cobra.Command, path string) error {
	var of *certificate.Council
	var since string
	file, is := verification.IsCertificate(path)
	if f.roster != "" {
		var err error
		if of, since, err = verification.RosterFor(f.roster, file); err != nil {
			return err
		}
	}
	if !is {
		if f.draw != "" {
			return app.Fail(app.ExitUsage, errors.New("--draw is about a certificate"))
		}
		v, err := verifyJournal(path)
		return v.Print(cmd, err, f.asJSON)
	}
	v, err := verification.OfCertificate(file, of, given(cmd, "question", &f.question), given(cmd, "answer", &f.answer))
	if err == nil && since != "" {
		v.Claims = append(v.Claims, since)
	}
	if err == nil && f.draw != "" {
		err = v.Drawn(file, f.pool, f.draw)
	}
	return v.Print(cmd, err, f.asJSON)
}

// given returns the value of a flag that the user gave, or nil.
func given(cmd *cobra.Command, flag string, value *string) *string {
	if cmd.Flags().Changed(flag) {
		return value
	}
	return nil
}

// verifyJournal checks a journal. The error is the first problem.
func verifyJournal(path string) (verification.Result, error) {
	v := verification.Result{Version: 1, Kind: "journal", Claims: []string{}, NotProved: []string{
		"that the recorded replies are those of the named models",
		"that this is the journal of the run, unless its digest is known from elsewhere",
	}}
	run, err := bench.LoadJournal(path)
	if err != nil {
		return v, err
	}
	digest, err := council.Replay(run)
	if err != nil {
		return v, err
	}
	if run.End == nil {
		v.NotProved = append(v.NotProved, "anything about the end of the run: the journal was cut off")
	}
	v.Claims = append(v.Claims, "the events and effects have the digest "+digest,
		"the effects of all members follow from the recorded events and replies")
	records, err := outcome.Verify(run, run.Opinions())
	if err != nil {
		return v, err
	}
	v.Claims, v.NotProved = append(v.Claims, records.Claims...), append(v.NotProved, records.NotProved...)
	if records.Records == 0 {
		v.NotProved = append(v.NotProved, "anything by signatures: there is no signed record")
	}
	return v, nil
}
