package sac_test

import (
	"fmt"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/core/script"
	"synod.dev/synod/core/sim"
	"synod.dev/synod/internal/simtest"
	"synod.dev/synod/protocol/answer"
	"synod.dev/synod/protocol/sac"
)

// judges is a complete council of members that first answer with the texts given, in their order, and score each
// answer with score.
type judges struct {
	protocol *sac.SAC
	form     synod.Form
	guards   synod.Guards
	f        int
	first    []string // replies to the question, by member
	score    func(sim.Call) float64
	join     func(synod.Seat) synod.Machine // nil: the protocol's
}

// run plays the council. It returns the calls of each purpose, and the opinions by member.
func (j judges) run() (calls map[synod.Purpose][]sim.Call, notes [][]*synod.Opinion) {
	if j.join == nil {
		j.join = j.protocol.Join
	}
	n := len(j.first)
	machines := make([]synod.Machine, n)
	for i := range machines {
		machines[i] = j.join(synod.Seat{Self: synod.NodeID(i), Peers: simtest.Neighbours(n, "complete")[i], F: j.f,
			Pace: synod.Pace{Think: 2, Within: 4}, Question: &synod.Question{Text: "?", Form: j.form},
			Guards: j.guards, Seed: script.Derive(1, uint64(i))})
	}
	calls, notes = map[synod.Purpose][]sim.Call{}, make([][]*synod.Opinion, n)
	sim.Run(sim.Config{Machines: machines, Ask: sim.Immediate(func(asked []sim.Call) []synod.Reply {
		out := make([]synod.Reply, len(asked))
		for i, c := range asked {
			calls[c.Prompt.Purpose] = append(calls[c.Prompt.Purpose], c)
			out[i] = synod.Reply{Status: synod.OK, Text: j.first[c.Node]}
			switch c.Prompt.Purpose {
			case synod.Scoring, synod.Weighing:
				out[i] = synod.Reply{Status: synod.OK, Typed: true, Value: j.score(c)}
			case synod.Refining:
				out[i].Text = "Answer: 99"
			}
		}
		return out
	}), Watch: func(_ synod.Tick, all []sim.Noted) string {
		for _, n := range all {
			notes[n.Node] = append(notes[n.Node], n.Opinion)
		}
		return ""
	}})
	return calls, notes
}

// Among texts a member chooses by its scores instead of writing a blend: the best that it retained, if that is above
// its own, and of equal ones the first sender's.
func TestChoiceAmongTexts(t *testing.T) {
	for _, c := range []struct {
		scores [4]float64 // member 0's, by author
		want   string
	}{
		{[4]float64{.5, .4, .5, .5}, "text 0"}, {[4]float64{.5, .4, .6, .6}, "text 2"},
		{[4]float64{.5, .6, .5, .7}, "text 3"}, {[4]float64{0, 0, 0, 0}, "text 0"}, {[4]float64{1, 1, 1, 1}, "text 0"},
	} {
		p := sac.New()
		p.Rounds = 1
		j := judges{protocol: p, form: synod.Prose, f: 1, first: []string{"text 0", "text 1", "text 2", "text 3"}}
		j.score = func(c2 sim.Call) float64 {
			for i, text := range j.first {
				if string(c2.Prompt.Candidate) == text {
					return c.scores[i]
				}
			}
			return 0
		}
		calls, notes := j.run()
		if o := notes[0][1]; string(o.Answer) != c.want || len(calls[synod.Refining]) > 0 {
			t.Errorf("scores %v: %s, %d refinements; want %q", c.scores, o, len(calls[synod.Refining]), c.want)
		}
	}
}

// With the defence answer-first a judge has its first answer before it, also after it has taken another one. A
// likelihood has no place for it.
func TestJudgesAnswerFirst(t *testing.T) {
	for _, c := range []struct {
		first   bool
		score   sac.ScoreBy
		purpose synod.Purpose
	}{{false, sac.Stated, synod.Scoring}, {true, sac.Stated, synod.Scoring}, {true, sac.Likelihood, synod.Weighing}} {
		p := sac.New()
		p.Rounds, p.Score = 2, c.score
		calls, notes := judges{protocol: p, form: synod.Number, guards: synod.Guards{AnswerFirst: c.first},
			first: []string{"Answer: 1", "Answer: 2", "Answer: 3"}, score: func(sim.Call) float64 { return 0 }}.run()
		if a := notes[0][1].Answer; a != "99" {
			t.Fatalf("after one round the answer is %s", a)
		}
		for _, call := range calls[c.purpose] {
			want := synod.None
			if c.first && c.score == sac.Stated {
				want = synod.Answer(fmt.Sprint(call.Node + 1))
			}
			if call.Prompt.Own != want {
				t.Errorf("%+v: member %d judges %s with its own answer %q, want %q", c, call.Node,
					call.Prompt.Candidate, call.Prompt.Own, want)
			}
		}
		if len(calls[c.purpose]) == 0 {
			t.Errorf("%+v: nobody judged", c)
		}
	}
}

// An answer with other reasoning is judged anew: a score belongs to both.
func TestReasoningIsJudgedWithItsAnswer(t *testing.T) {
	p := sac.New()
	p.Rounds, p.Rationale = 1, 40
	reply := func(why string) string { return fmt.Sprintf(`{"reasoning":%q,"answer":"42"}`, why) }
	_, notes := judges{protocol: p, form: synod.Number,
		first: []string{reply("by hand"), reply("by luck"), reply("by luck"), reply("by proof")},
		score: func(c sim.Call) float64 {
			return map[string]float64{"by hand": .5, "by luck": .1, "by proof": .9}[c.Prompt.Rationale]
		}}.run()
	for k, want := range []synod.Score{.5, .1, .1, .9} {
		if got := notes[0][1].Scores[k]; got.Score != want || got.Of != synod.NodeID(k) {
			t.Errorf("score %d is %+v, want %v", k, got, want)
		}
	}
}

// A member that holds no answer of a contest takes the one it scores highest, of equal ones the first of the list, and
// the first also if it can read no score.
func TestContestIsJoined(t *testing.T) {
	for _, c := range []struct {
		scores map[synod.Answer]float64
		want   synod.Answer
	}{
		{map[synod.Answer]float64{"2": .3, "1": .3, "3": .2}, "2"}, {map[synod.Answer]float64{"2": .3, "1": .4}, "1"},
		{map[synod.Answer]float64{"2": 0, "1": 0, "3": 0}, "2"},
		{map[synod.Answer]float64{"2": -1, "1": -1, "3": -1}, "2"},
	} {
		p := sac.New()
		p.Rounds = 0
		_, notes := judges{form: synod.Number, first: []string{"Answer: 7", "Answer: 1"},
			score: func(call sim.Call) float64 { return c.scores[call.Prompt.Candidate] },
			join: func(seat synod.Seat) synod.Machine {
				return script.New(seat, script.Options{}, func(me *script.Agent) synod.Answer {
					m := answer.New(me, answer.Settings{Templates: "sac"})
					return p.Contest(me, m, m.Answer(), []synod.Answer{"2", "1", "3"}, 1).Answer
				})
			}}.run()
		if a, kept := notes[0][0].Answer, notes[1][0]; a != c.want || kept.Answer != "1" || kept.Source != synod.Kept {
			t.Errorf("scores %v: %q, want %q; who holds an answer: %s", c.scores, a, c.want, kept)
		}
	}
}
