package game

import (
	"bytes"
	"encoding/json"
	"fmt"

	"synod.dev/synod"
	"synod.dev/synod/protocol/check"
)

// claimPrivate is about notes that players of the game write for themselves.
const claimPrivate = "I-GM-6"

// privateShare is one of how many executions has notes, because they take time.
const privateShare = 8

// noteMark begins every private note, and nothing else does.
const noteMark = "private note of "

func noteOf(id synod.NodeID) string { return fmt.Sprintf("%sn%d.", noteMark, id) }

// noting reports whether players note something for themselves in the execution.
func noting(t *check.Trace) bool { return t.Case.Sampled(privateShare) }

// noteReply adds a private note to the number that a simulated player proposes.
func noteReply(t *check.Trace, by synod.NodeID, p *synod.Prompt, r synod.Reply) synod.Reply {
	if !noting(t) || p.Purpose != Proposing {
		return r
	}
	return synod.Reply{Status: synod.OK, Text: fmt.Sprintf(`{"internal_strategy": %q, "value": %s, "public_reasoning": `+
		`"it suits all"}`, noteOf(by), r.Answer)}
}

// watchNotes is the Watch of the campaign.
func watchNotes(t *check.Trace, self synod.NodeID, m synod.Machine) synod.Machine {
	if !noting(t) {
		return m
	}
	return &discreet{m, t, self}
}

// discreet watches whether a machine tells others what a player has noted for itself. A machine of an honest seat
// knows notes of others only if another machine has sent them.
type discreet struct {
	synod.Machine
	t    *check.Trace
	self synod.NodeID
}

// Step implements synod.Machine.
func (m *discreet) Step(now synod.Tick, e synod.Event) []synod.Effect {
	effects := m.Machine.Step(now, e)
	for _, x := range effects {
		switch x := x.(type) {
		case synod.Send:
			m.compare("a message", x.Body, false)
		case synod.Consult:
			m.compare("a prompt", fmt.Appendf(nil, "%+v %+v", *x.Prompt, *TableOf(x.Prompt)), true)
		case synod.Note:
			b, err := json.Marshal(x.Opinion)
			m.t.Claim(claimPrivate, err == nil, "an opinion cannot be written: %v", err)
			m.compare("an opinion", b, false)
		}
	}
	return effects
}

// compare checks that a text has no note of an honest player. own: it may have that of the player itself.
func (m *discreet) compare(what string, text []byte, own bool) {
	m.t.Applies(claimPrivate)
	if !bytes.Contains(text, []byte(noteMark)) {
		return
	}
	for i := range m.t.Notes {
		id := synod.NodeID(i)
		if m.t.Honest(id) && !(own && id == m.self) && bytes.Contains(text, []byte(noteOf(id))) {
			m.t.Fail(claimPrivate, "%s of n%d has the private note of n%d", what, m.self, id)
		}
	}
}
