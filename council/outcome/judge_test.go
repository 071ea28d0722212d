package outcome

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/core/sim"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/llm"
)

// pure is the JSON of an outcome without what only the open models, the clock and the
// journal's owner know.
func pure(t *testing.T, o Outcome) string {
	t.Helper()
	o.Seconds, o.Journal, o.Digest, o.Money, o.Cost = 0, "", "", llm.Money{}, nil
	for i := range o.Models {
		o.Models[i].Cost, o.Models[i].Served = nil, ""
	}
	b, err := json.MarshalIndent(o, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// notes makes the record of a seat that held some answers, one a round.
func notes(seat synod.NodeID, answers ...synod.Answer) Record {
	r := Record{Seat: seat, Stopped: sim.Finished}
	for i, a := range answers {
		r.Opinions = append(r.Opinions, Noted{synod.Tick(i), &synod.Opinion{Round: i, Answer: a}})
	}
	return r
}

// Judge decides from records alone: the order of records does not matter, a missing
// record is silence, and records that claim impossible things do no harm.
func TestJudge(t *testing.T) {
	p, err := plan.New(parsed(t, "f: 2\nmodels: {d: {provider: simulated}}\nseats: [{id: a, model: d, count: 5}]\n"))
	if err != nil {
		t.Fatal(err)
	}
	in := plan.Instance{Question: synod.Question{Text: "?", Form: synod.Number}}
	all := []Record{notes(0, "1", "2"), notes(1, "2", "2"), notes(2, "2", "2"), notes(3, "1", "1"), notes(4, "3", "1")}
	whole := Judge(p, in, all)
	if whole.Status != Agreed || whole.Decision != "2" || whole.Votes[0].Independent != 2 || whole.Rounds.Len() != 2 {
		t.Errorf("%s %s %+v", whole.Status, whole.Decision, whole.Votes)
	}
	if o := Judge(p, in, []Record{all[3], all[1], all[4], all[0], all[2]}); pure(t, o) != pure(t, whole) {
		t.Error("the order of records matters")
	}
	if o := Judge(p, in, all[:3]); o.Status != Agreed || o.Members[4].Final != nil {
		t.Errorf("three of five: %s, %s", o.Status, o.Reason)
	}
	if o := Judge(p, in, all[1:3]); o.Status != Degraded {
		t.Errorf("two of five: %s, %s", o.Status, o.Reason)
	}
	if o := Judge(p, in, nil); o.Status != Undecided || o.Stopped != Interrupted {
		t.Errorf("no records: %s, %s", o.Status, o.Stopped)
	}
	odd := notes(7, "9")
	odd.Opinions[0].Retained, odd.Opinions[0].Scores = []synod.NodeID{-1, 99}, []synod.Judged{{Of: 99}}
	wild := notes(0, "2")
	wild.Opinions[0].Round, wild.Opinions[0].Silent = 1<<40, []synod.NodeID{99}
	if o := Judge(p, in, []Record{odd, wild}); o.Status != Degraded {
		t.Errorf("records of seats that do not exist: %s", o.Status)
	}
	for _, stopped := range []string{sim.Stalled, Interrupted} {
		cut := append([]Record(nil), all...)
		cut[2].Stopped = stopped
		if o := Judge(p, in, cut); o.Status != Undecided || o.Answer != nil || o.Stopped != stopped ||
			len(o.Votes) != 2 {
			t.Errorf("%s: %s %v", stopped, o.Status, o.Answer)
		}
	}
}

// Late seats use up F, and the printed claim states it.
func TestLateSeatsUseUpTheBound(t *testing.T) {
	p, err := plan.New(parsed(t, "f: 2\npatience: {spare: 2}\nmodels: {d: {provider: simulated}}\nseats: [{id: a, "+
		"model: d, count: 7}]\n"))
	if err != nil {
		t.Fatal(err)
	}
	records := []Record{notes(0, "1"), notes(1, "1"), notes(2, "1"), notes(3, "1"), notes(4, "1"), notes(5, "1"),
		notes(6, "1")}
	records[1].Late, records[4].Late, records[5].Late = []LateCall{{Round: 0}},
		[]LateCall{{Round: 0}, {Round: 1, Refined: true}}, []LateCall{{Round: 1, Refined: true}}
	o := Judge(p, plan.Instance{Question: synod.Question{Text: "?", Form: synod.Number}}, records)
	if fmt.Sprint(o.Late) != "[a2 a5 a6]" || o.Bound.Guarantee == plan.None ||
		!strings.Contains(o.Bound.Note, "(a2, a5) used up 2 of F=2, so it holds with at most 0 Byzantine among the "+
			"others") {
		t.Errorf("late %v, bound %+v", o.Late, o.Bound)
	}
}

// The rounds of an outcome are a list in JSON, and can be read again.
func TestRoundsAsJSON(t *testing.T) {
	p, err := plan.New(parsed(t, "models: {d: {provider: simulated}}\nseats: [{id: a, model: d, count: 2}]\n"))
	if err != nil {
		t.Fatal(err)
	}
	o := Judge(p, plan.Instance{}, []Record{notes(0, "1", "2"), notes(1, "2", "2")})
	b, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	var again Outcome
	if err := json.Unmarshal(b, &again); err != nil {
		t.Fatal(err)
	}
	if again.Rounds.Len() != 2 || o.Rounds.Len() != 2 || len(again.Rounds.All()[1].Members) != 2 {
		t.Errorf("%d rounds, and %d from JSON", o.Rounds.Len(), again.Rounds.Len())
	}
	if back, err := json.Marshal(again.Rounds); err != nil || !strings.Contains(string(b), `"rounds":`+string(back)) {
		t.Errorf("%s, and from JSON %s, %v", b, back, err)
	}
}

// A last answer that fails a check is a refused vote, and no silence, also where texts that cannot be read are dropped.
func TestRefusedIsNotSilent(t *testing.T) {
	p := planOf(t, 5, "f: 1\nrule: {name: plurality}\n")
	q := synod.Question{Text: "How many?", Form: synod.Number, Checks: []synod.Check{{Name: "small", Regex: "^[0-5]"}}}
	records := []Record{notes(0, "3"), notes(1, "4"), notes(2, "9"), notes(3, "9"), notes(4, "")}
	if o := Judge(p, plan.Instance{Question: q}, records); o.Status != Undecided {
		t.Errorf("two answers and two refused ones of five: %s, %s", o.Status, o.Reason)
	}
	records[3] = notes(3, "nine or so")
	if o := Judge(p, plan.Instance{Question: q}, records); o.Status != Undecided {
		t.Errorf("one of them cannot be read: %s, %s", o.Status, o.Reason)
	}
	records[2] = notes(2, "")
	if o := Judge(p, plan.Instance{Question: q}, records); o.Status != Degraded {
		t.Errorf("two answers of five, and a text that cannot be read: %s, %s", o.Status, o.Reason)
	}
}
