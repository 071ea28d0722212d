package script_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"synod.dev/synod"
	"synod.dev/synod/core/script"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// word is a message body of one string; one that begins with ! cannot be read.
type word string

func (w word) AppendBinary(b []byte) ([]byte, error) { return append(b, w...), nil }
func (w *word) UnmarshalBinary(b []byte) error {
	if strings.HasPrefix(string(b), "!") {
		return fmt.Errorf("unreadable")
	}
	*w = word(b)
	return nil
}

func seatOf(self synod.NodeID, peers ...synod.NodeID) synod.Seat {
	return synod.Seat{Self: self, Peers: peers, Question: &synod.Question{Text: "?"}, Seed: 7}
}

func heard(from synod.NodeID, slot string, round int, body string) synod.Event {
	return synod.Heard{Message: &synod.Message{From: from, Slot: synod.Slot{Name: slot, Round: round},
		Body: []byte(body)}}
}

func show(effects []synod.Effect) string {
	var s []string
	for _, e := range effects {
		s = append(s, fmt.Sprint(e))
	}
	return strings.Join(s, "; ")
}

// gather plays one exchange and decides on what it heard.
func gather(until script.Until) script.Play {
	return func(me *script.Agent) synod.Answer {
		var s []string
		for _, h := range script.Exchange(me, "w", 0, word("mine"), until) {
			s = append(s, fmt.Sprintf("%d=%s", h.From, h.Value))
		}
		return synod.Answer(strings.Join(s, " "))
	}
}

