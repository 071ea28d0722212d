package certificate_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"synod.dev/synod/core/sign"
	"synod.dev/synod/internal/forge"
	"synod.dev/synod/network/committee"
	"synod.dev/synod/network/roster"
	"synod.dev/synod/record/certificate"
)

// lot is a decision of a committee that is drawn. Its fields can be anything, and whoever makes it has all keys.
type lot struct {
	t      testing.TB
	c      *forge.Council
	terms  []any // without the draw
	rule   []any // size, F and beacons; nil: no draw
	fields []any // of a decision; terms, votes and draw are written by file

	proofs  func(all [][]byte) [][]byte // changes the proofs of the beacons; nil: they stay
	seats   []int                       // who votes as the committee; nil: who was drawn
	signers func(seats []int) []int     // nil: the committee
	bare    bool                        // the decision has no draw
}

// The places of fields in the rule of a draw.
const drawSize, drawF, drawBeacons = 0, 1, 2

// newLot returns a council of 12 that draws 7, of which 2 may be Byzantine, by three beacons.
func newLot(t testing.TB, seed uint64) *lot {
	answers := make([]int, 12)
	c, err := forge.Make(rand.New(rand.NewPCG(seed, 0xd4a)), forge.Shape{Protocol: "rotating-leader",
		Rule: "protocol", F: 3, First: answers, Final: answers})
	if err != nil {
		t.Fatal(err)
	}
	r := c.Roster
	r.Edges, r.R, r.Faults, r.Guarantee = nil, 4, roster.Global, "agreement"
	r.Draw = &roster.Draw{Size: 7, F: 2, Beacons: []uint64{1, 5, 10}}
	if err := r.Validate(); err != nil {
		t.Fatal(err)
	}
	terms := r.Terms()
	terms.Draw = nil
	_, rest := r.Parts()
	x := &lot{t: t, c: c, rule: []any{uint64(7), uint64(2), []any{uint64(1), uint64(5), uint64(10)}}}
	x.terms = decoded(t, terms.Encode())
	x.fields = []any{certificate.DomainThree, "roster", []byte{}, rest[:], c.Instance, c.Question, "number",
		forge.Answer(0), []any{}, nil}
	return x
}

// encodedTerms is the encoding of the terms, with the draw if there is one.
func (x *lot) encodedTerms() []byte {
	if x.rule == nil {
		return encode(x.terms)
	}
	return encode([]any{x.terms, x.rule})
}

// file has beacons prove, members vote and signers sign.
func (x *lot) file() []byte {
	terms := x.encodedTerms()
	rest, _ := x.fields[atRest].([]byte)
	hash := roster.HashOf(terms, rest)
	instance, _ := x.fields[atInstance].(string)
	question, _ := x.fields[atQuestion].([]byte)
	answer, _ := x.fields[atAnswer].([]byte)
	proofs, seats := x.draw(&committee.Run{Council: hash[:], Question: question, Instance: instance}, terms)
	fields := slices.Clone(x.fields)
	fields[atTerms], fields[atVotes] = terms, x.votes(hash[:], question, instance, seats)
	if !x.bare {
		fields = append(fields, proofs)
	}
	made := &certificate.Certificate{Payload: payloadOf(hash[:], question, answer, instance, encode(fields))}
	if x.signers != nil {
		seats = x.signers(seats)
	}
	for _, i := range seats {
		made.Signatures = append(made.Signatures, certificate.Signature{Key: x.c.Secrets[i].PublicKey(),
			Signature: x.c.Secrets[i].SignEnvelope(certificate.PayloadType, made.Payload)})
	}
	return written(made)
}

// draw returns the proofs, changed as the lot says, and who votes: the first seven where nobody was drawn.
func (x *lot) draw(run *committee.Run, terms []byte) (proofs [][]byte, seats []int) {
	for _, seat := range []int{1, 5, 10} {
		proof, err := run.Prove(x.c.Secrets[seat].(sign.Secret).LinkKey())
		if err != nil {
			x.t.Fatal(err)
		}
		proofs = append(proofs, proof)
	}
	seats = []int{0, 1, 2, 3, 4, 5, 6}
	if t, err := roster.DecodeTerms(terms); err == nil && t.Draw != nil {
		run.Terms = t
		if drawn, err := run.Seats(proofs); err == nil {
			seats = drawn
		}
	}
	if x.proofs != nil {
		proofs = x.proofs(proofs)
	}
	if x.seats != nil {
		seats = x.seats
	}
	return proofs, seats
}

// votes are those of seats, each of which gives answer 0.
func (x *lot) votes(council, question []byte, instance string, seats []int) (all []any) {
	var keys [][]byte
	for _, i := range seats {
		keys = append(keys, x.c.Secrets[i].PublicKey())
	}
	of, err := sign.NewCommittee(keys)
	if err != nil {
		x.t.Fatal(err)
	}
	a := forge.Answer(0)
	for _, i := range seats {
		all = append(all, []any{a, a, x.c.Secrets[i].SignRun(of, sign.Instance(instance),
			certificate.VoteBytes(council, question, a, a))})
	}
	return all
}

