package script_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/core/script"
)

// listen waits until a tick and then collects some rounds of one slot that have ended, and
// decides on how many messages it got of each neighbour.
func listen(peers []synod.NodeID, rounds int) script.Play {
	return func(me *script.Agent) synod.Answer {
		script.Collect[word](me, "wait", 0, script.Until{At: 5})
		counts := make([]int, len(peers))
		for round := range rounds {
			for _, h := range script.Collect[word](me, "w", round, script.Until{At: 5}) {
				counts[slices.Index(peers, h.From)]++
			}
		}
		return synod.Answer(fmt.Sprint(counts))
	}
}

// At most 64 messages of one neighbour are kept for later slots; messages that repeat a slot
// do not count. What a neighbour floods takes nothing from another one.
func TestFloodIsLimitedPerNeighbour(t *testing.T) {
	peers := []synod.NodeID{1, 2}
	for _, c := range []struct {
		sent [2]int // messages for different slots, by neighbour
		want string
	}{
		{[2]int{0, 1}, `decide "[0 1]"`},
		{[2]int{63, 64}, `decide "[63 64]"`},
		{[2]int{65, 3}, `decide "[64 3]"`},
		{[2]int{1000, 1000}, `decide "[64 64]"`},
	} {
		m := script.New(seatOf(0, peers...), script.Options{}, listen(peers, 1000))
		m.Step(0, synod.Begin{})
		for i, sent := range c.sent {
			for round := range sent {
				for range 2 {
					m.Step(1, heard(peers[i], "w", round, "x"))
				}
			}
		}
		if got := show(m.Step(5, synod.Expired{ID: 1})); got != c.want {
			t.Errorf("%v messages sent: %s, want %s", c.sent, got, c.want)
		}
	}
}

// A neighbour whose messages were collected may send as many again.
func TestCollectedMessagesAreNotCountedAgain(t *testing.T) {
	const rounds = 200
	m := script.New(seatOf(0, 1), script.Options{}, func(me *script.Agent) synod.Answer {
		n := 0
		for round := range rounds {
			n += len(script.Collect[word](me, "w", round, script.Until{At: synod.Tick(round + 1)}))
		}
		return synod.Answer(fmt.Sprint(n))
	})
	var got string
	m.Step(0, synod.Begin{})
	for round := range rounds {
		m.Step(synod.Tick(round), heard(1, "w", round, "x"))
		got = show(m.Step(synod.Tick(round+1), synod.Expired{ID: synod.AlarmID(round + 1)}))
	}
	if got != `decide "200"` {
		t.Errorf("%s, want all messages of %d rounds", got, rounds)
	}
}

// At most 64 late messages of each neighbour are kept.
func TestLateMessagesAreLimitedPerNeighbour(t *testing.T) {
	counts := map[synod.NodeID]int{}
	m := script.New(seatOf(0, 1, 2, 3), script.Options{}, func(me *script.Agent) synod.Answer {
		script.Collect[word](me, "w", 0, script.Until{At: 5})
		script.Collect[word](me, "w", 1, script.Until{At: 10})
		for _, late := range script.Late(me, "w") {
			counts[late.From]++
		}
		return ""
	})
	m.Step(0, synod.Begin{})
	m.Step(5, synod.Expired{ID: 1})
	for from, n := range map[synod.NodeID]int{1: 63, 2: 64, 3: 65} {
		for range n {
			m.Step(6, heard(from, "w", 0, "x"))
		}
	}
	m.Step(10, synod.Expired{ID: 2})
	if want := "map[1:63 2:64 3:64]"; fmt.Sprint(counts) != want {
		t.Errorf("late messages by neighbour: %v, want %s", counts, want)
	}
}

