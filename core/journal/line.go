package journal

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"synod.dev/synod"
)

// line is an event or an effect line. Kind and What determine its type.
type line struct {
	Kind string       `json:"k"`
	Tick synod.Tick   `json:"t"`
	Node synod.NodeID `json:"n"`
	What string       `json:"w"`

	ID uint32 `json:"id,omitempty"` // answered, expired, consult, alarm
	// answered: hash of the reply's content; the reply has its own line
	Sum     string         `json:"sum,omitempty"`
	At      synod.Tick     `json:"at,omitempty"`      // alarm
	From    *synod.NodeID  `json:"from,omitempty"`    // heard
	To      []synod.NodeID `json:"to,omitempty"`      // send
	Slot    *synod.Slot    `json:"slot,omitempty"`    // heard, send
	Body    []byte         `json:"body,omitempty"`    // heard, send
	Prompt  *synod.Prompt  `json:"prompt,omitempty"`  // consult
	Opinion *synod.Opinion `json:"opinion,omitempty"` // note
	Answer  synod.Answer   `json:"answer,omitempty"`  // decide
	First   []synod.Given  `json:"first,omitempty"`   // opened
}

// opened is what the line of a synod.Opened says.
const opened = "opened"

func eventOf(now synod.Tick, node synod.NodeID, e synod.Event) line {
	l := line{Kind: "event", Tick: now, Node: node}
	switch e := e.(type) {
	case synod.Begin:
		l.What = "begin"
	case synod.Heard:
		l.What, l.From, l.Slot, l.Body = "heard", &e.From, &e.Slot, e.Body
	case synod.Answered:
		l.What, l.ID, l.Sum = "answered", uint32(e.ID), meaning(e.Reply)
	case synod.Expired:
		l.What, l.ID = "expired", uint32(e.ID)
	case synod.Halt:
		l.What = "halt"
	}
	return l
}

func effectOf(now synod.Tick, node synod.NodeID, e synod.Effect) line {
	l := line{Kind: "effect", Tick: now, Node: node}
	switch e := e.(type) {
	case synod.Send:
		l.What, l.To, l.Slot, l.Body = "send", e.To, &e.Slot, e.Body
	case synod.Consult:
		l.What, l.ID, l.Prompt = "consult", uint32(e.ID), e.Prompt
	case synod.Alarm:
		l.What, l.ID, l.At = "alarm", uint32(e.ID), e.At
	case synod.Note:
		l.What, l.Opinion = "note", e.Opinion
	case synod.Decide:
		l.What, l.Answer = "decide", e.Answer
	case synod.Opened:
		l.What, l.First = opened, e.First
	}
	return l
}

// meaning returns a hash of a reply's content. Its cost is not part of the content: the
// digest of a run must not depend on token counts, retries or the text of a failure,
// and no machine may let them change its effects. The version of the readers is not part
// of it either: where it matters, the effects differ.
func meaning(r *synod.Reply) string {
	content := *r
	content.Usage, content.Charged, content.Calls = synod.Usage{}, synod.Usage{}, 0
	content.Reused, content.Late, content.Needless, content.Plain, content.Reader = false, false, false, false, 0
	content.Detail, content.Fault, content.Model, content.Took = "", "", "", 0
	var buf [512]byte
	b, _ := appendReply(append(buf[:0], '{'), &content)
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:12])
}

// event turns a line back into the event. Replies come from the reply lines.
func (l line) event(replies Replies) (synod.Event, error) {
	switch l.What {
	case "begin":
		return synod.Begin{}, nil
	case "heard":
		if l.From == nil || l.Slot == nil {
			return nil, fmt.Errorf("a heard line has no sender or no slot")
		}
		return synod.Heard{Message: &synod.Message{From: *l.From, Slot: *l.Slot, Body: l.Body}}, nil
	case "answered":
		r, ok := replies[Key{l.Node, synod.ConsultID(l.ID)}]
		if !ok {
			return nil, fmt.Errorf("the journal has no reply to consult %[2]d of node %[1]d", l.Node, l.ID)
		}
		if meaning(&r) != l.Sum {
			return nil, fmt.Errorf("the reply to consult %[2]d of node %[1]d is not the one that the node was given",
				l.Node, l.ID)
		}
		return synod.Answered{ID: synod.ConsultID(l.ID), Reply: &r}, nil
	case "expired":
		return synod.Expired{ID: synod.AlarmID(l.ID)}, nil
	case "halt":
		return synod.Halt{}, nil
	}
	return nil, fmt.Errorf("unknown event %q", l.What)
}
