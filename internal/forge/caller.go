package forge

import (
	"cmp"
	"errors"
	"slices"

	"synod.dev/synod/core/sign"
	"synod.dev/synod/network/roster"
	"synod.dev/synod/record/certificate"
)

// draft is a statement that a caller has written, with the signatures that it has got.
type draft struct {
	run        *arenaRun // that it is about, more or less
	of         *version  // whose terms it has, perhaps with lies
	statement  *certificate.Statement
	encoded    []byte
	payload    []byte
	signatures []certificate.Signature
}

// Situations of an Arena beside refusals.
const (
	TwoSupported = "two answers have F+1 voters"
	KilledBefore = "killed before the answer was on disk"
	KilledAfter  = "killed after the answer was on disk"
	DiskFails    = "the disk fails"
	LostReply    = "a signature is lost on its way"
	Restarted    = "a node is started again between two requests"
	RosterMoved  = "a node moves to the other roster between two requests"
	TwoCallers   = "two callers ask a node at once"
	Unreadable   = "refused: unreadable"
	NoRecord     = "refused: no record"
	Certified    = "a certificate"
	Agreement    = "a certificate of a protocol with agreement"
	MergedValue  = "a certificate of a merged value"
	TwoOfARun    = "two certificates of a run"
	TwoAnswers   = "two answers of a run are certified, without agreement"
	LiftedSigner = "signatures of another statement are tried"
	Earlier      = "a certificate of an earlier version, with a warning"
	AfterChange  = "a certificate of the roster after a change"
)

// Situations returns all situations that a campaign must reach.
func Situations() []string {
	all := []string{TwoSupported, KilledBefore, KilledAfter, DiskFails, LostReply, Restarted, RosterMoved, TwoCallers,
		Unreadable, NoRecord, Certified, Agreement, MergedValue, TwoOfARun, TwoAnswers, LiftedSigner, Earlier,
		AfterChange}
	for _, r := range certificate.Reasons() {
		if r != certificate.Malformed { // what is read has the form of a statement
			all = append(all, refusedFor(r))
		}
	}
	return all
}

func refusedFor(r certificate.Reason) string { return "refused: " + string(r) }

// Step has callers write a statement or take an earlier one, and ask some nodes to sign it.
func (a *Arena) Step() error {
	var d *draft
	if len(a.drafts) > 0 && a.one(4) {
		d = a.drafts[a.rand.IntN(len(a.drafts))]
	} else {
		var err error
		if d, err = a.write(); d == nil {
			return err
		}
		a.drafts = append(a.drafts, d)
	}
	for _, owner := range a.rand.Perm(len(a.nodes)) {
		a.happen(owner)
		if a.nodes[owner] != nil && !a.one(5) {
			a.ask(owner, d)
		}
	}
	return nil
}

// happen restarts a node between two requests, or moves it to the other roster.
func (a *Arena) happen(owner int) {
	n := a.nodes[owner]
	switch {
	case n == nil:
	case a.one(40):
		n.restart()
		a.met(Restarted)
	case len(a.rosters) > 1 && a.one(12):
		n.at = 1 - n.at
		a.met(RosterMoved)
	}
}

// ask asks a node to sign a draft. Sometimes another caller asks for something else while the first one waits.
func (a *Arena) ask(owner int, d *draft) {
	if other := a.drafts[a.rand.IntN(len(a.drafts))]; !a.nested && other != d && a.one(10) {
		a.callback = func() {
			a.nested = true
			a.met(TwoCallers)
			a.ask(owner, other)
			a.nested = false
		}
	}
	instance := d.statement.Instance
	if a.one(25) {
		instance = d.run.instance
	}
	encoded := d.encoded
	if a.one(60) {
		encoded = encoded[:a.rand.IntN(len(encoded))]
	}
	n := a.nodes[owner]
	signature, err := n.ask(instance, encoded)
	a.callback = nil
	if err != nil {
		a.refused(err)
		return
	}
	if a.one(40) {
		a.met(LostReply)
		return
	}
	_, key, _ := n.own(instance)
	d.signatures = append(d.signatures, certificate.Signature{Key: key.PublicKey(), Signature: signature})
}

// refused notes why a node did not sign.
func (a *Arena) refused(err error) {
	var r *certificate.Refusal
	switch {
	case errors.Is(err, errKilledBefore):
		a.met(KilledBefore)
	case errors.Is(err, errKilledAfter):
		a.met(KilledAfter)
	case errors.Is(err, errDisk):
		a.met(DiskFails)
	case errors.As(err, &r):
		a.met(refusedFor(r.Reason))
	case err.Error() == "the node has no record of the run":
		a.met(NoRecord)
	default:
		a.met(Unreadable)
	}
}

