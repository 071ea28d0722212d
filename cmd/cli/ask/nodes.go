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
	"synod.dev/synod/council"
	"synod.dev/synod/council/outcome"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/internal/durable"
	"synod.dev/synod/network/node/call"
	"synod.dev/synod/network/roster"
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
	runner := map[string]any{"name": plan.RunnerNodes, "roster": f.roster}
	if len(f.via) > 0 {
		runner["via"] = f.via
	}
	if f.key != "" {
		runner["key"] = f.key
	}
	l, err := plan.Tree("--roster", map[string]any{"runner": runner}, "")
	return &l, err
}

// onlyHere refuses flags that need the models of the seats, which nodes call themselves.
func onlyHere(cmd *cobra.Command, spec *plan.Spec) error {
	if !spec.Runner.Nodes() {
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

// watchNodes prints which nodes returned nothing, and who equivocated, as soon as it is known. It returns
// what the members of a council of nodes returned to its question.
func watchNodes(a *app.App, cmd *cobra.Command, c *council.Council) func() *call.Result {
	r, ok := c.Runner().(*call.Runner)
	if !ok {
		return func() *call.Result { return nil }
	}
	var last *call.Result
	r.Done = func(res *call.Result) {
		last = res
		missing(a, cmd, r.Client.Roster, res)
	}
	return func() *call.Result { return last }
}

// missing says which members returned no record, and who was proved to have equivocated.
func missing(a *app.App, cmd *cobra.Command, r *roster.Roster, res *call.Result) {
	if !a.Quiet {
		for _, seat := range slices.Sorted(maps.Keys(res.Missing)) {
			fmt.Fprintf(cmd.ErrOrStderr(), "%s: %s\n", r.Members[seat].ID, app.OneLine(res.Missing[seat]))
		}
	}
	for _, e := range res.Proofs {
		fmt.Fprintf(cmd.ErrOrStderr(), "EVIDENCE: %s signed two different messages for slot %s, round %d\n",
			app.OneLine(r.Members[e.A.From].ID), app.OneLine(e.A.Slot), e.A.Round)
		if path, err := keepEvidence(a, r, &e); err != nil {
			fmt.Fprintln(cmd.ErrOrStderr(), "  it cannot be kept:", app.OneLine(err.Error()))
		} else {
			fmt.Fprintln(cmd.ErrOrStderr(), "  verify it: synod operate evidence verify", app.ShellWord(path))
		}
	}
}

// keepEvidence writes a proof of equivocation as a file in the state folder.
func keepEvidence(a *app.App, r *roster.Roster, proof *call.Equivocation) (path string, err error) {
	e, err := proof.Evidence(r)
	if err != nil {
		return "", err
	}
	dir := filepath.Join(a.Dirs.State, "evidence")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	path = filepath.Join(dir, fmt.Sprintf("%s-seat%d.pem", e.Instance, e.Seat))
	return path, durable.WriteFile(path, e.File())
}

// certifyByNodes records the decision of nodes in the ledger, and writes a certificate that enough of
// their voters have signed, as far as the user asked for either.
func certifyByNodes(a *app.App, cmd *cobra.Command, f *askFlags, c *council.Council, res *call.Result,
	q synod.Question, o *outcome.Outcome) error {
	_, err := enter(a, cmd, f, c.Plan(), o)
	if err != nil || f.certificate == "" || o.Answer == nil {
		return err
	}
	client := c.Runner().(*call.Runner).Client
	s, err := res.Statement(client.Roster, c.Plan(), q, o)
	if err != nil {
		return app.Fail(app.ExitFailure, err)
	}
	made, err := client.Certify(cmd.Context(), &s)
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
		spec := c.Plan().Spec()
		fmt.Fprintf(cmd.ErrOrStderr(), "certificate: %s · signed by %d members\nverify it:   synod verify %s --roster "+
			"%s\n", f.certificate, len(made.Signatures), app.ShellWord(f.certificate),
			app.ShellWord(spec.Runner.Roster))
	}
	return nil
}