// outside returns the seats with one who was drawn replaced by somebody who was not.
func outside(seats []int) []int {
	other := slices.Clone(seats)
	for i := range 12 {
		if !slices.Contains(seats, i) {
			other[3] = i
			break
		}
	}
	slices.Sort(other)
	return other
}

// drawn are vectors of committees that are drawn.
func drawn(t testing.TB) (all []vector) {
	add := func(name, rule string, valid bool, change func(x *lot)) {
		x := newLot(t, 1)
		change(x)
		all = append(all, vector{name, rule, valid, valid, base64.StdEncoding.EncodeToString(x.file())})
	}
	signers := func(change func(seats []int) []int) func(x *lot) {
		return func(x *lot) { x.signers = change }
	}
	proofs := func(change func(all [][]byte) [][]byte) func(x *lot) {
		return func(x *lot) { x.proofs = change }
	}
	add("a committee that was drawn", "P4", true, func(*lot) {})
	add("a quorum of a committee that was drawn", "Q1", true, signers(func(s []int) []int { return s[1:6] }))
	add("too few of a committee that was drawn", "Q1", false, signers(func(s []int) []int { return s[1:5] }))
	add("somebody signs who was not drawn", "S1", false, signers(outside))
	add("somebody votes and signs who was not drawn", "P4", false, func(x *lot) { x.seats = x.others() })
	add("proofs of another run", "P3", false, func(x *lot) { x.proofs = x.ofAnother(1, 5, 10) })
	add("one proof of another run", "P3", false, func(x *lot) { x.proofs = x.ofAnother(5) })
	add("a proof of another member", "P3", false, func(x *lot) { x.proofs = x.byAnother })
	add("a proof less than there are beacons", "P3", false, proofs(func(a [][]byte) [][]byte { return a[:2] }))
	add("an empty proof", "P3", false, proofs(func(a [][]byte) [][]byte { a[1] = []byte{}; return a }))
	add("a changed proof", "P3", false, proofs(func(a [][]byte) [][]byte { a[1][79] ^= 1; return a }))
	add("proofs in another order", "P3", false, proofs(func(a [][]byte) [][]byte { slices.Reverse(a); return a }))
	add("a draw of a roster without the rule", "P2", false, (*lot).withoutRule)
	add("a roster with the rule and no draw", "P2", false, func(x *lot) { x.bare = true })
	add("an empty draw", "P2", false, proofs(func([][]byte) [][]byte { return [][]byte{} }))
	for _, k := range []struct {
		name   string
		change func(x *lot)
	}{
		{"a committee that is larger than the council", func(x *lot) { x.rule[drawSize] = uint64(13) }},
		{"a committee with as large an F", func(x *lot) { x.rule[drawF] = uint64(7) }},
		{"a committee without beacons", func(x *lot) { x.rule[drawBeacons] = []any{} }},
		{"a beacon twice", func(x *lot) { x.rule[drawBeacons] = []any{uint64(1), uint64(5), uint64(5)} }},
		{"a beacon that is no member", func(x *lot) { x.rule[drawBeacons] = []any{uint64(1), uint64(5), uint64(12)} }},
		{"a committee whose roster has edges", func(x *lot) {
			x.terms[termsEdges] = []any{[]any{uint64(0), uint64(1)}}
		}},
		{"a committee whose roster has another r", func(x *lot) { x.terms[termsR] = uint64(6) }},
		{"a member without a vote and a committee", func(x *lot) {
			x.terms[termsMembers].([]any)[11].([]any)[memberVoter] = false
		}},
	} {
		add(k.name, "P1", false, k.change)
	}
	return all
}

// withoutRule makes the roster one that draws nobody and is valid: all hear all and all vote.
func (x *lot) withoutRule() {
	var edges []any
	x.rule, x.seats = nil, nil
	for b := range uint64(12) {
		x.seats = append(x.seats, int(b))
	}
	for a := range uint64(12) {
		for b := a + 1; b < 12; b++ {
			edges = append(edges, []any{a, b})
		}
	}
	x.terms[termsEdges], x.terms[termsR] = edges, uint64(6)
}

// others are a committee with one member who was not drawn.
func (x *lot) others() []int {
	var seats []int
	x.signers = func(s []int) []int { seats = outside(s); return s }
	x.file()
	x.signers = nil
	return seats
}

// ofAnother replaces the proofs of beacons by those that they made for another run.
func (x *lot) ofAnother(beacons ...int) func(all [][]byte) [][]byte {
	own := x.run("another run")
	return func(all [][]byte) [][]byte {
		for i, seat := range []int{1, 5, 10} {
			if slices.Contains(beacons, seat) {
				all[i], _ = own.Prove(x.c.Secrets[seat].(sign.Secret).LinkKey())
			}
		}
		return all
	}
}

// byAnother replaces the second proof by that of somebody else for the same run.
func (x *lot) byAnother(all [][]byte) [][]byte {
	all[1], _ = x.run(x.c.Instance).Prove(x.c.Secrets[6].(sign.Secret).LinkKey())
	return all
}

