package adversary

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"synod.dev/synod"
	"synod.dev/synod/llm/read"
)

var number = &synod.Question{Text: "What is 17 + 25?", Form: synod.Number}

func seatFor(q *synod.Question) synod.Seat {
	return synod.Seat{Self: 0, Peers: []synod.NodeID{1, 2}, F: 1, Pace: synod.Pace{Think: 2, Within: 4}, Question: q,
		Seed: 1}
}

// corrupt puts the adversary of that name around the honest machine.
func corrupt(t *testing.T, name string, params map[string]any, model func(*synod.Prompt) synod.Reply) (*world,
	*honest) {
	t.Helper()
	entry, err := Catalogue.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	a, err := entry.New(params)
	if err != nil {
		t.Fatal(err)
	}
	h := &honest{seat: seatFor(number)}
	w := &world{t: t, m: a.Corrupt(h.seat, h), model: model}
	w.run()
	return w, h
}

func sentTo(w *world, to synod.NodeID) string {
	s := ""
	for _, r := range w.sent[to] {
		s += fmt.Sprintf("%s@%v ", r.Answer, r.Confidence)
	}
	return s
}

// Without an adversary the machine sends the answers of its model, and nothing else.
func TestHonestBaseline(t *testing.T) {
	h := &honest{seat: seatFor(number)}
	w := &world{t: t, m: h, model: writes("42", "43", "44", "45")}
	w.run()
	if sentTo(w, 1) != `"42"@0.5 "43"@0.5 "44"@0.5 ` || sentTo(w, 2) != sentTo(w, 1) || len(w.consults) != 1+rounds*4 {
		t.Errorf("sent %s, asked %v", sentTo(w, 1), w.consults)
	}
}

func TestReplay(t *testing.T) {
	w, h := corrupt(t, "replay", map[string]any{"answer": "1,000"}, nil) // a model would be a nil call
	if want := `"1000"@1 "1000"@1 "1000"@1 `; sentTo(w, 1) != want || sentTo(w, 2) != want {
		t.Errorf("sent %s and %s; want %s", sentTo(w, 1), sentTo(w, 2), want)
	}
	if len(w.consults) != 0 || w.decided == nil || *w.decided != "1000" {
		t.Errorf("asked %v, decided %v", w.consults, w.decided)
	}
	if fmt.Sprint(h.scores) != "[0 0 1 0 0 1 0 0 1]" {
		t.Errorf("scored %v", h.scores)
	}
}

// The replayed answer is valid for every form, and is the same in the whole run.
func TestReplayAnswers(t *testing.T) {
	options := []synod.Option{{Label: "A", Text: "x"}, {Label: "B", Text: "y"}}
	a, err := replayEntry.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		q := &synod.Question{Form: anyForm(t), Options: options}
		seat := seatFor(q)
		seat.Seed = rapid.Uint64().Draw(t, "seed")
		forged := a.(replay).choose(seat)
		if again, ok := read.Canonical(q, string(forged)); !ok || again != forged {
			t.Fatalf("%s: %q is no answer", q.Form, forged)
		}
	})
	if _, err := replayEntry.New(map[string]any{"anwser": "1"}); err == nil {
		t.Error("a misspelt parameter was taken")
	}
}

// On choices the replay has one label in all questions and for all seeds: of five equally
// frequent labels it is right in one question of five.
func TestReplayHasOneLabel(t *testing.T) {
	var options []synod.Option
	for _, label := range []string{"A", "B", "C", "D", "E"} {
		options = append(options, synod.Option{Label: label, Text: "text " + label})
	}
	right := 0
	for seed := range uint64(100) {
		seat := seatFor(&synod.Question{Text: fmt.Sprint(seed), Form: synod.Choice, Options: options})
		seat.Seed = seed
		key := options[seed%5].Label
		if (replay{}).choose(seat) == canonical(seat.Question, key) {
			right++
		}
		seat.Question = &synod.Question{Text: fmt.Sprint(seed), Form: synod.Bool}
		if got := (replay{}).choose(seat); got != "false" {
			t.Errorf("seed %d: a statement is %q", seed, got)
		}
	}
	if right != 20 {
		t.Errorf("right in %d of 100 questions with five options, want 20", right)
	}
}

func TestWeakAnswer(t *testing.T) {
	w, h := corrupt(t, "weak-answer", nil, writes("I would say.\nAnswer: 41", "42"))
	if want := `"41"@1 "41"@1 "41"@1 `; sentTo(w, 1) != want {
		t.Errorf("sent %s; want %s", sentTo(w, 1), want)
	}
	if len(w.consults) != 1 || fmt.Sprint(h.scores) != "[0 0 1 0 0 1 0 0 1]" {
		t.Errorf("asked %v, scored %v", w.consults, h.scores)
	}
}

// Overconfident makes every call and ignores the replies: neither the scores of its model nor
// its refined answers change what it sends.
func TestOverconfident(t *testing.T) {
	w, h := corrupt(t, "overconfident", nil, writes("41", "42"))
	if want := `"41"@1 "41"@1 "41"@1 `; sentTo(w, 1) != want {
		t.Errorf("sent %s; want %s", sentTo(w, 1), want)
	}
	if len(w.consults) != 1+rounds*4 || fmt.Sprint(h.scores) != "[0 0 1 0 0 1 0 0 1]" {
		t.Errorf("asked %v, scored %v", w.consults, h.scores)
	}
}

