package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"synod.dev/synod"
	"synod.dev/synod/council"
	"synod.dev/synod/internal/durable"
	"synod.dev/synod/internal/keyfile"
	"synod.dev/synod/link"
	"synod.dev/synod/node/call"
	"synod.dev/synod/node/terms"
	"synod.dev/synod/roster"
	"synod.dev/synod/sign"
)

// askNodes asks a council of nodes: every member gets the question, and the outcome is made of the
// records that they sign.
func (a *app) askNodes(cmd *cobra.Command, args []string, f askFlags) error {
	for _, flag := range []string{"council", "model", "set", "seed", "resume", "record", "journal", "dry-run"} {
		if cmd.Flags().Changed(flag) {
			return fail(exitUsage, fmt.Errorf("--%s does not go with --via and --roster: the roster has the council, "+
				"and every node keeps its own journal", flag))
		}
	}
	text, err := question(cmd, args)
	if err != nil {
		return err
	}
	q, err := council.ReadQuestion(text, synod.Form(f.form))
	if err != nil {
		return fail(exitUsage, err)
	}
	c, p, err := a.nodes(cmd, &f)
	if err != nil {
		return err
	}
	if err := p.Accepts(&q); err != nil {
		return fail(exitUsage, err)
	}
	ctx := cmd.Context()
	if d := p.Spec().Limits.Deadline; d > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, d+10*time.Second)
		defer cancel()
	}
	begun := time.Now()
	res, err := c.Ask(ctx, q)
	if err != nil {
		return fail(exitError1, err)
	}
	a.missing(cmd, c.Roster, res)
	if len(res.Records) == 0 {
		return fail(council.ExitDegraded, errors.New("no node returned a record"),
			"are the nodes running, and may this key ask? see: synod roster show "+council.ShellWord(f.roster))
	}
	o := res.Judge(c.Roster, p, q)
	o.Seconds = time.Since(begun).Seconds()
	if err := a.print(cmd, f, o, nil); err != nil {
		return err
	}
	if f.certificate != "" && o.Answer != nil {
		if err := a.certifyByNodes(cmd, &f, c, p, res, q, &o); err != nil {
			return err
		}
	}
	return verdict(o)
}

// nodes returns the client of the roster and its plan.
func (a *app) nodes(cmd *cobra.Command, f *askFlags) (*call.Client, *council.Plan, error) {
	if f.roster == "" {
		return nil, nil, fail(exitUsage, errors.New("--via needs the roster of the nodes, which has their keys"),
			"give it with --roster FILE")
	}
	text, err := durable.ReadFile(f.roster, 4*roster.MaxBytes)
	if err != nil {
		return nil, nil, fail(exitUsage, err)
	}
	r, err := roster.Parse(text)
	if err == nil {
		err = signedByAll(r)
	}
	if err != nil {
		return nil, nil, fail(exitVerify, err)
	}
	p, err := terms.Plan(r.Roster)
	if err != nil {
		return nil, nil, fail(exitUsage, err)
	}
	secret, err := a.callerKey(f.key)
	if err != nil {
		return nil, nil, fail(exitError1, err, "give the key of a member or a caller of the roster with --key FILE")
	}
	if !r.MayAsk(secret.PublicKey()) {
		return nil, nil, fail(exitUsage, fmt.Errorf("the roster does not let the key %x ask: neither a member nor a "+
			"caller has it", secret.PublicKey()), "give another key with --key FILE")
	}
	transport, err := link.NewTLS(secret.LinkKey())
	if err != nil {
		return nil, nil, fail(exitError1, err)
	}
	c := &call.Client{Roster: r.Roster, Transport: transport, Addresses: map[synod.NodeID][]string{}}
	return c, p, addressed(c, f.via)
}

// signedByAll accepts a roster that all its members have signed, whether it is the first or not: who asks
// trusts those who are in it now.
func signedByAll(r *roster.Signed) error {
	if missing := r.Missing(); len(missing) > 0 {
		return fmt.Errorf("roster: %s have not signed it", strings.Join(missing, ", "))
	}
	if r.Serial == 0 {
		return r.Verify(nil)
	}
	return nil
}

