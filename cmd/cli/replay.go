package cli

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"synod.dev/synod/bench/lab"
	"synod.dev/synod/core/journal"
	"synod.dev/synod/council"
	counciloutcome "synod.dev/synod/council/outcome"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/llm/structured"
	"synod.dev/synod/record/certificate"
)

func replayCommand(a *app) *cobra.Command {
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
			run, err := lab.LoadJournal(args[0])
			if err != nil {
				return unreadable(err)
			}
			digest, err := council.Replay(run)
			var bad *plan.ConfigError
			switch {
			case errors.As(err, &bad):
				return fail(exitError1, err)
			case err != nil:
				return fail(exitVerify, err)
			}
			fmt.Fprintln(cmd.OutOrStdout(), digest)
			v, err := counciloutcome.Verify(run, run.Opinions())
			if err != nil {
				return fail(exitVerify, err)
			}
			if v.Records > 0 && !a.quiet {
				fmt.Fprintf(cmd.ErrOrStderr(), "%d signed records are valid; synod verify shows what they prove\n",
					v.Records)
			}
			if counciloutcome.Unfinished(run) && !a.quiet {
				fmt.Fprintln(cmd.ErrOrStderr(), "the run is not complete; resume it with:", resumeCommand(run, args[0]))
			}
			return nil
		},
	}
}

// unreadable returns the error of a journal that cannot be read: one that was changed fails verification.
func unreadable(err error) error {
	if errors.Is(err, journal.ErrChanged) {
		return fail(exitVerify, err, "restore the file from a copy, or ask the question again")
	}
	if errors.Is(err, os.ErrNotExist) {
		return fail(exitError1, err, "check the path; see the journals with: synod journals list")
	}
	return fail(exitError1, err)
}

// resumeCommand returns the command that resumes the run of a journal.
func resumeCommand(run *journal.Run, path string) string {
	if file, _, many := strings.Cut(path, "#"); many {
		return "synod bench resume " + counciloutcome.ShellWord(file)
	}
	verb := "ask"
	if spec, err := plan.SpecOf(run); err == nil && spec.Protocol["name"] == "game" {
		verb = "game"
	}
	return "synod " + verb + " --resume " + counciloutcome.ShellWord(path)
}

// Verification is the JSON output of synod verify.
type Verification struct {
	Version    int      `json:"version"`
	Kind       string   `json:"kind"` // journal or certificate
	Valid      bool     `json:"valid"`
	FirstError string   `json:"first_error"` // "" if valid
	Claims     []string `json:"claims"`
	NotProved  []string `json:"not_proved"`
	// Of a certificate of a merged JSON value: the value, and how its parts were decided.
	Value  *structured.Value  `json:"value,omitempty"`
	Fields []structured.Field `json:"fields,omitempty"`
	// Warning says why a valid certificate should not be relied on.
	Warning string `json:"warning,omitempty"`
}

func verifyCommand(*app) *cobra.Command {
	var asJSON bool
	var question, answer, path, pool, draw string
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
		RunE: func(cmd *cobra.Command, args []string) error {
			var v Verification
			var err error
			var council *certificate.Council
			var since string
			file, is := isCertificate(args[0])
			if path != "" {
				if council, since, err = rosterFor(path, file); err != nil {
					return err
				}
			}
			if is {
				v, err = verifyCertificate(file, council, given(cmd, "question", &question),
					given(cmd, "answer", &answer))
				if err == nil && since != "" {
					v.Claims = append(v.Claims, since)
				}
				if err == nil && draw != "" {
					err = v.drawn(file, pool, draw)
				}
			} else if draw != "" {
				return fail(exitUsage, errors.New("--draw is about a certificate"))
			} else {
				v, err = verify(args[0])
			}
			return v.print(cmd, err, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().StringVar(&question, "question", "", "check that the certificate is about this question")
	cmd.Flags().StringVar(&path, "roster", "", "check that the certificate is of the council with this roster `file`")
	cmd.Flags().StringVar(&draw, "draw", "", "check that the council was drawn as this `file` says; needs --pool")
	cmd.Flags().StringVar(&pool, "pool", "", "the `file` of the pool from which the council was drawn")
	cmd.MarkFlagsRequiredTogether("draw", "pool")
	cmd.Flags().StringVar(&answer, "answer", "", "check that the certificate is about this answer")
	return cmd
}

// given returns the value of a flag that the user gave, or nil.
func given(cmd *cobra.Command, flag string, value *string) *string {
	if cmd.Flags().Changed(flag) {
		return value
	}
	return nil
}

// print prints a verification that found the error, or none, and returns the error with its exit code.
func (v *Verification) print(cmd *cobra.Command, err error, asJSON bool) error {
	var bad *plan.ConfigError
	if errors.As(err, &bad) {
		return fail(exitError1, err)
	}
	v.concluded(err)
	if asJSON {
		if err := writeJSON(cmd.OutOrStdout(), v); err != nil {
			return fail(exitError1, err)
		}
	} else if v.Valid {
		fmt.Fprintln(cmd.OutOrStdout(), "VALID")
		if v.Warning != "" {
			fmt.Fprintln(cmd.OutOrStdout(), "WARNING:", v.Warning)
		}
		printList(cmd, "proved:", v.Claims)
		printList(cmd, "not proved:", v.NotProved)
	}
	if errors.Is(err, os.ErrNotExist) {
		return fail(exitVerify, err, "check the path; see the journals with: synod journals list")
	}
	if err != nil {
		return fail(exitVerify, err)
	}
	return nil
}

// concluded records the first problem, or that there is none.
func (v *Verification) concluded(err error) {
	if v.Valid = err == nil; err != nil {
		v.FirstError, v.Claims = err.Error(), []string{}
	}
}

func printList(cmd *cobra.Command, title string, lines []string) {
	fmt.Fprintln(cmd.OutOrStdout(), title)
	for _, line := range lines {
		say(cmd.OutOrStdout(), "  - "+oneLine(line))
	}
}

// verify checks a journal. The error is the first problem.
func verify(path string) (Verification, error) {
	v := Verification{Version: 1, Kind: "journal", Claims: []string{}, NotProved: []string{
		"that the recorded replies are those of the named models",
		"that this is the journal of the run, unless its digest is known from elsewhere",
	}}
	run, err := lab.LoadJournal(path)
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
	records, err := counciloutcome.Verify(run, run.Opinions())
	if err != nil {
		return v, err
	}
	v.Claims, v.NotProved = append(v.Claims, records.Claims...), append(v.NotProved, records.NotProved...)
	if records.Records == 0 {
		v.NotProved = append(v.NotProved, "anything by signatures: there is no signed record")
	}
	return v, nil
}