// A round whose end is now or has passed ends at once and sets no alarm; one that ends a
// tick later sets one.
func TestRoundThatIsOverEndsAtOnce(t *testing.T) {
	for _, c := range []struct {
		at   synod.Tick
		want string
	}{
		{-1, `decide "1"`}, {6, `decide "1"`}, {7, `decide "1"`}, {8, "alarm 2 at tick 8"},
	} {
		m := script.New(seatOf(0, 1), script.Options{}, func(me *script.Agent) synod.Answer {
			script.Collect[word](me, "wait", 0, script.Until{At: 5})
			return synod.Answer(fmt.Sprint(len(script.Collect[word](me, "w", 0, script.Until{At: c.at}))))
		})
		m.Step(0, synod.Begin{})
		m.Step(1, heard(1, "w", 0, "x"))
		if got := show(m.Step(7, synod.Expired{ID: 1})); got != c.want {
			t.Errorf("at tick 7, a round that ends at %d: %s, want %s", c.at, got, c.want)
		}
		m.Step(9, synod.Halt{})
	}
}

// An early round counts what came before it began, and what came in it for its slot only.
func TestEarlyRoundCountsItsSlotOnly(t *testing.T) {
	until := script.Until{At: 50, Early: true}
	for _, c := range []struct {
		name   string
		events []synod.Event
		want   string
	}{
		{"all before", []synod.Event{heard(1, "w", 0, "a"), heard(2, "w", 0, "b"), synod.Begin{}}, `decide "1=a 2=b"`},
		{"one before", []synod.Event{heard(1, "w", 0, "a"), synod.Begin{}, heard(2, "w", 0, "b")}, `decide "1=a 2=b"`},
		{"one before, twice", []synod.Event{heard(1, "w", 0, "a"), synod.Begin{}, heard(1, "w", 0, "b")}, ""},
		{"another slot", []synod.Event{synod.Begin{}, heard(1, "w", 0, "a"), heard(2, "w", 1, "b")}, ""},
		{"unreadable", []synod.Event{synod.Begin{}, heard(1, "w", 0, "a"), heard(2, "w", 0, "!")}, `decide "1=a"`},
	} {
		m := script.New(seatOf(0, 1, 2), script.Options{}, gather(until))
		var got string
		for _, e := range c.events {
			got = show(m.Step(0, e))
		}
		if i := strings.Index(got, "decide"); i > 0 {
			got = got[i:]
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
		m.Step(1, synod.Halt{})
	}
}

// talker asks and tells in many rounds, with other peers in the prompts of each.
func talker(rounds int) script.Play {
	return func(me *script.Agent) synod.Answer {
		n := 0
		for t := range rounds {
			var peers []synod.Rated
			for i := range t % 90 {
				peers = append(peers, synod.Rated{Answer: synod.Answer(fmt.Sprint(t, " ", i))})
			}
			me.Ask(synod.Prompt{Purpose: synod.Scoring, Candidate: synod.Answer(fmt.Sprint(t)), Peers: peers})
			to := me.Seat().Peers[:1+t%len(me.Seat().Peers)]
			script.TellTo(me, to, "w", t, word(fmt.Sprint("m", t)))
			n += len(script.Collect[word](me, "w", t, script.Until{At: synod.Tick(t + 1)}))
		}
		return synod.Answer(fmt.Sprint(n, len(script.Late(me, "w"))))
	}
}

// drive plays a machine of a talker, to which nodes 0 to 5 send in time, late, and for slots
// that are not collected. It returns what each of its steps asked for.
func drive(m synod.Machine, rounds int) (steps []string) {
	effects := m.Step(0, synod.Begin{})
	for t := range rounds {
		steps = append(steps, detail(effects))
		id := effects[len(effects)-1].(synod.Consult).ID
		steps = append(steps, detail(m.Step(synod.Tick(t), synod.Answered{ID: id,
			Reply: &synod.Reply{Status: synod.OK, Text: "r"}})))
		for from := range synod.NodeID(6) {
			for _, e := range []synod.Event{
				heard(from, "w", t, "x"), heard(from, "w", t-1, "y"),
				heard(from, "v", t, "z"), heard(from, "u", t, "z"),
			} {
				if got := m.Step(synod.Tick(t), e); len(got) > 0 {
					steps = append(steps, detail(got))
				}
			}
		}
		effects = m.Step(synod.Tick(t+1), synod.Expired{ID: synod.AlarmID(t + 1)})
	}
	steps = append(steps, detail(effects))
	m.Step(999, synod.Halt{})
	return steps
}

// detail shows effects with all that a prompt and a message hold.
func detail(effects []synod.Effect) string {
	var s []string
	for _, e := range effects {
		switch e := e.(type) {
		case synod.Consult:
			s = append(s, fmt.Sprintf("consult %d: %+v", e.ID, struct{ synod.Prompt }{*e.Prompt}))
		case synod.Send:
			s = append(s, fmt.Sprintf("send %v %d %v %s", e.To, e.From, e.Slot, e.Body))
		default:
			s = append(s, fmt.Sprint(e))
		}
	}
	return strings.Join(s, "; ")
}

// A machine that is used again, in another seat too, does what a new one does. It keeps some
// messages, prompts and alarms of its last run; some of the runs are longer than what it keeps.
func TestResetMachineIsLikeANewOne(t *testing.T) {
	for _, o := range []script.Options{{}, {Remember: true}, {OneSeed: true}} {
		for _, rounds := range []int{3, 64, 65, 200} {
			used := script.New(seatOf(0, 1, 2, 3), o, talker(rounds))
			for i, seat := range []synod.Seat{
				seatOf(0, 1, 2, 3), seatOf(0, 1, 2, 3), seatOf(2, 0, 1, 5), seatOf(4, 1), seatOf(0, 1, 2, 3, 4, 5),
			} {
				seat.Seed += uint64(i)
				used.(synod.Resetter).Reset(seat)
				got, want := drive(used, rounds), drive(script.New(seat, o, talker(rounds)), rounds)
				for k := range want {
					if got[k] != want[k] {
						t.Fatalf("%+v, %d rounds, run %d, step %d:\n%s\nand new\n%s", o, rounds, i, k, got[k], want[k])
					}
				}
			}
		}
	}
}

// The prompts and messages of one run are separate, however many there are: an effect that
// was kept does not change with later ones of its run.
func TestPromptsOfABatchAreSeparate(t *testing.T) {
	const n = 150
	for _, o := range []script.Options{{}, {Remember: true}} {
		m := script.New(seatOf(0, 1), o, func(me *script.Agent) synod.Answer {
			prompts := make([]synod.Prompt, n)
			for i := range prompts {
				peers := slices.Repeat([]synod.Rated{{Answer: synod.Answer(fmt.Sprint("of ", i))}}, i)
				prompts[i] = synod.Prompt{Purpose: synod.Scoring, Candidate: synod.Answer(fmt.Sprint(i)), Peers: peers}
			}
			s := []string{}
			for _, r := range me.Ask(prompts...) {
				s = append(s, r.Text)
			}
			return synod.Answer(strings.Join(s, " "))
		})
		effects := slices.Clone(m.Step(0, synod.Begin{}))
		seeds, nonces, want := map[uint64]bool{}, map[uint64]bool{}, []string{}
		for i, e := range effects {
			c := e.(synod.Consult)
			seeds[c.Seed], nonces[c.Nonce] = true, true
			if c.Candidate != synod.Answer(fmt.Sprint(i)) || len(c.Peers) != i ||
				i > 0 && (c.Peers[0].Answer != synod.Answer(fmt.Sprint("of ", i)) || c.Peers[0] != c.Peers[i-1]) {
				t.Errorf("%+v: prompt %d is about %s, with %d peers", o, i, c.Candidate, len(c.Peers))
			}
			want = append(want, fmt.Sprint("r", i))
		}
		if len(effects) != n || len(seeds) != n || len(nonces) != n {
			t.Errorf("%+v: %d prompts with %d seeds and %d nonces", o, len(effects), len(seeds), len(nonces))
		}
		var got string
		for i := n - 1; i >= 0; i-- { // in another order than they were asked
			reply := &synod.Reply{Status: synod.OK, Text: fmt.Sprint("r", i)}
			got = show(m.Step(1, synod.Answered{ID: synod.ConsultID(i), Reply: reply}))
		}
		if got != fmt.Sprintf("decide %q", strings.Join(want, " ")) {
			t.Errorf("%+v: replies are %s", o, got)
		}
	}
}

// Each message of a run keeps what it was sent with, however many there are.
func TestMessagesOfARunAreSeparate(t *testing.T) {
	const n = 150
	m := script.New(seatOf(0, 1), script.Options{}, func(me *script.Agent) synod.Answer {
		for i := range n {
			script.Tell(me, "w", i, word(fmt.Sprint("m", i)))
		}
		return ""
	})
	for i, e := range m.Step(0, synod.Begin{})[:n] {
		if s := e.(synod.Send); s.Slot.Round != i || string(s.Body) != fmt.Sprint("m", i) {
			t.Errorf("message %d is %s %q", i, s.Slot, s.Body)
		}
	}
}

// A second reply to a call, and a reply to a call that was not made, are ignored.
func TestOtherRepliesAreIgnored(t *testing.T) {
	reply := func(id synod.ConsultID, text string) synod.Event {
		return synod.Answered{ID: id, Reply: &synod.Reply{Status: synod.OK, Text: text}}
	}
	for _, o := range []script.Options{{}, {Remember: true}} {
		m := script.New(seatOf(0), o, func(me *script.Agent) synod.Answer {
			first := ask(me, "a", "b")
			return synod.Answer(strings.Join(append(first, ask(me, "c", "d")...), " "))
		})
		m.Step(0, synod.Begin{})
		for _, e := range []synod.Event{
			reply(0, "r0"), reply(0, "again"), reply(2, "not asked"), reply(1<<32-1, "not asked"), reply(1, "r1"),
			reply(0, "old"), reply(1, "old"), reply(3, "r3"), reply(3, "again"), reply(4, "not asked"),
		} {
			if got := show(m.Step(1, e)); strings.HasPrefix(got, "decide") {
				t.Fatalf("%+v: decided after %s: %s", o, e, got)
			}
		}
		if got := show(m.Step(1, reply(2, "r2"))); got != `decide "r0 r1 r2 r3"` {
			t.Errorf("%+v: %s", o, got)
		}
	}
}

// Derive is the SplitMix64 generator: its published first outputs for the seed 1234567.
func TestDeriveIsSplitMix64(t *testing.T) {
	for i, want := range []uint64{6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431,
		16408922859458223821} {
		if got := script.Derive(1234567, uint64(i)); got != want {
			t.Errorf("stream %d: %d, want %d", i, got, want)
		}
	}
}

// The message that a round waits for is one of the 64 that are kept of its sender.
func TestExpectedMessagesCount(t *testing.T) {
	kept := 0
	m := script.New(seatOf(0, 1, 2), script.Options{}, func(me *script.Agent) synod.Answer {
		me.Expect("w", 0, script.Until{At: 5})
		me.Wait()
		for round := range 100 {
			kept += len(script.Received[word](nil, me, "w", round))
		}
		return "done"
	})
	m.Step(0, synod.Begin{})
	for round := range 100 {
		m.Step(1, heard(1, "w", round, "x"))
	}
	if got := show(m.Step(5, synod.Expired{ID: 1})); got != `decide "done"` || kept != 64 {
		t.Errorf("%s, %d messages kept", got, kept)
	}
}

// With AllBut, a round ends early when all neighbours but so many have sent.
func TestAllBut(t *testing.T) {
	for allBut, needs := range map[int]int{0: 3, 1: 2, 2: 1} {
		m := script.New(seatOf(0, 1, 2, 3), script.Options{}, gather(script.Until{At: 9, Early: true, AllBut: allBut}))
		m.Step(0, synod.Begin{})
		for i := range needs {
			got := show(m.Step(1, heard(synod.NodeID(i+1), "w", 0, "x")))
			if ended := strings.Contains(got, "decide"); ended != (i+1 == needs) {
				t.Errorf("all but %d: after %d messages: %q", allBut, i+1, got)
			}
		}
	}
	m := script.New(seatOf(0, 1), script.Options{}, gather(script.Until{At: 9, Early: true, AllBut: 2}))
	if got := show(m.Step(0, synod.Begin{})); !strings.Contains(got, "decide") {
		t.Errorf("nobody has to be waited for: %q", got)
	}
}
