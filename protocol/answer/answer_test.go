package answer_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/core/script"
	"synod.dev/synod/llm/read"
	"synod.dev/synod/protocol/answer"
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
		m := answer.New(me, answer.Settings{Templates: "test", Rationale: longest})
		held := answer.Held{Answer: "1"} // who has no answer is asked again
		for r := range rounds {
			heard, _ := m.Exchange(r, &held, 0)
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

// member plays one member with one neighbour. The model gives these replies in turn; play is what the member does.
func member(t *testing.T, s answer.Settings, form synod.Form, replies []synod.Reply, heard []synod.Response,
	play func(m *answer.Member)) (asked []synod.Prompt, sent []synod.Response, noted []synod.Opinion) {
	t.Helper()
	seat := synod.Seat{Peers: []synod.NodeID{1}, Pace: synod.Pace{Think: 10, Within: 4},
		Question: &synod.Question{Text: "?", Form: form}}
	machine := script.New(seat, script.Options{Remember: true}, func(me *script.Agent) synod.Answer {
		play(answer.New(me, s))
		return synod.None
	})
	queue := machine.Step(0, synod.Begin{})
	for round, r := range heard {
		body, err := r.AppendBinary(nil)
		if err != nil {
			t.Fatal(err)
		}
		queue = append(queue, machine.Step(1, synod.Heard{Message: &synod.Message{From: 1,
			Slot: synod.Slot{Name: synod.Respond, Round: round}, Body: body}})...)
	}
	for ; len(queue) > 0; queue = queue[1:] {
		switch x := queue[0].(type) {
		case synod.Consult:
			asked = append(asked, *x.Prompt)
			reply := replies[min(len(asked), len(replies))-1]
			queue = append(slices.Clone(queue), machine.Step(2, synod.Answered{ID: x.ID, Reply: &reply})...)
		case synod.Alarm:
			queue = append(slices.Clone(queue), machine.Step(x.At, synod.Expired{ID: x.ID})...)
		case synod.Send:
			var r synod.Response
			if err := r.UnmarshalBinary(x.Message.Body); err != nil {
				t.Fatal(err)
			}
			sent = append(sent, r)
		case synod.Note:
			noted = append(noted, *x.Opinion)
		}
	}
	machine.Step(1<<40, synod.Halt{})
	return asked, sent, noted
}

func ok(text string) synod.Reply { return synod.Reply{Status: synod.OK, Text: text} }

// [SAC-10] A note counts calls that failed, replies that could not be read, and answers without the confidence that
// was asked for, since the last note.
func TestNotesCountFailures(t *testing.T) {
	for _, c := range []struct {
		what                       string
		mode                       synod.ConfidenceMode
		reply                      synod.Reply
		failed, unreadable, unsure int
	}{
		{"an answer", "", ok("Answer: 4"), 0, 0, 0},
		{"a failed call", "", synod.Reply{Status: synod.Timeout}, 1, 0, 0},
		{"no number", "", ok("none of them"), 0, 1, 0},
		{"a confidence", synod.StatedConfidence, ok(`{"answer": "4", "confidence": 0.5}`), 0, 0, 0},
		{"no confidence", synod.StatedConfidence, ok(`{"answer": "4"}`), 0, 0, 1},
	} {
		asked, _, noted := member(t, answer.Settings{Templates: "test", ConfidenceMode: c.mode}, synod.Number,
			[]synod.Reply{c.reply}, nil, func(m *answer.Member) {
				held := m.Answer()
				m.Note(0, held, synod.Opinion{})
				m.Note(1, held, synod.Opinion{})
			})
		if asked[0].ConfidenceMode != c.mode {
			t.Errorf("%s: the prompt asks for the confidence %q", c.what, asked[0].ConfidenceMode)
		}
		if o := noted[0]; o.Failed != c.failed || o.Unreadable != c.unreadable || o.Unsure != c.unsure {
			t.Errorf("%s: %d failed, %d unreadable, %d without confidence", c.what, o.Failed, o.Unreadable, o.Unsure)
		}
		if o := noted[1]; o.Failed+o.Unreadable+o.Unsure != 0 {
			t.Errorf("%s: counted again in the next note", c.what)
		}
	}
}

// A member without an answer sends the same prompt again after an unreadable reply. One that has an answer keeps it,
// and does not pay for the same prompt again.
func TestUnreadableRepliesAreForgottenWithoutAnAnswer(t *testing.T) {
	for _, c := range []struct {
		first string
		asked int
	}{{"none of them", 3}, {"Answer: 4", 2}} {
		asked, _, _ := member(t, answer.Settings{Templates: "test"}, synod.Number,
			[]synod.Reply{ok(c.first), ok("none of them")}, nil, func(m *answer.Member) {
				held := m.Answer()
				q := m.Prompt(synod.Refining)
				for range 2 {
					held = m.Ask(held, q)
				}
				if (held.Answer == "4") != (c.first == "Answer: 4") {
					t.Errorf("after %q it holds %q", c.first, held.Answer)
				}
			})
		if len(asked) != c.asked {
			t.Errorf("after %q: %d calls, want %d", c.first, len(asked), c.asked)
		}
	}
}

// A free-text answer is sent and shown as it was first written; other forms are canonical.
func TestSpelling(t *testing.T) {
	for _, c := range []struct {
		form        synod.Form
		own, peer   string
		sent        synod.Answer
		shown, told string // how a prompt shows its own and the neighbour's answer
	}{
		{synod.Text, "Answer: Paris", "ROME", "Paris", "Paris", "ROME"},
		{synod.Text, "Answer: paris", "Paris", "paris", "Paris", "Paris"},
		{synod.Number, "Answer: 4.0", "5.0", "4", "4", "5"},
	} {
		asked, sent, _ := member(t, answer.Settings{Templates: "test"}, c.form, []synod.Reply{ok(c.own)},
			[]synod.Response{{Answer: synod.Answer(c.peer)}}, func(m *answer.Member) {
				held := m.Answer()
				heard, _ := m.Exchange(0, &held, 1)
				q := m.Prompt(synod.Refining)
				q.Own, q.Peers = held.Answer, []synod.Rated{{Answer: heard[0].Value.Answer}}
				m.Ask(held, q)
			})
		q := asked[len(asked)-1]
		if sent[0].Answer != c.sent || q.Spelled(q.Own) != c.shown || q.Spelled(q.Peers[0].Answer) != c.told {
			t.Errorf("%s, %s: sends %q, shows %q and %q", c.own, c.peer, sent[0].Answer, q.Spelled(q.Own),
				q.Spelled(q.Peers[0].Answer))
		}
		if c.form != synod.Text && q.Spelling != nil {
			t.Errorf("numbers are spelled %v", q.Spelling)
		}
	}
}

// Reasoning is sent only by protocols that exchange it, and is cut to their length.
func TestRationaleLength(t *testing.T) {
	for most, want := range map[int]string{0: "", 12: "becaus [...]"} {
		_, sent, _ := member(t, answer.Settings{Templates: "test", Rationale: most}, synod.Number,
			[]synod.Reply{ok(`{"reasoning": "because six times seven", "answer": "42"}`)}, nil, func(m *answer.Member) {
				held := m.Answer()
				m.Exchange(0, &held, 1)
			})
		if len(sent) != 1 || sent[0].Rationale != want {
			t.Errorf("at most %d bytes: %+v", most, sent)
		}
	}
}

// Before round 0 there is time for two calls, before each later one for one more message and its calls.
func TestEnd(t *testing.T) {
	pace := synod.Pace{Think: 100, Within: 7}
	for t2, want := range map[[2]int]synod.Tick{{0, 1}: 207, {0, 3}: 207, {1, 1}: 314, {2, 3}: 821} {
		if got := answer.End(pace, t2[0], t2[1]); got != want {
			t.Errorf("round %d with %d calls ends at %d, want %d", t2[0], t2[1], got, want)
		}
	}
}

// A member that is used again, for another protocol, asks with that protocol's templates.
func TestTemplatesOfAMemberUsedAgain(t *testing.T) {
	machine := script.New(synod.Seat{Question: &synod.Question{Text: "?", Form: synod.Number}}, script.Options{},
		func(me *script.Agent) synod.Answer {
			for _, name := range []string{"one", "two", "two"} {
				if got := answer.New(me, answer.Settings{Templates: name}).Prompt(synod.Answering).Template; got !=
					name+"/"+string(synod.Answering) {
					t.Errorf("%s: the template is %s", name, got)
				}
			}
			return synod.None
		})
	machine.Step(0, synod.Begin{})
}