// write draws a statement, of which mostly few fields are lies: one that is all lies is refused for the first of them.
// nil: it cannot be written.
func (a *Arena) write() (*draft, error) {
	r := a.runs[a.rand.IntN(len(a.runs))]
	if a.focus && !a.one(4) {
		r = a.runs[0]
	}
	other := a.runs[a.rand.IntN(len(a.runs))]
	d := &draft{run: r, of: r.of}
	if a.one(12) {
		d.of = a.rosters[a.rand.IntN(len(a.rosters))]
	}
	terms := d.of.Roster
	if a.one(6) {
		terms = a.lie(terms)
	}
	s := &certificate.Statement{Instance: r.instance, Question: r.question, Form: r.form(), Answer: a.answer(r)}
	switch a.rand.IntN(24) {
	case 0:
		s.Instance = other.instance
	case 1:
		s.Question = other.question
	case 2:
		s.Form = "text"
	case 3:
		s.Instance = "run-invented"
	}
	a.show(s, r, other, terms)
	if r.schema != nil && !a.one(4) && terms.Rule.Name != "protocol" {
		a.merge(s, r, terms)
	}
	if a.one(20) {
		return d.encode(a.older(s, r))
	}
	if s.SetRoster(terms) != nil {
		return nil, nil
	}
	if s.Merge != nil { // the answer is what the shown values give
		if m, _ := s.Merged(); m.Value != nil && !a.one(10) {
			s.Answer = certificate.AnswerHash(m.Value.String())
			s.Fill()
		}
	}
	return d.encode(s)
}

// answer draws the answer that a caller wants certified.
func (a *Arena) answer(r *arenaRun) []byte {
	if a.one(8) {
		return Answer(a.rand.IntN(4))
	}
	return r.final[a.rand.IntN(len(r.final))]
}

func (d *draft) encode(s *certificate.Statement) (*draft, error) {
	b, err := s.Encode()
	if err != nil {
		return nil, nil // nobody can be asked to sign it
	}
	d.statement, d.encoded = s, b
	d.payload, err = s.Payload()
	return d, err
}

// older returns the statement in the form of an earlier version, in which everything is the word of who writes it: who
// votes, the ledger, and that messages were in time, too.
func (a *Arena) older(s *certificate.Statement, r *arenaRun) *certificate.Statement {
	o := &certificate.Statement{Domain: certificate.Domain, Kind: certificate.Roster, Council: r.of.hash,
		Owner: []byte{}, Instance: s.Instance, Question: s.Question, Form: s.Form, Answer: s.Answer,
		Protocol: r.of.Protocol, Parameters: r.of.Parameters, Rule: certificate.Rule{Name: "protocol"},
		Claim: r.of.Guarantee, Faults: certificate.Faults{Model: certificate.Global, F: r.of.F},
		Graph:   certificate.Graph{R: r.of.R, Exact: r.of.Exact, Edges: r.of.council.Edges},
		Journal: []byte{}, Ledger: &certificate.Head{Log: "invented", Size: 1, Root: sum("root", 1)}}
	if s.Merge != nil {
		o.Domain, o.Merge = certificate.DomainMerged, s.Merge
	}
	for i, m := range s.Members {
		if i < len(r.of.keys) {
			m.ID, m.Key, m.Voter = r.of.Members[i].ID, r.of.Members[i].Key, true
			o.Members = append(o.Members, m)
		}
	}
	o.Fill()
	return o
}

// lie returns a roster in which something that the caller would like is different.
func (a *Arena) lie(of *roster.Roster) *roster.Roster {
	r := *of
	r.Members = slices.Clone(r.Members)
	m := &r.Members[a.rand.IntN(len(r.Members))]
	switch a.rand.IntN(12) {
	case 0:
		m.Voter = !m.Voter
	case 1:
		m.Kind, m.Adversary = "endpoint", "invented"
	case 2:
		r.F = 0
	case 3:
		r.Rule = roster.Rule{Name: "protocol"}
	case 4:
		r.Guarantee = "agreement"
	case 5:
		r.Guarantee = certificate.None
	case 6:
		r.Faults = roster.Local
	case 7:
		m.Role = "worker"
	case 8:
		r.Council, r.Ledger = "council: another\n", roster.Ledger{Kind: "file"} // in the part that has a hash only
	case 9:
		r.Serial++
	case 10:
		r.Members = r.Members[:1+a.rand.IntN(len(r.Members))]
		r.Edges = slices.DeleteFunc(slices.Clone(r.Edges), func(e []uint64) bool {
			return e[1] >= uint64(len(r.Members))
		})
		r.F = min(r.F, uint64(len(r.Members)))
	case 11:
		x := a.rand.IntN(len(r.Members))
		r.Members[x].Key, m.Key = m.Key, r.Members[x].Key
	}
	return &r
}

