package ask

import (
	"encoding/hex"
	"fmt"

	"github.com/spf13/cobra"

	"synod.dev/synod/cmd/cli/app"
	"synod.dev/synod/council/outcome"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/internal/durable"
	"synod.dev/synod/record/certificate"
)

// certify records the decision of an outcome in the ledger, and writes its certificate, signed by
// the owner of all members, as far as the user asked for either. Without a decision there is
// neither, and the exit code says why.
func certify(a *app.App, cmd *cobra.Command, f *askFlags, p *plan.Plan, in plan.Instance,
	o *outcome.Outcome) error {
	head, err := enter(a, cmd, f, p, o)
	if err != nil || f.certificate == "" || o.Answer == nil {
		return err
	}
	secret, path, err := a.SigningKey(f.key)
	if err != nil {
		return app.Fail(app.ExitFailure, err, "give the key of the owner with --key FILE")
	}
	s, err := outcome.Owned(p, in, o, secret.PublicKey())
	if err != nil {
		return app.Fail(app.ExitFailure, err)
	}
	s.Ledger = head
	c, err := certificate.Signed(&s, secret)
	if err != nil {
		return app.Fail(app.ExitFailure, err)
	}
	file, err := c.File()
	if err == nil {
		err = durable.WriteFile(f.certificate, file)
	}
	if err != nil {
		return app.Fail(app.ExitFailure, fmt.Errorf("--certificate: %w", err), "the answer above is complete")
	}
	if !a.Quiet {
		fmt.Fprintf(cmd.ErrOrStderr(), "certificate: %s · one owner signs for all members, with the key in %s\n"+
			"public key:  %s\nverify it:   synod verify %s\n", f.certificate, path,
			hex.EncodeToString(secret.PublicKey()), app.ShellWord(f.certificate))
	}
	return nil
}
