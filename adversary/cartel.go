package adversary

import (
	"bytes"
	"encoding/binary"

	"synod.dev/synod"
	"synod.dev/synod/protocol/grade"
)

var cartelEntry = Entry{
	Entry: synod.Entry{Name: "cartel", Summary: "DecentLLMs': full marks for one seat's answer, nothing for anyone else's"},
	About: `Judges for one seat: what that seat has answered gets the best marks there are and
everything else the worst, whatever its model says (DecentLLMs §V.A and Fig. 8). It
knows the answer from hearing the seat, and needs no word with others of its kind:
seat several that favour the same one. An honest seat that gave the same answer
profits with it. It asks its model all the same, so that it costs and times like an
honest member, and answers as an honest member does where it is asked for an answer.

favours  a seat's id in the council file, or its place from 0; by default the last
         seat of another role than its own, or the last neighbour`,
	New: newCartel,
}

type cartel struct{ favours *named }

func newCartel(params map[string]any) (Adversary, error) {
	var a cartel
	if err := strict(params, "favours"); err != nil {
		return nil, err
	}
	if v, is := params["favours"]; is {
		n := name(v)
		a.favours = &n
	}
	return a, nil
}

func (cartel) Steady() bool { return true }

// Found looks up the seat that it favours.
func (a cartel) Found(seat func(string) (synod.NodeID, error)) (Adversary, error) {
	if a.favours == nil {
		return a, nil
	}
	n, err := a.favours.find(seat)
	return cartel{&n}, err
}

// favourite is the seat that it judges for; -1 if there is none.
func (a cartel) favourite(seat synod.Seat) synod.NodeID {
	if a.favours != nil {
		return a.favours.node()
	}
	for i := len(seat.Cast) - 1; i >= 0; i-- {
		if seat.Cast[i] != seat.Role {
			return synod.NodeID(i)
		}
	}
	if len(seat.Peers) == 0 {
		return -1
	}
	return seat.Peers[len(seat.Peers)-1]
}

// Corrupt listens to the favourite and judges in its favour.
func (a cartel) Corrupt(seat synod.Seat, honest synod.Machine) synod.Machine {
	m := &partisan{favourite: a.favourite(seat)}
	m.mouth = mouth{honest: honest, says: func(*synod.Prompt) *synod.Reply { return nil }, replaces: m.judge}
	return m
}

// partisan is a member that has heard what its favourite says.
type partisan struct {
	mouth
	favourite synod.NodeID
	heard     [][]byte
}

// maxWords is how many words of its favourite it keeps: one that floods it gains
// nothing.
const maxWords = 64

func (m *partisan) Step(now synod.Tick, e synod.Event) []synod.Effect {
	if h, ok := e.(synod.Heard); ok && h.From == m.favourite && len(m.heard) < maxWords {
		m.heard = append(m.heard, h.Body)
	}
	return m.mouth.Step(now, e)
}

// judge is a reply to a prompt that wants a judgement.
func (m *partisan) judge(p *synod.Prompt, r *synod.Reply) *synod.Reply {
	judged := []synod.Rated{{Answer: p.Candidate}}
	switch p.Purpose {
	case grade.All:
		judged = p.Peers
	case grade.One, synod.Scoring, synod.Weighing:
	default:
		return r
	}
	mine := synod.None
	for _, x := range judged {
		if m.favoured(x.Answer) || m.favoured(synod.Answer(p.Spelled(x.Answer))) {
			mine = x.Answer
		}
	}
	return typed(p, mine)
}

// favoured reports that the favourite has said an answer: that a word of its holds
// it as a Response does, whatever a protocol wraps around that.
func (m *partisan) favoured(a synod.Answer) bool {
	said := append(binary.BigEndian.AppendUint32(nil, uint32(len(a))), a...)
	for _, body := range m.heard {
		if bytes.Contains(body, said) {
			return true
		}
	}
	return false
}