func TestExchange(t *testing.T) {
	late := synod.Expired{ID: 1}
	for _, c := range []struct {
		name   string
		until  script.Until
		events []synod.Event
		want   string
	}{
		{"waits for its tick even when all have sent", script.Until{At: 5},
			[]synod.Event{heard(1, "w", 0, "b"), heard(2, "w", 0, "c")}, ""},
		{"ends at its tick", script.Until{At: 5},
			[]synod.Event{heard(1, "w", 0, "b"), late}, `decide "1=b"`},
		{"ends early when all have sent", script.Until{At: 5, Early: true},
			[]synod.Event{heard(2, "w", 0, "c"), heard(1, "w", 0, "b")}, `decide "1=b 2=c"`},
		{"ends early when those have sent that are waited for", script.Until{At: 5, Early: true, Of: []synod.NodeID{2}},
			[]synod.Event{heard(2, "w", 0, "c")}, `decide "2=c"`},
		{"does not end when others have sent", script.Until{At: 5, Early: true, Of: []synod.NodeID{2}},
			[]synod.Event{heard(1, "w", 0, "b")}, ""},
		{"the first message counts", script.Until{At: 5},
			[]synod.Event{heard(1, "w", 0, "b"), heard(1, "w", 0, "x"), late}, `decide "1=b"`},
		{"an unreadable message is silence", script.Until{At: 5},
			[]synod.Event{heard(1, "w", 0, "!"), heard(2, "w", 0, "c"), late}, `decide "2=c"`},
		{"a message of another member is ignored", script.Until{At: 5},
			[]synod.Event{heard(9, "w", 0, "x"), late}, `decide –`},
		{"messages for other slots are kept apart", script.Until{At: 5},
			[]synod.Event{heard(1, "w", 1, "x"), heard(1, "v", 0, "x"), late}, `decide –`},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := script.New(seatOf(0, 1, 2), script.Options{}, gather(c.until))
			defer m.Step(9, synod.Halt{})
			if got := show(m.Step(0, synod.Begin{})); !strings.HasPrefix(got, "send to n1,n2: n0 w/0") {
				t.Fatalf("at first: %s", got)
			}
			var got string
			for i, e := range c.events {
				got = show(m.Step(synod.Tick(i+1), e))
			}
			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestLateWordIsSilence(t *testing.T) {
	m := script.New(seatOf(0, 1), script.Options{}, func(me *script.Agent) synod.Answer {
		first := script.Collect[word](me, "w", 0, script.Until{At: 3})
		again := script.Collect[word](me, "w", 0, script.Until{At: 6})
		return synod.Answer(fmt.Sprint(len(first), len(again)))
	})
	defer m.Step(9, synod.Halt{})
	m.Step(0, synod.Begin{})
	m.Step(3, synod.Expired{ID: 1})
	m.Step(4, heard(1, "w", 0, "late"))
	if got := show(m.Step(6, synod.Expired{ID: 2})); got != `decide "0 0"` {
		t.Errorf("got %s", got)
	}
}

// A flood of messages for slots that are never collected must not take unbounded memory,
// or displace the message of an honest neighbour.
func TestFlood(t *testing.T) {
	m := script.New(seatOf(0, 1, 2), script.Options{}, gather(script.Until{At: 5}))
	defer m.Step(9, synod.Halt{})
	m.Step(0, synod.Begin{})
	for i := range 10_000 {
		m.Step(1, heard(1, "junk", i, "x"))
	}
	m.Step(2, heard(2, "w", 0, "honest"))
	if got := show(m.Step(5, synod.Expired{ID: 1})); got != `decide "2=honest"` {
		t.Errorf("got %s", got)
	}
}

func ask(me *script.Agent, candidates ...synod.Answer) (s []string) {
	prompts := make([]synod.Prompt, len(candidates))
	for i, c := range candidates {
		prompts[i] = synod.Prompt{Purpose: synod.Scoring, Candidate: c}
	}
	for _, r := range me.Ask(prompts...) {
		s = append(s, r.Text)
	}
	return s
}

func TestAskRemembers(t *testing.T) {
	for _, c := range []struct {
		remember bool
		want     []int // consults in each batch
		reused   int
	}{{false, []int{3, 2}, 0}, {true, []int{2, 1}, 2}} {
		var counts []int
		reused := 0
		m := script.New(seatOf(0), script.Options{Remember: c.remember}, func(me *script.Agent) synod.Answer {
			first := ask(me, "a", "b", "a")
			second := ask(me, "b", "c")
			me.Note(synod.Opinion{})
			return synod.Answer(strings.Join(append(first, second...), ","))
		})
		effects := m.Step(0, synod.Begin{})
		for len(effects) > 0 {
			var next []synod.Effect
			batch := 0
			for _, e := range append([]synod.Effect(nil), effects...) {
				switch e := e.(type) {
				case synod.Consult:
					batch++
					next = append(next, m.Step(1, synod.Answered{ID: e.ID,
						Reply: &synod.Reply{Status: synod.OK, Text: "re:" + string(e.Candidate)}})...)
				case synod.Note:
					reused = e.Reused
				case synod.Decide:
					if e.Answer != "re:a,re:b,re:a,re:b,re:c" {
						t.Errorf("remember=%v: replies are %s", c.remember, e.Answer)
					}
				}
			}
			if batch > 0 {
				counts = append(counts, batch)
			}
			effects = next
		}
		if fmt.Sprint(counts) != fmt.Sprint(c.want) || reused != c.reused {
			t.Errorf("remember=%v: consults %v, reused %d; want %v, %d", c.remember, counts, reused, c.want, c.reused)
		}
	}
}

// A failed call is not remembered: it may succeed when it is asked again.
func TestFailureIsNotRemembered(t *testing.T) {
	m := script.New(seatOf(0), script.Options{Remember: true}, func(me *script.Agent) synod.Answer {
		ask(me, "a")
		ask(me, "a")
		return "done"
	})
	m.Step(0, synod.Begin{})
	got := show(m.Step(1, synod.Answered{ID: 0, Reply: &synod.Reply{Status: synod.Timeout}}))
	if got != `consult 1: score "a"` {
		t.Errorf("after a failure: %s", got)
	}
	m.Step(2, synod.Halt{})
}

// A prompt whose reply was forgotten is asked again, under
// another seed.
func TestForget(t *testing.T) {
	m := script.New(seatOf(0), script.Options{Remember: true}, func(me *script.Agent) synod.Answer {
		me.Forget(me.Ask(synod.Prompt{Purpose: synod.Scoring, Candidate: "a"},
			synod.Prompt{Purpose: synod.Scoring, Candidate: "b"})[0])
		ask(me, "a", "b")
		return "done"
	})
	m.Step(0, synod.Begin{})
	m.Step(1, synod.Answered{ID: 0, Reply: &synod.Reply{Status: synod.OK, Text: "?"}})
	if got := show(m.Step(1, synod.Answered{ID: 1,
		Reply: &synod.Reply{Status: synod.OK, Text: "1"}})); got != `consult 2: score "a"` {
		t.Errorf("after a reply that was forgotten, and one that was not: %s", got)
	}
	m.Step(2, synod.Halt{})
}

func TestSeeds(t *testing.T) {
	seeds := func(opt script.Options, seed uint64) (out []uint64) {
		s := seatOf(0)
		s.Seed = seed
		m := script.New(s, opt, func(me *script.Agent) synod.Answer { ask(me, "a", "b"); return "x" })
		defer m.Step(9, synod.Halt{})
		for _, e := range m.Step(0, synod.Begin{}) {
			if c, ok := e.(synod.Consult); ok {
				out = append(out, c.Seed)
			}
		}
		return out
	}
	a, b := seeds(script.Options{}, 1), seeds(script.Options{}, 2)
	if a[0] == a[1] || a[0] == b[0] || a[0] == 0 {
		t.Errorf("seeds of two calls and two seats must differ: %v %v", a, b)
	}
	if one := seeds(script.Options{OneSeed: true}, 1); one[0] != 0 || one[1] != 0 {
		t.Errorf("with OneSeed the seed is the member's own: %v", one)
	}
}

// Halt in every state leaves no coroutine (goleak in TestMain) and later events
// have no effect.
func TestHalt(t *testing.T) {
	for _, events := range [][]synod.Event{
		{},
		{synod.Begin{}},
		{synod.Begin{}, heard(1, "w", 0, "b")},
		{synod.Begin{}, synod.Expired{ID: 1}},
	} {
		m := script.New(seatOf(0, 1), script.Options{}, gather(script.Until{At: 5}))
		for _, e := range events {
			m.Step(0, e)
		}
		if got := m.Step(6, synod.Halt{}); len(got) != 0 {
			t.Errorf("halt has effects: %s", show(got))
		}
		if got := m.Step(7, synod.Begin{}); len(got) != 0 {
			t.Errorf("a halted machine acts: %s", show(got))
		}
	}
}

// chain is a toy broadcast of f+1 rounds: a member that learns a value in round k passes
// it on in round k+1. It has fixed ends: with early ends a selectively silent sender could
// make honest members disagree.
func chain(f int, sender synod.NodeID) script.Play {
	return func(me *script.Agent) synod.Answer {
		known := map[word]bool{}
		relay := []word{}
		if me.Seat().Self == sender {
			known["v"] = true
			relay = append(relay, "v")
		}
		for k := range f + 1 {
			for _, w := range relay {
				script.Tell(me, "relay", k, w)
			}
			relay = relay[:0]
			for _, h := range script.Collect[word](me, "relay", k, script.Until{At: synod.Tick(2 * (k + 1))}) {
				if !known[h.Value] {
					known[h.Value] = true
					relay = append(relay, h.Value)
				}
			}
		}
		if len(known) == 1 {
			return "v"
		}
		return "⊥"
	}
}

func TestFixedTicksBroadcast(t *testing.T) {
	const n = 4
	machines := make([]synod.Machine, n)
	for i := range machines {
		var peers []synod.NodeID
		for j := range n {
			if j != i {
				peers = append(peers, synod.NodeID(j))
			}
		}
		machines[i] = script.New(seatOf(synod.NodeID(i), peers...), script.Options{}, chain(1, 0))
	}
	type due struct {
		at synod.Tick
		to synod.NodeID
		e  synod.Event
	}
	var queue []due
	decided := map[synod.NodeID]synod.Answer{}
	act := func(now synod.Tick, node synod.NodeID, e synod.Event) {
		for _, x := range machines[node].Step(now, e) {
			switch x := x.(type) {
			case synod.Send:
				for _, to := range x.To {
					if node == 0 && to != 1 {
						continue // the sender is silent to all but node 1
					}
					queue = append(queue, due{now + 1, to, synod.Heard{Message: x.Message}})
				}
			case synod.Alarm:
				queue = append(queue, due{x.At, node, synod.Expired{ID: x.ID}})
			case synod.Decide:
				decided[node] = x.Answer
			}
		}
	}
	for i := range n {
		act(0, synod.NodeID(i), synod.Begin{})
	}
	for now := synod.Tick(1); now < 20; now++ {
		for _, d := range append([]due(nil), queue...) {
			if d.at == now {
				act(now, d.to, d.e)
			}
		}
	}
	for i := 1; i < n; i++ {
		if decided[synod.NodeID(i)] != "v" {
			t.Errorf("node %d decided %q; all honest nodes must decide the same: %v", i, decided[synod.NodeID(i)],
				decided)
		}
		machines[i].Step(20, synod.Halt{})
	}
	machines[0].Step(20, synod.Halt{})
}

// A message that comes after its slot was collected is silence to the exchange. Late
// returns it once, by the name of its slot. Each neighbour has a limit of its own.
func TestLate(t *testing.T) {
	var got []string
	take := func(me *script.Agent, name string) {
		s := name
		for _, m := range script.Late(me, name) {
			s += fmt.Sprintf(" %d:%s", m.From, m.Body)
		}
		if len(s) > 60 {
			s = fmt.Sprintf("%d bytes", len(s))
		}
		got = append(got, s)
	}
	m := script.New(seatOf(0, 1, 2), script.Options{}, func(me *script.Agent) synod.Answer {
		script.Collect[word](me, "w", 0, script.Until{At: 5})
		take(me, "w")
		script.Collect[word](me, "w", 1, script.Until{At: 10})
		take(me, "v")
		take(me, "w")
		take(me, "w")
		return "done"
	})
	m.Step(0, synod.Begin{})
	m.Step(1, heard(1, "w", 0, "in time"))
	m.Step(5, synod.Expired{ID: 1})
	m.Step(6, heard(2, "w", 0, "late"))
	for range 100 {
		m.Step(7, heard(1, "w", 0, "again"))
	}
	m.Step(7, heard(3, "w", 0, "a stranger's"))
	if fmt.Sprint(m.Step(10, synod.Expired{ID: 2})) != fmt.Sprint([]synod.Effect{synod.Decide{Answer: "done"}}) {
		t.Error("the machine did not decide")
	}
	if want := "[w v 520 bytes w]"; fmt.Sprint(got) != want {
		t.Errorf("%v, want %v", got, want)
	}
}

// TellTo sends to the given neighbours only.
func TestTellTo(t *testing.T) {
	m := script.New(seatOf(0, 1, 2), script.Options{}, func(me *script.Agent) synod.Answer {
		script.TellTo(me, []synod.NodeID{2}, "w", 3, word("hello"))
		script.TellTo(me, nil, "w", 4, word("nobody"))
		return ""
	})
	effects := m.Step(0, synod.Begin{})
	if len(effects) != 2 || fmt.Sprint(effects[0].(synod.Send).To) != "[2]" || effects[0].(synod.Send).Slot.Round != 3 {
		t.Errorf("%v", effects)
	}
}

// The type of the messages of a slot is known once the machine has sent one, and is that of what it sends.
func TestMessageType(t *testing.T) {
	m := script.New(synod.Seat{Peers: []synod.NodeID{1}}, script.Options{}, func(me *script.Agent) synod.Answer {
		script.Tell(me, "answers", 0, synod.Response{})
		return synod.None
	}).(synod.Resetter)
	if of := script.MessageType(m, "answers"); of != nil {
		t.Errorf("before it sends anything: %s", of)
	}
	m.Step(0, synod.Begin{})
	if of := script.MessageType(m, "answers"); of != reflect.TypeFor[synod.Response]() {
		t.Errorf("messages are a %v", of)
	}
	if of := script.MessageType(m, "votes"); of != nil {
		t.Errorf("messages that it has not sent are a %s", of)
	}
}
