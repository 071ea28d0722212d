package outcome

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/core/journal"
	"synod.dev/synod/core/sim"
	"synod.dev/synod/council/plan"
)

// planOf returns the plan of a council of simulated members, with more text of the file.
func planOf(t *testing.T, seats int, more string) *plan.Plan {
	t.Helper()
	p, err := plan.New(parsed(t, fmt.Sprintf(
		"models: {d: {provider: simulated}}\nseats: [{id: a, model: d, count: %d}]\n%s", seats, more)))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Only prose for an answer has a reasoning that is kept.
func TestReasoningIsKept(t *testing.T) {
	prose := synod.Reply{Status: synod.OK, Text: "Seven and eight.\nAnswer: 15"}
	for _, c := range []struct {
		name    string
		round   int
		purpose synod.Purpose
		change  func(*synod.Reply)
		want    string
	}{
		{"an answer", 0, synod.Answering, nil, "Seven and eight."},
		{"a refinement", 0, synod.Refining, nil, "Seven and eight."},
		{"a score", 0, synod.Scoring, nil, ""},
		{"before the first round", -1, synod.Answering, nil, ""},
		{"a failed call", 0, synod.Answering, func(r *synod.Reply) { r.Status = synod.Timeout }, ""},
		{"a typed reply", 0, synod.Answering, func(r *synod.Reply) { r.Typed = true }, ""},
		{"no text", 0, synod.Answering, func(r *synod.Reply) { r.Text = "" }, ""},
		{"only the answer", 0, synod.Answering, func(r *synod.Reply) { r.Text = "Answer: 15" }, ""},
	} {
		reply := prose
		if c.change != nil {
			c.change(&reply)
		}
		var r Record
		r.say(nil, c.round, 1, c.purpose, &reply)
		if got := r.Reasoning(c.round); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
		if c.want == "" && len(r.Said) > 0 {
			t.Errorf("%s: %v is kept", c.name, r.Said)
		}
	}
}

// The reasoning of a round is that of its last call, in whichever order replies came.
func TestReasoningOfTheLastCall(t *testing.T) {
	r := Record{Said: []Said{{0, 0, "first", ""}, {1, 5, "of five", ""}, {1, 3, "of three", ""},
		{2, 7, "later", ""}}}
	for round, want := range map[int]string{0: "first", 1: "of five", 2: "later", 3: ""} {
		if got := r.Reasoning(round); got != want {
			t.Errorf("round %d: %q, want %q", round, got, want)
		}
	}
}

// Of several false usages the first call's is shown, and all are counted.
func TestMisreportsAreCounted(t *testing.T) {
	var m Misreports
	for _, c := range []struct {
		id    synod.ConsultID
		fault string
	}{{4, "four"}, {2, "two"}, {3, "three"}, {1, ""}, {2, "two again"}} {
		m.add(c.id, &synod.Reply{Fault: c.fault})
	}
	if m.Replies != 4 || m.First != "two" {
		t.Errorf("%+v", m)
	}
}

// A journal may name any seat and hold calls in any order. Records are made of seats that
// exist, and show why the first call that failed did.
func TestRecordsOfParts(t *testing.T) {
	p := planOf(t, 3, "")
	key := func(seat synod.NodeID, id synod.ConsultID) journal.Key { return journal.Key{Node: seat, ID: id} }
	failed := func(why string) synod.Reply { return synod.Reply{Status: synod.Refused, Detail: why, Calls: 1} }
	replies := journal.Replies{
		key(0, 1): {Status: synod.OK, Took: 12, Calls: 1, Model: "m-2"},
		key(0, 2): {Status: synod.OK, Calls: 1},
		key(1, 4): failed("later"), key(1, 3): failed("first"), key(1, 5): failed("last"),
		key(2, 1):  {Status: synod.Timeout, Took: 9, Calls: 2, Fault: "false usage"},
		key(2, 2):  {Status: "no such status"},
		key(-1, 1): failed("no seat"), key(3, 1): failed("no seat"),
	}
	noted := []journal.Noted{{Node: 2, Opinion: synod.Opinion{Answer: "2"}}, {Node: 3}, {Node: -1},
		{Node: 2, Opinion: synod.Opinion{Round: 1, Answer: "3"}}}
	lost := []journal.Unanswered{{Node: 0, Cost: journal.Cost{Calls: 2}}, {Node: 3, Cost: journal.Cost{Calls: 5}},
		{Node: -1, Cost: journal.Cost{Calls: 5}}}
	list := replies.List()
	for range 5 {
		rand.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		r := RecordsOfParts(p, &journal.Summary{Noted: noted, Replies: list, Unanswered: lost,
			End: &journal.End{Stopped: sim.Finished, Ticks: 77}})
		if len(r) != 3 || r[1].Failure != "first" || r[0].Failure != "" || r[1].Statuses.Of(synod.Refused) != 3 {
			t.Fatalf("%+v", r)
		}
		if r[0].Use.Calls != 4 || !slices.Equal(r[0].Took, []int{12}) || !slices.Equal(r[0].Reported, []string{"m-2"}) {
			t.Errorf("seat 0: %+v", r[0])
		}
		if len(r[2].Took) > 0 || r[2].Misreports.Replies != 1 || r[2].Statuses != (StatusCount{}.with(synod.Timeout)) {
			t.Errorf("seat 2: %+v", r[2])
		}
		if len(r[2].Opinions) != 2 || len(r[0].Opinions) != 0 || r[2].Opinions[1].Answer != "3" {
			t.Errorf("opinions of seat 2: %v", r[2].Opinions)
		}
		for i := range r {
			if r[i].Seat != synod.NodeID(i) || r[i].Stopped != sim.Finished || r[i].Ticks != 77 {
				t.Errorf("seat %d: %+v", i, r[i])
			}
		}
	}
	if r := RecordsOfParts(p, new(journal.Summary)); r[0].Stopped != "" || r[0].Dead() {
		t.Errorf("a run without an end: %+v", r[0])
	}
}

// with returns the count with one more call.
func (c StatusCount) with(s synod.Status) StatusCount {
	c[statusIndex(s)]++
	return c
}

// A seat is dead if it was asked and no call succeeded.
func TestDeadSeats(t *testing.T) {
	var none StatusCount
	for want, counts := range map[bool][]StatusCount{
		false: {none, none.with(synod.OK), none.with(synod.OK).with(synod.Timeout)},
		true:  {none.with(synod.Timeout), none.with(synod.Unreadable)},
	} {
		for _, c := range counts {
			if r := (&Record{Statuses: c}); r.Dead() != want {
				t.Errorf("%v: dead is %v", c, !want)
			}
		}
	}
}

// Calls that patience cut off are kept once a round and kind, in the order of rounds, and
// make a seat faulty until it has an answer, unless it keeps one.
func TestLateCalls(t *testing.T) {
	var r Record
	for _, c := range []LateCall{{3, false}, {1, true}, {3, false}, {1, true}, {2, true}} {
		r.late(c)
	}
	if want := []LateCall{{1, true}, {2, true}, {3, false}}; !slices.Equal(r.Late, want) {
		t.Errorf("%v, want %v", r.Late, want)
	}
	for round, want := range map[int]bool{-1: true, 0: false, 1: false, 2: false, 3: true, 4: false} {
		if r.Faulty(round) != want {
			t.Errorf("round %d: faulty is %v", round, !want)
		}
	}
	for _, c := range []struct {
		round  int
		answer synod.Answer
		want   bool
	}{{0, synod.None, false}, {1, synod.None, true}, {2, synod.None, true}, {1, "4", false}} {
		if got := r.Unanswered(&synod.Opinion{Round: c.round, Answer: c.answer}); got != c.want {
			t.Errorf("round %d with answer %q: unanswered is %v", c.round, c.answer, got)
		}
	}
}

// Counts and scores are objects in JSON, which reads back.
func TestRecordsAsJSON(t *testing.T) {
	count := StatusCount{}.with(synod.OK).with(synod.OK).with(synod.Refused)
	b, err := json.Marshal(count)
	var again StatusCount
	if err != nil || json.Unmarshal(b, &again) != nil || again != count {
		t.Errorf("%s, %v, read back as %v", b, err, again)
	}
	if count.Of("no such status") != 0 || json.Unmarshal([]byte("[]"), &again) == nil {
		t.Error("a status that does not exist has calls, or a list is a count")
	}
	one, half := synod.Score(1), synod.Score(0.5)
	for text, scores := range map[string]Scores{
		`{}`: {}, `{"a":0.5}`: {{"a", half}}, `{"a":0.5,"b":1,"c":0.5}`: {{"a", half}, {"b", one}, {"c", half}},
	} {
		b, err := json.Marshal(scores)
		back := Scores{{"old", one}}
		if err != nil || string(b) != text || json.Unmarshal(b, &back) != nil || !slices.Equal(back, scores) {
			t.Errorf("%s, %v, read back as %v; want %s", b, err, back, text)
		}
	}
	if err := json.Unmarshal([]byte(`{"a":"high"}`), &Scores{}); err == nil {
		t.Error("a word is a score")
	}
}

// Rounds show what members noted, in order, and skip seats that do not exist.
func TestRoundsOfRecords(t *testing.T) {
	p := planOf(t, 2, "")
	records := []Record{notes(0, "1", "2"), notes(1, "2", "2")}
	records[0].Opinions = append(records[0].Opinions, Noted{3, &synod.Opinion{Round: 7, Answer: "2",
		From: []synod.NodeID{0, -1, 2, 1}, Scores: []synod.Judged{{Of: -1}, {Of: 0, Score: 1}, {Of: 2}}}})
	records[0].Said = []Said{{0, 1, "I think so.", ""}}
	rounds := Judge(p, plan.Instance{}, records).Rounds
	all := rounds.All()
	if rounds.Len() != 3 || len(all) != 3 || all[0].T != 0 || all[1].T != 1 || all[2].T != 7 {
		t.Fatalf("%d rounds: %+v", rounds.Len(), all)
	}
	if len(all[0].Members) != 2 || len(all[2].Members) != 1 || all[0].Members[0].Reasoning != "I think so." ||
		all[1].Members[0].Reasoning != "" || all[0].Members[1].Reasoning != "" {
		t.Errorf("%+v", all)
	}
	last := all[2].Members[0]
	if !slices.Equal(last.From, []string{"a1", "a2"}) || len(last.Scores) != 1 || last.Scores[0].ID != "a1" {
		t.Errorf("%+v", last)
	}
}