// run is a run of the council about its question.
func (x *lot) run(instance string) *committee.Run {
	hash := x.c.Roster.Hash()
	return &committee.Run{Terms: x.c.Roster.Terms(), Council: hash[:], Question: x.c.Question, Instance: instance}
}

// A statement that is made of a roster and proofs has the committee's members, and is what its file says.
func TestSetCommittee(t *testing.T) {
	x := newLot(t, 2)
	run := x.run(x.c.Instance)
	var proofs [][]byte
	for _, seat := range []int{1, 5, 10} {
		proof, err := run.Prove(x.c.Secrets[seat].(sign.Secret).LinkKey())
		if err != nil || run.Check(len(proofs), proof) != nil {
			t.Fatal(err, run.Check(len(proofs), proof))
		}
		proofs = append(proofs, proof)
	}
	if run.Check(0, proofs[1]) == nil {
		t.Error("the proof of one beacon is that of another")
	}
	seats, err := run.Seats(proofs)
	if err != nil {
		t.Fatal(err)
	}
	s := certificate.Statement{Instance: x.c.Instance, Question: x.c.Question, Form: "number", Answer: forge.Answer(0)}
	for _, v := range x.votes(run.Council, x.c.Question, x.c.Instance, seats) {
		v := v.([]any)
		s.Members = append(s.Members, certificate.Member{First: v[0].([]byte), Final: v[1].([]byte),
			Signature: v[2].([]byte)})
	}
	if s.SetRoster(x.c.Roster) == nil {
		t.Error("a roster with a draw makes a statement without one")
	}
	if err := s.SetCommittee(x.c.Roster, proofs); err != nil {
		t.Fatal(err)
	}
	if len(s.Members) != 7 || s.Faults.F != 2 || s.Members[0].ID != x.c.Roster.Members[seats[0]].ID {
		t.Errorf("%d members, F = %d, first %s", len(s.Members), s.Faults.F, s.Members[0].ID)
	}
	b, err := s.Encode()
	if err != nil {
		t.Fatal(err)
	}
	c, err := certificate.Parse(x.file())
	if err != nil || !bytes.Contains(c.Payload, []byte(base64.StdEncoding.EncodeToString(b))) {
		t.Errorf("the file has another statement: %v", err)
	}
	x.approved(&s, seats)
	report, err := certificate.Verify(c, certificate.CouncilOf(x.c.Roster))
	if err != nil || !strings.Contains(strings.Join(report.Claims, "\n"), "those of the roster's 12 members that were "+
		"drawn for this run: 3 beacons prove it") {
		t.Errorf("%v %q", err, report.Claims)
	}
	if _, err := certificate.Verify(c, certificate.CouncilOf(newLot(t, 3).c.Roster)); err == nil {
		t.Error("it is of another roster too")
	}
}

// The roster file of a council that draws committees says in Python, too, whose certificate it is.
func TestDrawnRosterFile(t *testing.T) {
	dir := t.TempDir()
	for name, of := range map[string]*lot{"own": newLot(t, 1), "other": newLot(t, 2)} {
		s := roster.Unsigned(of.c.Roster)
		for _, k := range of.c.Secrets {
			s.Sign(k.(sign.Secret))
		}
		path, cert := filepath.Join(dir, name), filepath.Join(dir, name+".cert")
		if err := errors.Join(os.WriteFile(path, s.File(), 0o600),
			os.WriteFile(cert, newLot(t, 1).file(), 0o600)); err != nil {
			t.Fatal(err)
		}
		withRoster(t, cert, path, name == "own")
	}
}

// approved checks that each member of the committee may sign the statement with its place in it as its seat.
func (x *lot) approved(s *certificate.Statement, seats []int) {
	for place := range seats {
		m := &s.Members[place]
		own := certificate.Own{Seat: place, Council: certificate.CouncilOf(x.c.Roster), Instance: s.Instance,
			Question: s.Question, Form: s.Form, Signature: m.Signature,
			Vote: certificate.VoteBytes(s.Council, s.Question, m.First, m.Final)}
		if err := own.Approve(s); err != nil {
			x.t.Errorf("%s: %v", m.ID, err)
		}
	}
}

// lots is a kind of mutants: a field of a decision with a draw, which all sign again.
func (m *maker) lots() []byte {
	x := newLot(m.t, m.r.Uint64N(64))
	switch m.r.IntN(6) {
	case 0:
		x.terms = changed(m.r, x.terms).([]any)
	case 1:
		x.rule = changed(m.r, x.rule).([]any)
	case 2:
		at := 1 + m.r.IntN(len(x.fields)-1)
		x.fields[at] = changed(m.r, x.fields[at])
	case 3, 4:
		x.proofs = func(all [][]byte) [][]byte {
			at := m.r.IntN(len(all))
			all[at] = changed(m.r, all[at]).([]byte)
			return all
		}
	}
	return x.file()
}
