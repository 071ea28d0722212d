package cascade

import (
	"fmt"
	"slices"
	"strings"

	"synod.dev/synod"
	"synod.dev/synod/internal/reference"
	"synod.dev/synod/llm/read"
	"synod.dev/synod/protocol"
	"synod.dev/synod/protocol/answer"
	"synod.dev/synod/protocol/check"
)

// campaign is how campaigns try the protocol.
var campaign = func() check.Subject {
	s := check.Staged(6, synod.Number).At(9)
	s.Relies = []string{"WI-1"}
	s.States = append(s.States, "contest", "tiers", "asked fewer than all", "lacking", "together")
	s.Setup, s.Watch = drawCouncil, check.KeepDiary
	answered := s.Check
	s.Check = func(t *check.Trace) { answered(t); playAgain(t) }
	return s.Deciding("I-CA-D", "the credible answer of more than F independent supporters, or what a contest chose",
		"docs/research/cascade.md", recount).Saying("I-CA-T", "docs/research/cascade.md", tryTerms)
}()

// settings are parameters of councils with any number of seats. There are few, because a plan is made for each.
var settings = []string{"rounds: 0", "rounds: 1", "stop: certain, rounds: 1", "p: 0.8, doubt: 0.2", "doubt: 0",
	"together: [[2, 3], [0, 3]]"}

// settingsFor are parameters with numbers for up to seven seats.
func settingsFor(n int) []string {
	weights := strings.Join([]string{"2.1", "1.3", "0.4", "1.3", "3", "0.9", "0.02"}[:n], ", ")
	prices := strings.Join([]string{"1", "1", "5", "2", "1", "3", "1"}[:n], ", ")
	rest := strings.Join([]string{"2", "4", "5", "6"}[:n-3], ", ")
	return []string{
		fmt.Sprintf("weights: {number: [%s]}, rounds: 1", weights),
		fmt.Sprintf("weights: {number: [%s]}, prices: [%s], p: 0.8, doubt: 0.1", weights, prices),
		fmt.Sprintf("weights: {number: [%s]}, stop: certain, together: [[0, 1], [3, 1]]", weights),
		fmt.Sprintf("tiers: [[1, 3], [0], [%s]]", rest),
		fmt.Sprintf("tiers: [[0, 1, 3], [%s]], together: [[0, 2]], weights: {number: [%s]}", rest, weights),
	}
}

// drawCouncil draws a council and parameters.
func drawCouncil(c check.Chance, x *check.Case) {
	x.N = 4 + c.IntN(4)
	x.F = c.IntN((x.N-1)/2 + 1)
	all := slices.Concat(settings, settingsFor(x.N))
	x.Params = "{" + all[c.IntN(len(all))] + "}"
}

// referenceOf is the reference with the parameters of an execution.
func referenceOf(t *check.Trace) *reference.Cascade {
	p := t.Protocol.(*Cascade)
	r := &reference.Cascade{F: t.Case.F, Certain: p.Stop == Certain, P: p.P, Doubt: p.Doubt, AtLeast: p.AtLeast,
		Rounds: p.MaxRounds(), Weights: p.Weights[string(synod.Number)], Prices: p.Prices, Together: p.Together,
		Tiers: p.Tiers, Question: t.Question}
	if r.Weights == nil {
		r.Weights = slices.Repeat([]float64{1}, t.Case.N)
	}
	return r
}

// recount recomputes the decision from the first answers and those after a contest. An answer that is none of the
// question's form counts as silence, as in a council.
func recount(t *check.Trace) reference.Step {
	p, n, r := t.Protocol.(*Cascade), t.Case.N, referenceOf(t)
	first, last := make([]synod.Answer, n), make([]reference.Last, n)
	noted := make([][]*synod.Opinion, n)
	for i, notes := range t.Notes {
		last[i].Round = -1
		for _, note := range notes {
			o := *note.Opinion
			if _, ok := read.Canonical(t.Question, string(o.Answer)); !ok {
				o.Answer = synod.None
			}
			if o.Round == 0 && last[i].Round < 0 {
				first[i] = o.Answer
			}
			last[i] = reference.Last{Round: o.Round, Answer: o.Answer}
			noted[i] = append(noted[i], &o)
		}
	}
	want, got := r.Decide(first, last), p.Decide(t.Question, noted, t.Case.F)
	t.Claim("I-CA-D", want.Near || equal(want, got), "it decides %+v, and the reference %+v", got, want)
	checkFields(t, r, first, noted)
	t.State("contest", want.Contest)
	t.State("tiers", len(p.Tiers) > 0)
	t.State("together", len(p.Together) > 0 && want.Answer != synod.None)
	t.State("asked fewer than all", want.Asked < n)
	t.State("lacking", want.Lacking)
	return reference.Step{Decides: true, Alone: true, Answer: want.Answer, Lacking: want.Lacking, Near: want.Near}
}

