package ask

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"synod.dev/synod"
	"synod.dev/synod/cmd/cli/app"
	"synod.dev/synod/council/outcome"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/internal/durable"
)

// nodesLayer is the council of --roster and --via: the nodes of a roster.
func (f *askFlags) nodesLayer(cmd *cobra.Command) (*plan.Layer, error) {
	if f.roster == "" {
		return nil, app.Fail(app.ExitUsage, errors.New("--via needs the roster of the nodes, which has their keys"),
			"give it with --roster FILE")
	}
	for _, flag := range []string{"council", "model", "set"} {
		if cmd.Flags().Changed(flag) {
			return nil, app.Fail(app.ExitUsage, fmt.Errorf("--%s does not go with --roster: the roster has the council",
				flag))
		}
	}
	if f.Resume != "" {
		return nil, app.Fail(app.ExitUsage, errors.New("--resume does not go with --roster: every node keeps its own "+
			"journal, and goes on by itself"))
	}
	l, err := plan.RosterLayer("--roster", f.roster, f.key, f.via)
	return &l, err
}

// onlyHere refuses flags that need the models of the seats, which nodes call themselves.
func onlyHere(cmd *cobra.Command, spec *plan.Spec) error {
	if !spec.Runner.Capabilities().Owned {
		return nil
	}
	for _, flag := range []string{"seed", "record", "dry-run"} {
		if cmd.Flags().Changed(flag) {
			return app.Fail(app.ExitUsage, fmt.Errorf("--%s does not go with a council of nodes: each node calls its "+
				"own model, and keeps its own journal", flag))
		}
	}
	return nil
}

// missing says which members returned no record, and who was proved to have equivocated.
func missing(a *app.App, cmd *cobra.Command, p *plan.Plan, proof outcome.Proof) {
	name := func(seat int) string { return app.OneLine(p.Name(synod.NodeID(seat))) }
	if lost := proof.Missing(); !a.Quiet {
		for _, seat := range slices.Sorted(maps.Keys(lost)) {
			fmt.Fprintf(cmd.ErrOrStderr(), "%s: %s\n", name(seat), app.OneLine(lost[seat]))
		}
	}
	for _, e := range proof.Equivocations() {
		fmt.Fprintf(cmd.ErrOrStderr(), "EVIDENCE: %s signed two different messages for slot %s, round %d\n",
			name(e.Seat), app.OneLine(e.Slot), e.Round)
		if path, err := keepEvidence(a, &e); err != nil {
			fmt.Fprintln(cmd.ErrOrStderr(), "  it cannot be kept:", app.OneLine(err.Error()))
		} else {
			fmt.Fprintln(cmd.ErrOrStderr(), "  verify it: synod operate evidence verify", app.ShellWord(path))
		}
	}
}

// keepEvidence writes a proof of equivocation as a file in the state folder.
func keepEvidence(a *app.App, e *outcome.Equivocated) (path string, err error) {
	if e.Err != nil {
		return "", e.Err
	}
	dir := filepath.Join(a.Dirs.State, "evidence")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	path = filepath.Join(dir, fmt.Sprintf("%s-seat%d.pem", e.Evidence.Instance, e.Seat))
	return path, durable.WriteFile(path, e.Evidence.File())
}

// certifyByNodes records the decision of nodes in the ledger, and writes a certificate that enough of
// their voters have signed, as far as the user asked for either.
func certifyByNodes(a *app.App, cmd *cobra.Command, f *askFlags, p *plan.Plan, o *outcome.Outcome) error {
	_, err := enter(a, cmd, f, p, o)
	if err != nil || f.certificate == "" || o.Answer == nil {
		return err
	}
	made, err := o.Proof.Certify(cmd.Context(), p, o)
	if err != nil {
		return app.Fail(app.ExitFailure, fmt.Errorf("--certificate: %w", err), "the answer above is complete")
	}
	file, err := made.File()
	if err == nil {
		err = durable.WriteFile(f.certificate, file)
	}
	if err != nil {
		return app.Fail(app.ExitFailure, fmt.Errorf("--certificate: %w", err), "the answer above is complete")
	}
	if !a.Quiet {
		fmt.Fprintf(cmd.ErrOrStderr(), "certificate: %s · signed by %d members\nverify it:   synod verify %s --roster "+
			"%s\n", f.certificate, len(made.Signatures), app.ShellWord(f.certificate),
			app.ShellWord(p.Full().Runner.Roster))
	}
	return nil
}