// show draws how the caller shows the vote of each seat.
func (a *Arena) show(s *certificate.Statement, r, other *arenaRun, terms *roster.Roster) {
	for i := range terms.Members {
		m, known := unseen(), i < len(r.first)
		if known {
			m.First, m.Final, m.Signature = r.first[i], r.final[i], r.votes[i]
		}
		switch x := a.rand.IntN(40); {
		case known && a.Hostile[r.of.owners[i]] && x < 30:
			first := s.Answer
			if x < 3 {
				first = []byte{}
			}
			m = a.voted(r, i, terms, s, first, s.Answer)
		case x < 33:
		case x < 36:
			m = unseen()
		case x == 36 && i < len(other.votes): // of another run
			m.First, m.Final, m.Signature = other.first[i], other.final[i], other.votes[i]
		case x == 37 && known: // of another seat
			k := a.rand.IntN(len(r.votes))
			m.First, m.Final, m.Signature = r.first[k], r.final[k], r.votes[k]
		case x == 38:
			m.Final = s.Answer
		case x == 39:
			m.Final, m.Signature = s.Answer, []byte{}
		}
		s.Members = append(s.Members, m)
	}
}

// merge adds the values of a run to a statement, as the caller shows them. Hostile members give and sign any.
func (a *Arena) merge(s *certificate.Statement, r *arenaRun, terms *roster.Roster) {
	s.Merge = &certificate.Merge{Schema: r.schema, Last: a.one(2), Values: make([][]byte, len(terms.Members))}
	if a.one(15) {
		s.Merge.Schema = []byte(`true`)
	}
	hide := a.one(2) // who shows some values only looks for some that give another answer
	for i := range s.Merge.Values {
		s.Merge.Values[i] = []byte{}
		own := i < len(r.texts) && slices.Equal(s.Members[i].Final, certificate.AnswerHash(string(r.texts[i])))
		switch {
		case i < len(r.texts) && a.Hostile[r.of.owners[i]]:
			text := r.texts[a.rand.IntN(len(r.texts))]
			hash := certificate.AnswerHash(string(text))
			s.Merge.Values[i], s.Members[i] = text, a.voted(r, i, terms, s, hash, hash)
		case own && !(hide && a.one(3)):
			s.Merge.Values[i] = r.texts[i]
		case own || !a.one(16):
			s.Members[i] = unseen()
		}
	}
}

// unseen is a member of which the caller shows nothing.
func unseen() certificate.Member {
	return certificate.Member{First: []byte{}, Final: []byte{}, Signature: []byte{}}
}

// voted is a hostile member that signs whatever the caller wants, about any roster, run and question.
func (a *Arena) voted(r *arenaRun, seat int, terms *roster.Roster, s *certificate.Statement,
	first, final []byte) certificate.Member {
	hash := terms.Hash()
	return certificate.Member{First: first, Final: final, Signature: r.of.keys[seat].SignRun(terms.Committee(),
		sign.Instance(s.Instance), certificate.VoteBytes(hash[:], s.Question, first, final))}
}

// hostile adds the signatures of all hostile owners to those of a draft.
func (a *Arena) hostile(d *draft) (all []certificate.Signature) {
	all = slices.Clone(d.signatures)
	for seat, owner := range d.of.owners {
		if a.Hostile[owner] {
			all = append(all, certificate.Signature{Key: d.of.keys[seat].PublicKey(),
				Signature: d.of.keys[seat].SignEnvelope(certificate.PayloadType, d.payload)})
		}
	}
	return all
}

// bySeat sorts signatures, and leaves out those of members that may not sign if only says so.
func (d *draft) bySeat(all []certificate.Signature, only bool) (some []certificate.Signature) {
	seat := func(s certificate.Signature) int {
		return slices.IndexFunc(d.statement.Members, func(m certificate.Member) bool {
			return slices.Equal(m.Key, s.Key)
		})
	}
	for _, s := range all {
		if at := seat(s); !only || at >= 0 && d.statement.MaySign(at) {
			some = append(some, s)
		}
	}
	slices.SortStableFunc(some, func(x, y certificate.Signature) int { return cmp.Compare(seat(x), seat(y)) })
	return slices.CompactFunc(some, func(x, y certificate.Signature) bool { return slices.Equal(x.Key, y.Key) })
}
