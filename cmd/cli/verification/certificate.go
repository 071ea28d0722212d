package verification

import (
	"fmt"

	"synod.dev/synod"
	"synod.dev/synod/cmd/cli/app"
	"synod.dev/synod/council/outcome"
	"synod.dev/synod/internal/durable"
	"synod.dev/synod/network/roster"
	"synod.dev/synod/record/certificate"
)

// OfCertificate checks the certificate in a file: that it is of a council, nil: of any, and about a question and an
// answer, nil: about any. The error is the first problem.
func OfCertificate(file []byte, council *certificate.Council, question, answer *string) (Result, error) {
	v := Result{Version: 1, Kind: "certificate", Claims: []string{}, NotProved: []string{}}
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
				"%x)", given.name, given.name, given.hash))
		case given.name == "question" && merged(c.Statement, *given.text):
			r.Claims = append(r.Claims, "it is about this question and the schema in it: "+app.Brief(*given.text, 60))
		case string(certificate.AnswerHash(*given.text)) != string(given.hash):
			return v, fmt.Errorf("certificate: it is about another %s, with the SHA-256 %x", given.name, given.hash)
		default:
			r.Claims = append(r.Claims, fmt.Sprintf("it is about this %s: %s", given.name, app.Brief(*given.text, 60)))
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
	return string(outcome.QuestionHash(&q)) == string(s.Question)
}

// IsCertificate reports whether a file begins like a certificate and not like a journal.
func IsCertificate(path string) ([]byte, bool) {
	const begin = `{"payloadType":`
	file, err := durable.ReadFile(path, certificate.MaxSize)
	return file, err == nil && len(file) > len(begin) && string(file[:len(begin)]) == begin
}

// ReadRoster returns the council of the roster in a file, after it has checked who has signed it.
func ReadRoster(path string) (*certificate.Council, error) {
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
		return nil, app.Fail(app.ExitUsage, err, "give the file of the council's roster with --roster FILE")
	}
	r, err := roster.Parse(text)
	if err == nil {
		err = r.Verify()
	}
	if err != nil {
		return nil, app.Fail(app.ExitVerify, err)
	}
	return r, nil
}

// RosterFor returns the council that a certificate is compared with: that of the roster in a file or, if the
// certificate
// is of a roster that the one in the file has replaced, of that one. since says so then.
func RosterFor(path string, file []byte) (of *certificate.Council, since string, err error) {
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

// VerifyCertificate verifies the file of a certificate as "synod verify" does. question and answer are what it
// has to be about; nil: that is not checked.
func VerifyCertificate(file []byte, question, answer *string) Result {
	v, err := OfCertificate(file, nil, question, answer)
	v.conclude(err)
	return v
}