// callerKey reads the key in a file, or the user's own.
func (a *app) callerKey(path string) (sign.Secret, error) {
	if path == "" {
		secret, _, err := a.ownerKey("")
		return secret, err
	}
	return keyfile.Read(path, func() ([]byte, error) {
		if p := os.Getenv("SYNOD_PASSPHRASE"); p != "" {
			return []byte(p), nil
		}
		return nil, errors.New("the key needs a passphrase: set SYNOD_PASSPHRASE")
	})
}

// addressed applies --via: HOST:PORT of the roster, or ID=HOST:PORT of any other address.
func addressed(c *call.Client, via []string) error {
	for _, text := range via {
		id, address, other := strings.Cut(text, "=")
		if !other {
			address = text
		}
		if err := roster.CheckAddress(address); err != nil {
			return fail(exitUsage, fmt.Errorf("--via: %w", err))
		}
		at := slices.IndexFunc(c.Roster.Members, func(m roster.Member) bool {
			return other && m.ID == id || !other && slices.Contains(m.Addresses, address)
		})
		if at < 0 {
			return fail(exitUsage, fmt.Errorf("--via is %s, which the roster has no member for; give ID=HOST:PORT",
				text))
		}
		c.Addresses[synod.NodeID(at)] = append(c.Addresses[synod.NodeID(at)], address)
	}
	return nil
}

// missing says which members returned no record, and who was proved to have equivocated.
func (a *app) missing(cmd *cobra.Command, r *roster.Roster, res *call.Result) {
	if !a.quiet {
		for _, seat := range slices.Sorted(maps.Keys(res.Missing)) {
			fmt.Fprintf(cmd.ErrOrStderr(), "%s: %s\n", r.Members[seat].ID, oneLine(res.Missing[seat]))
		}
	}
	for _, e := range res.Proofs {
		fmt.Fprintf(cmd.ErrOrStderr(), "EVIDENCE: %s signed two different messages for slot %s, round %d\n",
			oneLine(r.Members[e.A.From].ID), oneLine(e.A.Slot), e.A.Round)
		if path, err := a.keepEvidence(r, &e); err != nil {
			fmt.Fprintln(cmd.ErrOrStderr(), "  it cannot be kept:", oneLine(err.Error()))
		} else {
			fmt.Fprintln(cmd.ErrOrStderr(), "  verify it: synod evidence verify", council.ShellWord(path))
		}
	}
}

// keepEvidence writes a proof of equivocation as a file in the state folder.
func (a *app) keepEvidence(r *roster.Roster, proof *call.Equivocation) (path string, err error) {
	e, err := proof.Evidence(r)
	if err != nil {
		return "", err
	}
	dir := filepath.Join(a.dirs.state, "evidence")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	path = filepath.Join(dir, fmt.Sprintf("%s-seat%d.pem", e.Instance, e.Seat))
	return path, durable.WriteFile(path, e.File())
}

// certifyByNodes writes a certificate that more than F members have signed.
func (a *app) certifyByNodes(cmd *cobra.Command, f *askFlags, c *call.Client, p *council.Plan, res *call.Result,
	q synod.Question, o *council.Outcome) error {
	s, err := res.Statement(c.Roster, p, q, o)
	if err != nil {
		return fail(exitError1, err)
	}
	made, err := c.Certify(cmd.Context(), &s)
	if err != nil {
		return fail(exitError1, fmt.Errorf("--certificate: %w", err), "the answer above is complete")
	}
	file, err := made.File()
	if err == nil {
		err = durable.WriteFile(f.certificate, file)
	}
	if err != nil {
		return fail(exitError1, fmt.Errorf("--certificate: %w", err), "the answer above is complete")
	}
	if !a.quiet {
		fmt.Fprintf(cmd.ErrOrStderr(), "certificate: %s · signed by %d members\nverify it:   synod verify %s --roster "+
			"%s\n",
			f.certificate, len(made.Signatures), council.ShellWord(f.certificate), council.ShellWord(f.roster))
	}
	return nil
}
