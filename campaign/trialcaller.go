package campaign

import (
	"bytes"
	"strings"

	"synod.dev/synod/certificate"
	"synod.dev/synod/internal/forge"
)

// callerTries is how many statements a hostile caller asks the members of one run to sign.
const callerTries = 12

// noSecond is how a verifier says that two certificates of a run cannot differ.
const noSecond = "no second certificate of this run"

// hostileCallers has a caller and hostile seats collect signatures for whatever they want about one run.
func hostileCallers(t *Tried) {
	c, err := forge.New(t.rand)
	if !t.need(err) {
		return
	}
	a, err := c.Run(callerTries)
	if !t.need(err) {
		return
	}
	var valid [][]byte // answers
	exclusive := false
	for _, file := range a.Files {
		made, err := certificate.Parse(file)
		if err != nil {
			t.Executions++
			continue
		}
		report, err := certificate.Verify(made, certificate.CouncilOf(c.Roster))
		if err != nil {
			t.Executions++
			continue
		}
		t.check(enoughVoters(c, made), "it is valid, and too few voters or a member without a vote signed it: %q", file)
		t.check(kindsOf(c, made), "a valid certificate says other kinds or voters than the roster: %q", file)
		exclusive = exclusive || strings.Contains(strings.Join(report.Claims, "\n"), noSecond)
		valid = append(valid, made.Statement.Answer)
	}
	for _, answer := range valid {
		t.check(!exclusive || bytes.Equal(answer, valid[0]), "two valid certificates of a run name different "+
			"answers, and one says that there is no second: F = %d, protocol %s", c.Roster.F, c.Roster.Protocol)
	}
}

// enoughVoters counts the signers by the roster itself, apart from what the verifier does.
func enoughVoters(c *forge.Council, made *certificate.Certificate) bool {
	signed := uint64(0)
	for _, sig := range made.Signatures {
		at, ok := c.Roster.Seat(sig.Key)
		if !ok || !c.Roster.Members[at].Voter {
			return false
		}
		signed++
	}
	return signed > c.Roster.F
}

func kindsOf(c *forge.Council, made *certificate.Certificate) bool {
	for i := range made.Statement.Members {
		m, of := &made.Statement.Members[i], &c.Roster.Members[i]
		if m.Kind != of.Kind || m.Voter != of.Voter || m.Adversary != of.Adversary {
			return false
		}
	}
	return made.Statement.Rule.Name == c.Roster.Rule.Name && made.Statement.Faults.F == c.Roster.F
}