func TestOverconfidentModelFails(t *testing.T) {
	w, _ := corrupt(t, "overconfident", nil, func(p *synod.Prompt) synod.Reply {
		if p.Purpose == synod.Answering {
			return synod.Reply{Status: synod.OK, Text: "41"}
		}
		return synod.Reply{Status: synod.Timeout}
	})
	if len(w.sent[1]) != rounds || w.sent[1][2].Answer != "41" {
		t.Errorf("sent %s", sentTo(w, 1))
	}
}

func TestSilent(t *testing.T) {
	w, h := corrupt(t, "silent", nil, nil)
	if len(w.sent) != 0 || len(w.consults) != 0 || w.decided == nil || *w.decided != synod.None {
		t.Errorf("sent %v, asked %v, decided %v", w.sent, w.consults, w.decided)
	}
	if h.next != 0 {
		t.Error("the honest machine was begun, and nobody would halt it")
	}
}

func TestEquivocator(t *testing.T) {
	w, _ := corrupt(t, "equivocator", nil, writes("42"))
	if sentTo(w, 1) != `"42"@0.5 "42"@0.5 "42"@0.5 ` || sentTo(w, 2) != `"43"@0.5 "43"@0.5 "43"@0.5 ` {
		t.Errorf("sent %s to one and %s to the other", sentTo(w, 1), sentTo(w, 2))
	}
}

// Which neighbours get the second value depends on the list of neighbours, and not on how a
// protocol addresses a message; otherwise an only neighbour would never get it.
func TestEquivocatorAddresses(t *testing.T) {
	for _, c := range []struct {
		peers, to []synod.NodeID
		want      string
	}{
		{[]synod.NodeID{4}, []synod.NodeID{4}, `[4]:"43" `},
		{[]synod.NodeID{4, 5}, []synod.NodeID{4}, `[4]:"42" `},
		{[]synod.NodeID{4, 5}, []synod.NodeID{5}, `[5]:"43" `},
		{[]synod.NodeID{4, 5, 6}, []synod.NodeID{6, 5, 4}, `[6 4]:"42" [5]:"43" `},
	} {
		body, _ := synod.Response{Answer: "42"}.AppendBinary(nil)
		honest := fixedMessage{synod.Send{To: c.to, Message: &synod.Message{Slot: synod.Slot{Name: synod.Respond},
			Body: body}}}
		m := equivocator{}.Corrupt(synod.Seat{Peers: c.peers, Pace: synod.Pace{Think: 2, Within: 4}, Question: number},
			honest)
		got := ""
		for _, x := range m.Step(0, synod.Begin{}) {
			send := x.(synod.Send)
			var response synod.Response
			if err := response.UnmarshalBinary(send.Body); err != nil {
				t.Fatal(err)
			}
			got += fmt.Sprintf("%v:%s ", send.To, response.Answer)
		}
		if got != c.want {
			t.Errorf("%v to %v: %s; want %s", c.peers, c.to, got, c.want)
		}
	}
}

// fixedMessage returns the same message for every event.
type fixedMessage struct{ synod.Send }

func (s fixedMessage) Step(synod.Tick, synod.Event) []synod.Effect { return []synod.Effect{s.Send} }

// The second value of the equivocator is a different answer of the same form.
func TestEquivocatorValues(t *testing.T) {
	options := []synod.Option{{Label: "A", Text: "x"}, {Label: "B", Text: "y"}}
	rapid.Check(t, func(t *rapid.T) {
		q := &synod.Question{Form: anyForm(t), Options: options}
		raw := rapid.SampledFrom([]string{"0", "-1", "0.5", "11/18", "A", "B", "true", "false", `3\sqrt{3}`, "x",
			"(3,5)", "paris", "not", "not paris", "0.5%", "18 euros each"}).Draw(t, "raw")
		a, ok := read.Canonical(q, raw)
		if !ok {
			return
		}
		forged := other(q, a)
		if again, ok := read.Canonical(q, string(forged)); !ok || again != forged || forged == a {
			t.Fatalf("%s: for %q it sends %q", q.Form, a, forged)
		}
	})
}

// Every adversary passes Halt to a machine that it has begun, refuses unknown parameters, and
// is steady only if it repeats its messages.
func TestEveryAdversary(t *testing.T) {
	for _, entry := range Catalogue.All() {
		if _, err := entry.New(map[string]any{"no such": 1}); err == nil {
			t.Errorf("%s accepts an unknown parameter", entry.Name)
		}
		if entry.About == "" || entry.Summary == "" {
			t.Errorf("%s is not documented", entry.Name)
		}
		a, err := entry.New(nil)
		if err != nil {
			t.Fatal(err)
		}
		h := &honest{seat: seatFor(number)}
		m := a.Corrupt(h.seat, h)
		m.Step(0, synod.Begin{})
		begun := h.next > 0
		if out := m.Step(1, synod.Halt{}); len(out) != 0 || begun && !h.halted {
			t.Errorf("%s: Halt returned %v, and the honest machine is halted: %v", entry.Name, out, h.halted)
		}
		if s, ok := a.(Steady); !ok || !s.Steady() {
			continue
		}
		w, _ := corrupt(t, entry.Name, nil, writes("42"))
		for to, messages := range w.sent {
			if len(slices.CompactFunc(messages, func(a, b synod.Response) bool { return a == b })) != 1 {
				t.Errorf("%s is not steady: sent %s", entry.Name, sentTo(w, to))
			}
		}
	}
}

// anyForm draws a form of which answers can be made up without a schema or tools.
func anyForm(t *rapid.T) synod.Form {
	return rapid.SampledFrom(append(synod.ShortForms(), synod.Prose)).Draw(t, "form")
}
