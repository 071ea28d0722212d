package cli

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"synod.dev/synod"
	"synod.dev/synod/core/sign"
	counciloutcome "synod.dev/synod/council/outcome"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/internal/durable"
	"synod.dev/synod/network/roster"
	"synod.dev/synod/record/certificate"
)

// certify records the decision of an outcome in the ledger, and writes its certificate, signed by
// the owner of all members, as far as the user asked for either. Without a decision there is
// neither, and the exit code says why.
func (a *app) certify(cmd *cobra.Command, f *askFlags, p *plan.Plan, in plan.Instance,
	o *counciloutcome.Outcome) error {
	head, err := a.enter(cmd, f, p, o)
	if err != nil || f.certificate == "" || o.Answer == nil {
		return err
	}
	secret, path, err := a.ownerKey(f.key)
	if err != nil {
		return fail(exitError1, err, "give the key of the owner with --key FILE")
	}
	s, err := counciloutcome.Owned(p, in, o, secret.PublicKey())
	if err != nil {
		return fail(exitError1, err)
	}
	s.Ledger = head
	c, err := certificate.Signed(&s, secret)
	if err != nil {
		return fail(exitError1, err)
	}
	file, err := c.File()
	if err == nil {
		err = durable.WriteFile(f.certificate, file)
	}
	if err != nil {
		return fail(exitError1, fmt.Errorf("--certificate: %w", err), "the answer above is complete")
	}
	if !a.quiet {
		fmt.Fprintf(cmd.ErrOrStderr(), "certificate: %s · one owner signs for all members, with the key in %s\n"+
			"public key:  %s\nverify it:   synod verify %s\n", f.certificate, path,
			hex.EncodeToString(secret.PublicKey()), counciloutcome.ShellWord(f.certificate))
	}
	return nil
}

// ownerKey returns the key in a file. If path is empty, it is the key of this user, which is
// made when it is needed for the first time.
func (a *app) ownerKey(path string) (sign.Secret, string, error) {
	own := path == ""
	if own {
		path = filepath.Join(a.dirs.config, "owner.key")
	}
	const most = 1 << 10
	text, err := durable.ReadFile(path, most)
	if own && errors.Is(err, fs.ErrNotExist) {
		if err := createKey(path); err != nil {
			return sign.Secret{}, path, err
		}
		text, err = durable.ReadFile(path, most)
	}
	if err != nil {
		return sign.Secret{}, path, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return sign.Secret{}, path, err
	}
	if info.Mode().Perm()&0o077 != 0 {
		return sign.Secret{}, path, fmt.Errorf("others may read the key %s: run chmod 600 %s", path,
			counciloutcome.ShellWord(path))
	}
	secret, err := sign.ParseSecret(string(text))
	if err != nil {
		err = fmt.Errorf("%s: %w", path, err)
	}
	return secret, path, err
}

// createKey writes a new key that only the user can read. If another process was faster,
// its key stays.
func createKey(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	secret, err := sign.Generate(rand.Reader)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".key-*") // 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = fmt.Fprintln(f, secret.Reveal())
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Link(f.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return durable.SyncDir(filepath.Dir(path))
}

// verifyCertificate checks the certificate in a file. The error is the first problem.
func verifyCertificate(file []byte, council *certificate.Council, question, answer *string) (Verification, error) {
	v := Verification{Version: 1, Kind: "certificate", Claims: []string{}, NotProved: []string{}}
	c, err := certificate.Parse(file)
	if err != nil {
		return v, err
	}
	r, err := certificate.Verify(c, council)
	if err != nil {
		return v, err
	}
	for _, given := range []struct {
		name string
		text *string
		hash []byte
	}{{"question", question, c.Statement.Question}, {"answer", answer, c.Statement.Answer}} {
		switch {
		case given.text == nil:
			r.NotProved = append(r.NotProved, fmt.Sprintf("which %s it is about: compare it with --%s TEXT (SHA-256 "+
				"%x)",
				given.name, given.name, given.hash))
		case given.name == "question" && merged(c.Statement, *given.text):
			r.Claims = append(r.Claims, "it is about this question and the schema in it: "+brief(*given.text, 60))
		case string(certificate.AnswerHash(*given.text)) != string(given.hash):
			return v, fmt.Errorf("certificate: it is about another %s, with the SHA-256 %x", given.name, given.hash)
		default:
			r.Claims = append(r.Claims, fmt.Sprintf("it is about this %s: %s", given.name, brief(*given.text, 60)))
		}
	}
	v.Warning = r.Warning
	v.Claims, v.NotProved = append(v.Claims, r.Claims...), append(v.NotProved, r.NotProved...)
	if r.Merged != nil {
		v.Value, v.Fields = r.Merged.Value, r.Merged.Fields
	}
	return v, nil
}

// merged reports whether a statement is about a merged value, and about a question with this text and its schema.
func merged(s *certificate.Statement, text string) bool {
	if s.Merge == nil {
		return false
	}
	q := synod.Question{Text: text, Form: synod.JSON, Schema: s.Merge.Schema}
	return string(counciloutcome.QuestionHash(&q)) == string(s.Question)
}

// isCertificate reports whether a file begins like a certificate and not like a journal.
func isCertificate(path string) ([]byte, bool) {
	const begin = `{"payloadType":`
	file, err := durable.ReadFile(path, certificate.MaxSize)
	return file, err == nil && len(file) > len(begin) && string(file[:len(begin)]) == begin
}

// readRoster returns the council of the roster in a file, after it has checked who has signed it.
func readRoster(path string) (*certificate.Council, error) {
	r, err := signedRoster(path)
	if err != nil {
		return nil, err
	}
	return certificate.CouncilOf(r.Roster), nil
}

// signedRoster reads the roster in a file and checks who has signed it.
func signedRoster(path string) (*roster.Signed, error) {
	text, err := durable.ReadFile(path, 2*roster.MaxFile)
	if err != nil {
		return nil, fail(exitUsage, err, "give the file of the council's roster with --roster FILE")
	}
	r, err := roster.Parse(text)
	if err == nil {
		err = r.Verify()
	}
	if err != nil {
		return nil, fail(exitVerify, err)
	}
	return r, nil
}

// rosterFor returns the council that a certificate is compared with: that of the roster in a file or, if the
// certificate
// is of a roster that the one in the file has replaced, of that one. since says so then.
func rosterFor(path string, file []byte) (of *certificate.Council, since string, err error) {
	r, err := signedRoster(path)
	if err != nil {
		return nil, "", err
	}
	if c, err := certificate.Parse(file); err == nil {
		if earlier := r.Earlier(c.Statement.Council); earlier != nil && earlier != r {
			return certificate.CouncilOf(earlier.Roster), fmt.Sprintf("it is of the roster with serial %d, which "+
				"that in "+
				"the file, with serial %d, has replaced", earlier.Serial, r.Serial), nil
		}
	}
	return certificate.CouncilOf(r.Roster), "", nil
}
