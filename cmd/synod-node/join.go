package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"synod.dev/synod/core/sign"
	"synod.dev/synod/internal/durable"
	"synod.dev/synod/internal/keyfile"
	"synod.dev/synod/internal/program"
	"synod.dev/synod/network/node/form"
	"synod.dev/synod/network/node/terms"
	"synod.dev/synod/network/roster"
)

// joining is the flags of "synod node join".
type joining struct {
	running   running
	seat, out string
	addresses []string
	yes       bool
	start     bool
}

// join accepts a seat, by a link or by a file.
func (j *joining) join(cmd *cobra.Command, what string) error {
	for _, a := range j.addresses {
		if err := roster.CheckAddress(a); err != nil {
			return err
		}
	}
	if len(j.addresses) == 0 {
		return errors.New("give where your node will listen with --address HOST:PORT")
	}
	text := what
	if !terms.IsOpening(text) {
		b, err := durable.ReadFile(what, 2*roster.MaxBytes)
		if err != nil {
			return err
		}
		text = string(b)
	}
	if !terms.IsOpening(text) {
		if j.start {
			return errors.New("--run needs a link: an invitation in a file goes back by hand")
		}
		return j.joinByFile(cmd, what)
	}
	o, err := terms.ParseOpening(text)
	if err != nil {
		return err
	}
	return j.joinByLink(cmd, o)
}

// joinByLink accepts a seat and waits for the roster. A roster that is there already has been waited for before.
func (j *joining) joinByLink(cmd *cobra.Command, o *terms.Opening) error {
	if j.running.key == "" {
		j.running.key = "node.key"
	}
	if j.out == "" {
		j.out = form.RosterFile
	}
	secret, err := ownKey(cmd, j.running.key)
	if err != nil {
		return err
	}
	if s, err := readRoster(j.out); err == nil {
		if _, member := s.Seat(secret.PublicKey()); !member || s.Verify() != nil {
			return fmt.Errorf("%s is a roster that has no seat for this key, or is not complete; remove it, or name "+
				"another file with -o", j.out)
		}
		return j.runIf(cmd)
	}
	f, err := form.Join(o)
	if err != nil {
		return err
	}
	defer f.Close()
	s, err := j.take(cmd, f, secret)
	if err != nil {
		return err
	}
	if err := write(j.out, s.File()); err != nil {
		return err
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "%s: roster %.16s of %s, signed by all %d members\n", j.out, s.HexHash(),
		program.Printable(s.Name), len(s.Members))
	return j.runIf(cmd)
}

// take accepts a seat. If no seat was named, it is the first that nobody has taken before.
func (j *joining) take(cmd *cobra.Command, f *form.Joining, secret sign.Secret) (*roster.Signed, error) {
	say := func(text string) { fmt.Fprintln(cmd.ErrOrStderr(), program.Printable(text)) }
	invitation, free, mine, err := f.Look(cmd.Context(), secret.PublicKey(), say)
	if err != nil {
		return nil, err
	}
	seat, err := j.choose(free, mine)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "the founder's key begins with %s: compare it with what the founder says\n",
		terms.Fingerprint(f.Opening.Founder))
	if err := showRules(cmd, invitation, seat); err != nil {
		return nil, err
	}
	if err := agree(cmd, j.yes, "accept the seat "+seat+"?"); err != nil {
		return nil, err
	}
	s, err := f.Accept(cmd.Context(), seat, j.addresses, secret, say)
	if err == nil || j.seat != "" || !strings.Contains(err.Error(), "is taken") {
		return s, err
	}
	return j.take(cmd, f, secret) // another owner was faster
}

// choose returns the seat to accept. A key that has one already has accepted it before this command was given again.
func (j *joining) choose(free []string, mine string) (string, error) {
	switch {
	case mine != "" && (j.seat == "" || j.seat == mine):
		return mine, nil
	case j.seat != "" && !slices.Contains(free, j.seat):
		return "", fmt.Errorf("the seat %s is not free; free are: %s", j.seat, strings.Join(free, ", "))
	case j.seat != "":
		return j.seat, nil
	case len(free) == 0:
		return "", errors.New("all seats of this council are taken")
	}
	return free[0], nil
}

// runIf runs the node, if --run was given.
func (j *joining) runIf(cmd *cobra.Command) error {
	if !j.start {
		fmt.Fprintf(cmd.ErrOrStderr(), "run the node with: synod node run --roster %s --key %s\n", j.out, j.running.key)
		return nil
	}
	j.running.roster = j.out
	return j.running.run(cmd)
}

// ownKey reads a key, or makes one if there is none.
func ownKey(cmd *cobra.Command, path string) (sign.Secret, error) {
	secret, err := readKey(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return secret, err
	}
	if secret, err = sign.Generate(rand.Reader); err != nil {
		return secret, err
	}
	if err := keyfile.Create(path, secret, nil); err != nil {
		return secret, err
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "%s has the secret key that was made; keep it to yourself, and out of backups "+
		"of the "+
		"node's folder\n", path)
	return secret, nil
}
