package answer_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/protocol/answer"
	"synod.dev/synod/read"
	"synod.dev/synod/script"
)

// A member reads a body that it has read before from memory. What it returns is what each body
// says by itself: over several rounds, with malformed bodies, answers that are not canonical,
// reasoning that is too long, and more different bodies than are remembered.
func TestRepeatedBodiesAreReadAlike(t *testing.T) {
	const peers, rounds, longest = 60, 4, 20
	q := &synod.Question{Text: "an item", Form: synod.Number}
	var bodies [][]byte
	for i := range 40 {
		text := []string{"%d", " %d.0", "$%d", "no number %d"}[i%4]
		b, _ := synod.Response{Answer: synod.Answer(fmt.Sprintf(text, i)), Confidence: float64(i%3) / 2,
			Rationale: fmt.Sprintf("because %d is\n%0*d", i, i, 0)}.AppendBinary(nil)
		if i%7 == 0 {
			b = b[:len(b)-1]
		}
		bodies = append(bodies, b)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	var sent [rounds][peers]synod.Message
	for r := range sent {
		for p := range sent[r] {
			body := bodies[rng.IntN([]int{3, len(bodies)}[r%2])]
			sent[r][p] = synod.Message{From: synod.NodeID(p), Slot: synod.Slot{Name: synod.Respond, Round: r},
				Body: slices.Clone(body)}
		}
	}
	var got [rounds][]answer.Heard
	seat := synod.Seat{Self: peers, Question: q}
	for p := range peers {
		seat.Peers = append(seat.Peers, synod.NodeID(p))
	}
	play := script.New(seat, script.Options{}, func(me *script.Agent) synod.Answer {
		m, held := answer.New(me, answer.Settings{Templates: "test", Rationale: longest}), answer.Held{}
		for r := range rounds {
			m.Send(r, &held, 0)
			me.Wait()
			heard, _ := m.Received(r)
			got[r] = slices.Clone(heard)
		}
		return synod.None
	})
	play.Step(0, synod.Begin{})
	for r := range sent {
		for p := range sent[r] {
			play.Step(1, synod.Heard{Message: &sent[r][p]})
		}
	}
	for r := range got {
		if want := readEach(q, sent[r][:]); !slices.Equal(brief(got[r]), brief(want)) {
			t.Errorf("round %d: read\n%v\nand each by itself\n%v", r, brief(got[r]), brief(want))
		}
		for _, h := range got[r] {
			if len(h.Value.Rationale) > longest+len("…") {
				t.Errorf("round %d: reasoning of %d bytes", r, len(h.Value.Rationale))
			}
		}
	}
}

// readEach reads every message by itself.
func readEach(q *synod.Question, sent []synod.Message) (heard []answer.Heard) {
	for _, m := range sent {
		var v synod.Response
		if v.UnmarshalBinary(m.Body) != nil {
			continue
		}
		if a, ok := read.Canonical(q, string(v.Answer)); ok {
			v.Answer = a
			heard = append(heard, answer.Heard{From: m.From, Value: v})
		}
	}
	return heard
}

// brief shows the parts of responses that are not cut.
func brief(heard []answer.Heard) (lines []string) {
	for _, h := range heard {
		lines = append(lines, fmt.Sprint(h.From, h.Value.Answer, h.Value.Confidence))
	}
	return lines
}
