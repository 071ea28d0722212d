package ask

import (
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"synod.dev/synod/cmd/cli/app"
	"synod.dev/synod/core/journal"
	"synod.dev/synod/council/outcome"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/record/certificate"
	"synod.dev/synod/record/ledger"
)

// enter records a decision in the ledger that the user named. It returns the head under
// which the entry is; nil: the entry is in the queue, and the next command that opens the
// ledger appends it. The answer does not wait for it.
func enter(a *app.App, cmd *cobra.Command, f *askFlags, p *plan.Plan, o *outcome.Outcome) (*certificate.Head,
	error) {
	ledgerOf(a, cmd, f, p)
	if f.ledger == "" || o.Answer == nil {
		return nil, nil
	}
	if o.Journal == "" {
		return nil, app.Fail(app.ExitUsage, errors.New("--ledger records what is in the journal; it cannot be "+
			"combined with --no-journal"))
	}
	run, err := journal.Load(o.Journal)
	if err != nil {
		return nil, app.Fail(app.ExitFailure, err)
	}
	e, err := outcome.LedgerEntry(p, run, f.bodies)
	if err != nil {
		return nil, app.Fail(app.ExitFailure, err)
	}
	if err := ledger.Submit(f.ledger, e); err != nil {
		return nil, app.Fail(app.ExitFailure, err, "the answer above is complete")
	}
	secret, _, err := a.SigningKey(f.key)
	if err != nil {
		return nil, app.Fail(app.ExitFailure, err)
	}
	l, err := ledger.Drain(cmd.Context(), f.ledger, secret)
	if err != nil {
		fmt.Fprintf(cmd.ErrOrStderr(), "ledger: %s\nthe decision waits in %s; the next use of the ledger records it\n",
			app.OneLine(err.Error()), filepath.Join(f.ledger, "pending"))
		return nil, nil
	}
	defer l.Close()
	at, _ := l.Find(e)
	h := l.Head().Head
	if !a.Quiet {
		fmt.Fprintf(cmd.ErrOrStderr(), "ledger: %s has it as entry %d of %d\n", f.ledger, at, h.Size)
	}
	return &certificate.Head{Log: hex.EncodeToString(h.Log), Size: h.Size, Root: h.Root}, nil
}

// ledgerOf takes what the council file says of the ledger, unless a flag says it.
func ledgerOf(a *app.App, cmd *cobra.Command, f *askFlags, p *plan.Plan) {
	spec := p.Spec()
	switch l := spec.Ledger; {
	case f.ledger != "" || l.Name == "" || spec.Runner.Capabilities().Certifies: // members record by themselves
	case l.Name == plan.LedgerLog:
		f.ledger, f.bodies = cmp.Or(l.Folder, "ledger"), f.bodies || l.Bodies
	case !a.Quiet:
		fmt.Fprintf(cmd.ErrOrStderr(), "ledger: %s is kept by nodes; this run in one process is not recorded "+
			"(synod roster new)\n", l.Name)
	}
}

// salt returns the root of the ledger of a council that one process plays, with which its protocol may decide ties;
// "": it has none, or an empty one.
func salt(spec *plan.Spec) string {
	if spec.Ledger.Name != plan.LedgerLog || spec.Runner.Capabilities().Certifies {
		return ""
	}
	l, err := ledger.Inspect(cmp.Or(spec.Ledger.Folder, "ledger"))
	if err != nil { // there is none yet, or it is damaged, which recording the decision reports
		return ""
	}
	defer l.Close()
	if h := l.Head().Head; h.Size > 0 {
		return hex.EncodeToString(h.Root)
	}
	return ""
}