// checkFields compares when the asking would end if the same answers were JSON values whose fields are merged, with the
// middle number of a field or without.
func checkFields(t *check.Trace, r *reference.Cascade, first []synod.Answer, noted [][]*synod.Opinion) {
	p, q := t.Protocol.(*Cascade), *t.Question
	q.Form = synod.JSON
	if q.Schema = nil; t.Case.Sampled(2) {
		q.Schema = []byte(`{"x-merge": "trimmed-mean"}`)
	}
	r.Question, r.Weights = &q, slices.Repeat([]float64{1}, t.Case.N)
	asked, lacking, near := r.Fields(first, q.Schema != nil)
	got := p.Decide(&q, noted, t.Case.F)
	t.Claim("I-CA-D", near || got.Asked == asked && got.Lacking == lacking && got.Answer == synod.None,
		"of answers whose "+
			"fields are merged it asks for %d, lacking %v; the reference for %d, %v: %q", got.Asked, got.Lacking, asked,
		lacking,
		first)
}

// playAgain compares what each member did with what follows from the first answers that it heard itself: when it was
// asked, and how it took part in a contest.
func playAgain(t *check.Trace) {
	p, n := t.Protocol.(*Cascade), t.Case.N
	for i, notes := range t.Notes {
		id := synod.NodeID(i)
		if !t.Plain(id) || t.Flooded(i) || t.CutOff {
			continue
		}
		r := referenceOf(t)
		first := make([]synod.Answer, n)
		if len(notes) > 0 && notes[0].Round == 0 {
			first[i] = notes[0].Answer
		}
		for k, stage := range r.Stages(n) {
			heardIn(t, i, k, stage, first)
		}
		d := r.Decide(first, make([]reference.Last, n))
		if d.Near {
			continue
		}
		asked := slices.Contains(d.Order[:d.Asked], id)
		t.Claim("I-CA-D", asked == (len(notes) > 0 && notes[0].Round == 0), "n%d notes %v, and hears the first "+
			"answers %q: it is asked: %v", i, notes, first, asked)
		rounds := 0
		if d.Contest {
			rounds = p.MaxRounds()
		}
		last := -1
		if len(notes) > 0 {
			last = notes[len(notes)-1].Round
		}
		t.Claim("I-CA-D", max(last, 0) == rounds, "n%d plays %d rounds of a contest, and by the reference %d: it "+
			"heard %q", i,
			last, rounds, first)
		if d.Contest && last == rounds {
			p.sac().ContestAgain(t, "I-CA-D", i, r.Candidates(first, d), n)
		}
	}
}

// heardIn adds the first answers that a member heard from the members of a stage: those that came before its end, which
// is early if all have answered.
func heardIn(t *check.Trace, i, k int, stage []synod.NodeID, first []synod.Answer) {
	heard := len(t.Diaries[i].Heard)
	if m, ok := t.At(i, answer.End(check.Pace, k, 1)); ok {
		heard = m.Heard
	}
	from, all := t.Answers(i, k, heard)
	for n, r := range all {
		if slices.Contains(stage, from[n]) {
			first[from[n]] = r.Answer
		}
	}
}

// equal reports whether a decision is that of the reference.
func equal(want reference.Cascaded, got protocol.StagedDecision) bool {
	return want.Answer == got.Answer && want.Asked == got.Asked && want.Lacking == got.Lacking &&
		slices.Equal(want.Order, got.Order)
}
