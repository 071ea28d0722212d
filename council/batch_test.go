package council

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"synod.dev/synod"
	"synod.dev/synod/core/sim"
	"synod.dev/synod/council/outcome"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/llm"
)

// opened opens the council of a plan until the test ends.
func opened(t *testing.T, p *plan.Plan) *Council {
	t.Helper()
	c, err := Open(p, Options{Env: llm.Env{Getenv: func(string) string { return "" }}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// batchOf is a batch of one call of each of the given seats.
func batchOf(s *session, purpose synod.Purpose, seats ...synod.NodeID) *batch {
	b := &batch{session: s, start: time.Now(), replies: make([]synod.Reply, len(seats))}
	for i, seat := range seats {
		b.calls = append(b.calls, sim.Call{Node: seat, ID: synod.ConsultID(i), Prompt: &synod.Prompt{Purpose: purpose}})
		b.waiting = append(b.waiting, i)
	}
	return b
}

// Patience waits for a multiple of the median time of the calls that have returned, or of the last batch in which
// one did. Of an even number the lower one counts.
func TestPatienceWaitsForAMultipleOfTheMedian(t *testing.T) {
	for _, c := range []struct {
		patience string
		waiting  []synod.NodeID
		took     []time.Duration
		before   time.Duration // median of the last batch
		want     time.Duration // 0: the calls are waited for
	}{
		{"{spare: 1, after: 2x}", []synod.NodeID{2}, []time.Duration{30, 10, 20}, 0, 40},
		{"{spare: 1, after: 1.5x}", []synod.NodeID{2}, []time.Duration{40, 20}, 0, 30},
		{"{spare: 1, after: 3x}", []synod.NodeID{2}, []time.Duration{7}, 50, 21},
		{"{spare: 1, after: 2x}", []synod.NodeID{2}, nil, 50, 100},
		{"{spare: 1}", []synod.NodeID{2}, []time.Duration{10}, 0, 20},
		{"{spare: 1}", []synod.NodeID{2, 2}, []time.Duration{10}, 0, 20}, // one seat, two calls
		{"{spare: 2}", []synod.NodeID{1, 2}, []time.Duration{10}, 0, 20},
		{"{spare: 1}", []synod.NodeID{1, 2}, []time.Duration{10}, 0, 0},
		{"{spare: 1}", []synod.NodeID{2}, nil, 0, 0},
		{"{spare: 0}", []synod.NodeID{2}, []time.Duration{10}, 0, 0},
	} {
		s := opened(t, planOf(t, 5, "f: 2\npatience: "+c.patience+"\n")).session()
		s.median = c.before
		b := batchOf(s, synod.Answering, c.waiting...)
		b.took = c.took
		at, ok := b.impatient()
		if ok != (c.want > 0) || ok && at.Sub(b.start) != c.want {
			t.Errorf("%s, %v took, %v before: %v, %v; want %v", c.patience, c.took, c.before, at.Sub(b.start), ok,
				c.want)
		}
	}
}

// With the calls that are waited for no more seats than may be spared are faulty: in a round where the claim is
// about each round, otherwise in the whole run. A seat without an answer stays faulty, and one that refines keeps
// its answer.
func TestHowManySeatsMayBeLate(t *testing.T) {
	const each, whole = "", "protocol: {name: w-msr}\n"
	for _, c := range []struct {
		name, protocol string
		purpose        synod.Purpose
		waiting        []synod.NodeID
		prepare        func(*session)
		want           bool
	}{
		{"one", each, synod.Answering, []synod.NodeID{0}, nil, true},
		{"two", each, synod.Answering, []synod.NodeID{0, 1}, nil, false},
		{"two refine", each, synod.Refining, []synod.NodeID{0, 1}, nil, true},
		{"two in different rounds", each, synod.Answering, []synod.NodeID{0, 1}, func(s *session) { s.round[1] = 1 },
			true},
		{"two in different rounds of one claim", whole, synod.Answering, []synod.NodeID{0, 1},
			func(s *session) { s.round[1] = 1 }, false},
		{"another was late in this round", each, synod.Scoring, []synod.NodeID{0},
			func(s *session) { s.seats[3].Late = []outcome.LateCall{{Round: 0}} }, false},
		{"the same was late in this round", each, synod.Scoring, []synod.NodeID{0},
			func(s *session) { s.seats[0].Late = []outcome.LateCall{{Round: 0}} }, true},
		{"another was late before", each, synod.Scoring, []synod.NodeID{0}, func(s *session) {
			s.seats[3].Late = []outcome.LateCall{{Round: 0}}
			s.round = []int{1, 1, 1, 1, 1}
		}, true},
		{"another was late before, in one claim", whole, synod.Scoring, []synod.NodeID{0}, func(s *session) {
			s.seats[3].Late = []outcome.LateCall{{Round: 0}}
			s.round = []int{1, 1, 1, 1, 1}
		}, false},
		{"another has no answer yet", each, synod.Answering, []synod.NodeID{0},
			func(s *session) { s.unanswered[3] = true }, false},
		{"another had no answer in this round", each, synod.Answering, []synod.NodeID{0}, func(s *session) {
			s.round[3], s.lacked[3] = 1, []int{0}
		}, false},
		{"another had no answer in an earlier round", each, synod.Answering, []synod.NodeID{0}, func(s *session) {
			s.round, s.lacked[3] = []int{1, 1, 1, 2, 1}, []int{0}
		}, true},
	} {
		s := opened(t, planOf(t, 5, c.protocol+"f: 1\npatience: {spare: 1}\n")).session()
		if c.prepare != nil {
			c.prepare(s)
		}
		if got := s.mayBeLate(batchOf(s, c.purpose, c.waiting...), 1); got != c.want {
			t.Errorf("%s: the calls may be cut off: %v", c.name, got)
		}
	}
}

// In a protocol of one round the calls that have not returned are needless if the others decide whatever they say.
func TestCertainBatches(t *testing.T) {
	const one = "protocol: {name: majority}\n"
	for _, c := range []struct {
		name, council, replies string // a dot: it has not returned, x: it failed
		change                 func(*batch)
		want                   bool
	}{
		{"two of three", one, "1 1 .", nil, true},
		{"one of three", one, "1 . .", nil, false},
		{"no majority", one, "1 2 .", nil, false},
		{"two agree and one failed", one, "1 1 x", nil, true},
		{"one failed", one, "1 x .", nil, false},
		{"a plurality", one + "rule: {name: plurality}\n", "1 1 .", nil, true},
		{"a plurality that could become a tie", one + "rule: {name: plurality}\n", "1 1 2 .", nil, false},
		{"a plurality that could not", one + "rule: {name: plurality}\n", "1 1 1 2 .", nil, true},
		{"support", one + "rule: {name: majority, support: 3}\n", "1 1 .", nil, false},
		{"support that is there", one + "rule: {name: majority, support: 2}\n", "1 1 .", nil, true},
		{"exact", one + "exact: paper\n", "1 1 .", nil, false},
		{"more rounds", "protocol: {name: sac}\n", "1 1 .", nil, false},
		{"an adversary", one + "adversaries: {adversary: {name: silent}, seats: [a1]}\n", "1 1 .", nil, false},
		{"scores", one, "1 1 .", func(b *batch) { b.calls[1].Prompt.Purpose = synod.Scoring }, false},
		{"confidence", one, "1 1 .", func(b *batch) { b.calls[1].Prompt.ConfidenceMode = synod.StatedConfidence },
			false},
		{"not all seats", one, "1 1 .", func(b *batch) { b.calls, b.waiting = b.calls[:2], nil }, false},
	} {
		words := strings.Fields(c.replies)
		s := opened(t, planOf(t, len(words), c.council)).session()
		s.ask.Question = synod.Question{Text: "?", Form: synod.Number}
		var seats []synod.NodeID
		for i := range words {
			seats = append(seats, synod.NodeID(i))
		}
		b := batchOf(s, synod.Answering, seats...)
		b.waiting = nil
		for i, word := range words {
			switch word {
			case ".":
				b.waiting = append(b.waiting, i)
			case "x":
				b.replies[i] = synod.Reply{Status: synod.Refused}
			default:
				b.replies[i] = synod.Reply{Status: synod.OK, Typed: true, Answer: synod.Answer(word)}
			}
		}
		if c.change != nil {
			c.change(b)
		}
		if got := b.certain(); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
		at, ok := b.needless()
		if ok != c.want || ok && at.Sub(b.start) != 2*grace {
			t.Errorf("%s: cut off %v, after %v", c.name, ok, at.Sub(b.start))
		}
		b.took = []time.Duration{2 * time.Second}
		if len(b.waiting) == 0 {
			continue
		}
		if at, ok := b.needless(); ok && at.Sub(b.start) != 3*time.Second+grace {
			t.Errorf("%s: cut off after %v, the others took 2s", c.name, at.Sub(b.start))
		}
		if s.ask.Final = true; c.want {
			if _, ok := b.needless(); ok {
				t.Errorf("%s: a bench does not wait for every call", c.name)
			}
		}
	}
}

// After a round in which all hold one answer a slow refinement is needless.
func TestUnanimousSessions(t *testing.T) {
	for _, c := range []struct {
		council string
		rounds  []string
		want    bool
	}{
		{"", []string{"1 1 1"}, true}, {"", []string{"1 1 2"}, false}, {"", []string{"1 1 -"}, false},
		{"", []string{"1 1 ."}, false}, {"", []string{"- - -"}, false}, {"", []string{"1 1 2", "1 1 1"}, true},
		{"", nil, false}, {"protocol: {name: game}\n", []string{"1 1 1"}, false},
		{"rule: {name: majority, support: 3}\n", []string{"1 1 2", "1 1 1"}, false},
		{"protocol: {name: cp-wbft}\nrule: {name: protocol}\n", []string{"1 1 1"}, false},
	} {
		s := opened(t, planOf(t, 3, c.council)).session()
		for round, answers := range c.rounds {
			s.fixed.after(heard(round, answers), s.late)
		}
		if got := s.unanimous(); got != c.want {
			t.Errorf("%q, %v: unanimous is %v", c.council, c.rounds, got)
		}
	}
}

// A call of a real model takes longer than a message may.
func TestCallTicks(t *testing.T) {
	real, err := plan.New(parsed(t, "pace: {within: 300ms}\nmodels: {d: {provider: simulated}, m: {provider: openai, "+
		"model: x}}\nseats: [{id: a, model: d}, {id: b, model: m}]\n"))
	if err != nil {
		t.Fatal(err)
	}
	if got := real.CallTicks(); got != 301 {
		t.Errorf("a call takes %d ticks, want 301", got)
	}
	if got := planOf(t, 2, "pace: {within: 300ms}\n").CallTicks(); got != 1 {
		t.Errorf("a simulated call takes %d ticks, want 1", got)
	}
}

// The account of a seat has the reason of its first failed call, whichever came first, and a seat whose last answer
// was cut off lacks one until a call succeeds.
func TestSessionCounts(t *testing.T) {
	c := opened(t, planOf(t, 2, ""))
	s := c.session()
	var told []Progress
	s.ask.Progress = func(p Progress) { told = append(told, p) }
	call := func(id synod.ConsultID, purpose synod.Purpose) *sim.Call {
		return &sim.Call{Node: 1, ID: id, Prompt: &synod.Prompt{Purpose: purpose}}
	}
	fail := func(why string) *synod.Reply { return &synod.Reply{Status: synod.Refused, Detail: why, Calls: 1} }
	s.count(call(5, synod.Scoring), 0, fail("five"))
	s.count(call(4, synod.Scoring), 0, fail("four"))
	s.count(call(6, synod.Scoring), 0, fail("six"))
	s.count(call(3, synod.Scoring), 0, &synod.Reply{Status: synod.OK, Calls: 2})
	if r := s.seats[1]; r.Failure != "four" || r.Use.Calls != 5 || s.made != 5 || s.seats[0].Use.Calls != 0 {
		t.Errorf("%+v; %d requests", r, s.made)
	}
	if len(told) != 4 || !reflect.DeepEqual(told[3], Progress{Round: -1, Rounds: c.plan.Protocol().MaxRounds(),
		Calls: 5, Planned: c.plan.Calls()}) {
		t.Errorf("progress %+v", told)
	}
	for _, step := range []struct {
		purpose synod.Purpose
		reply   synod.Reply
		lacking bool
	}{
		{synod.Scoring, synod.Reply{Status: synod.Timeout, Late: true}, false},
		{synod.Answering, synod.Reply{Status: synod.Timeout, Late: true}, true},
		{synod.Scoring, synod.Reply{Status: synod.OK}, true},
		{synod.Answering, synod.Reply{Status: synod.Refused}, true},
		{synod.Answering, synod.Reply{Status: synod.OK}, false},
		{synod.Answering, synod.Reply{Status: synod.Refused}, false},
	} {
		s.count(call(9, step.purpose), 2, &step.reply)
		if s.unanswered[1] != step.lacking {
			t.Errorf("after %s %s: lacking is %v", step.purpose, step.reply.Status, s.unanswered[1])
		}
	}
	if late := s.seats[1].Late; !slices.Equal(late, []outcome.LateCall{{Round: 2}}) {
		t.Errorf("late calls %v", late)
	}
}

// Replies of a run of real members are kept apart; with simulated members the next question uses their memory.
func TestRepliesOfBatches(t *testing.T) {
	for _, reuse := range []bool{false, true} {
		c := opened(t, planOf(t, 2, ""))
		c.reuse = reuse
		s := c.session()
		var all [][]synod.Reply
		for n := range 6 {
			batch := s.newReplies(n)
			if len(batch) != n {
				t.Fatalf("%d replies, want %d", len(batch), n)
			}
			for i := range batch {
				batch[i].Detail = fmt.Sprint(n)
			}
			all = append(all, batch)
		}
		for n, batch := range all {
			for _, r := range batch {
				if r.Detail != fmt.Sprint(n) {
					t.Errorf("reuse %v: a reply of batch %d was overwritten by batch %s", reuse, n, r.Detail)
				}
			}
		}
	}
}
