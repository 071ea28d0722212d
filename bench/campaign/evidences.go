package campaign

import (
	"math/rand/v2"

	"synod.dev/synod"
	"synod.dev/synod/core/sign"
	"synod.dev/synod/internal/forge"
	"synod.dev/synod/network/roster"
	"synod.dev/synod/protocol/broadcast"
	"synod.dev/synod/record/evidence"
)

// evidenceSubject makes evidence of two statements of a member, which mostly differ in one thing, and checks that it is
// accepted only if the member signed two bodies for one slot of one run.
func evidenceSubject() *subject {
	return pieceSubject(evidenceName, .5, []string{"slips", "broadcast", "valid", "refused"}, playEvidence,
		claimEvidence)
}

func playEvidence(p *piece) {
	if p.one(2) {
		p.slips()
	} else {
		p.equivocated()
	}
}

// accused compares whether evidence is accepted, also after it was written to a file and read again.
func (p *piece) accused(want bool, e *evidence.Evidence, hash []byte, format string, args ...any) {
	p.State("valid", want)
	p.State("refused", !want)
	_, err := e.Verify(hash)
	again, parsed := evidence.Parse(e.File())
	if parsed == nil {
		_, parsed = again.Verify(hash)
	}
	p.Claim(claimEvidence, (err == nil) == want && (parsed == nil) == want, format+": %v, and from a file %v",
		append(args, err, parsed)...)
}

// council draws a roster with real keys.
func (p *piece) council() *forge.Council {
	r := rand.New(rand.NewPCG(p.rand.Uint64(), 1))
	c, err := forge.Make(r, forge.Draw(r, 3))
	if err != nil {
		panic(err)
	}
	return c
}

// slips makes evidence of two slips.
func (p *piece) slips() {
	p.State("slips", true)
	c := p.council()
	message := func(body string, from, round int, slot string) *synod.Message {
		return &synod.Message{From: synod.NodeID(from), Slot: synod.Slot{Name: slot, Round: round}, Body: []byte(body)}
	}
	from := p.rand.IntN(3)
	a := c.Roster.SlipOf("run", message("one", from, 1, "say"))
	body, other, round, slot, run := "two", from, 1, "say", sign.Instance("run")
	changed := among(p, "nothing", "nothing", "unknown roster", "body", "member", "round", "slot", "run", "signature",
		"named seat", "named run", "roster")
	switch changed {
	case "body":
		body = "one"
	case "member":
		other = (from + 1) % 3
	case "round":
		round = 2
	case "slot":
		slot = "tell"
	case "run":
		run = "another"
	}
	b := c.Roster.SlipOf(run, message(body, other, round, slot))
	sigA := c.Secrets[from].SignEnvelope(roster.MessageType, a.Bytes())
	sigB := c.Secrets[other].SignEnvelope(roster.MessageType, b.Bytes())
	if changed == "signature" {
		sigB = p.flipped(sigB)
	}
	e := &evidence.Evidence{Format: evidence.Format, Kind: evidence.Slips, Roster: c.Roster.Bytes(), Instance: "run",
		Seat: uint64(from), A: evidence.Statement{Bytes: a.Bytes(), Signature: sigA},
		B: evidence.Statement{Bytes: b.Bytes(), Signature: sigB}}
	own := c.Roster.Hash()
	hash := own[:]
	switch changed {
	case "named seat":
		e.Seat = uint64(among(p, (from+1)%3, 3, 1000))
	case "named run":
		e.Instance = "another"
	case "roster":
		hash[p.rand.IntN(len(hash))] ^= 1
	case "unknown roster":
		hash = nil // the reader has none, and takes that of the evidence
	}
	p.accused(changed == "nothing" || changed == "unknown roster", e, hash, "evidence of two slips, where the second "+
		"has another %s", changed)
}

// equivocated makes evidence of a broadcast.
func (p *piece) equivocated() {
	p.State("broadcast", true)
	n := 2 + p.rand.IntN(3)
	var committee sign.Committee
	for i := range n {
		committee = append(committee, logKeys[i].PublicKey())
	}
	sender, values := p.rand.IntN(n), [2]string{"one", "two"}
	changed := among(p, "nothing", "nothing", "value", "run", "group", "sender", "key", "signature", "named seat",
		"roster", "short group", "weak key")
	if changed == "value" {
		values[1] = values[0]
	}
	group := broadcast.Group{Members: []synod.NodeID{0, 1}, Senders: []synod.NodeID{0, 1}, Within: 1, MaxValue: 64}
	proof := broadcast.Evidence{Group: group.Digest(), Sender: synod.NodeID(sender)}
	for i, value := range values {
		in := sign.Instance("run")
		g, by := group, sender
		switch {
		case i == 0:
		case changed == "run":
			in = "another"
		case changed == "group":
			g.Members = g.Members[:1]
		case changed == "sender":
			by = (sender + 1) % n
		}
		signer := runSigner{logKeys[by], committee, in}
		signed := g.Sign(signer, synod.NodeID(by), []byte(value))
		proof.Values[i], proof.Signatures[i] = []byte(value), signed.Signature
	}
	e := &evidence.Evidence{Format: evidence.Format, Kind: evidence.Broadcast, Instance: "run", Seat: uint64(sender),
		Group: proof.Group[:], A: evidence.Statement{Bytes: proof.Values[0], Signature: proof.Signatures[0]},
		B: evidence.Statement{Bytes: proof.Values[1], Signature: proof.Signatures[1]}}
	for _, key := range committee {
		e.Keys = append(e.Keys, key)
	}
	known := p.misnamed(e, changed)
	switch changed {
	case "weak key":
		e.Keys[sender], e.A.Signature, e.B.Signature = anybody, byAnybody, byAnybody
	case "key":
		e.Keys[(sender+1)%n] = logKeys[8].PublicKey()
	case "signature":
		e.B.Signature = p.flipped(e.B.Signature)
	}
	p.accused(changed == "nothing", e, known, "evidence of a broadcast, where the second has another %s", changed)
}

// misnamed changes what evidence of a broadcast says around the values. It returns the hash of the roster that its
// reader has.
func (p *piece) misnamed(e *evidence.Evidence, changed string) (hash []byte) {
	n := uint64(len(e.Keys))
	switch changed {
	case "named seat":
		e.Seat = among(p, (e.Seat+1)%n, n, 1000)
	case "short group":
		e.Group = e.Group[:31]
	case "roster":
		return p.bytes(32) // a council in one process has none
	}
	return nil
}

// runSigner signs for a run with a key.
type runSigner struct {
	key       sign.Secret
	committee sign.Committee
	in        sign.Instance
}

func (s runSigner) Sign(data []byte) []byte { return s.key.SignRun(s.committee, s.in, data) }

func (s runSigner) Verify(by synod.NodeID, data, sig []byte) bool {
	return s.committee.Verifier(s.in).Verify(by, data, sig)
}
