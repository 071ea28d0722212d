package cascade

import (
	"fmt"
	"slices"
	"strings"

	"synod.dev/synod"
	"synod.dev/synod/internal/reference"
	"synod.dev/synod/protocol"
	"synod.dev/synod/protocol/check"
)

// campaign is how campaigns try the protocol.
var campaign = func() check.Subject {
	s := check.Staged(6, synod.Number).At(9)
	s.Relies = []string{"WI-1"}
	s.States = append(s.States, "contest", "tiers", "asked fewer than all", "lacking", "together")
	s.Setup = drawCouncil
	return s.Deciding("I-CA-D", "the credible answer of more than F independent supporters, or what a contest chose",
		"docs/research/cascade.md", recount)
}()

// settings are parameters of councils with any number of seats. There are few, because a plan is made for each.
var settings = []string{"rounds: 0", "rounds: 1", "stop: certain, rounds: 1", "p: 0.8, doubt: 0.2", "doubt: 0",
	"together: [[0, 2], [2, 3]]"}

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

// recount recomputes the decision from the first answers and those after a contest.
func recount(t *check.Trace) reference.Step {
	p, n := t.Protocol.(*Cascade), t.Case.N
	r := reference.Cascade{F: t.Case.F, Certain: p.Stop == Certain, P: p.P, Doubt: p.Doubt, AtLeast: p.AtLeast,
		Rounds: p.MaxRounds(), Weights: p.Weights[string(synod.Number)], Prices: p.Prices, Together: p.Together,
		Tiers: p.Tiers, Question: t.Question}
	first, last := make([]synod.Answer, n), make([]reference.Last, n)
	noted := make([][]*synod.Opinion, n)
	for i, notes := range t.Notes {
		last[i].Round = -1
		for _, o := range notes {
			if o.Round == 0 && last[i].Round < 0 {
				first[i] = o.Answer
			}
			last[i] = reference.Last{Round: o.Round, Answer: o.Answer}
			noted[i] = append(noted[i], o.Opinion)
		}
	}
	if r.Weights == nil {
		r.Weights = make([]float64, n)
		for i := range r.Weights {
			r.Weights[i] = 1
		}
	}
	want, got := r.Decide(first, last), p.Decide(t.Question, noted, t.Case.F)
	t.Claim("I-CA-D", want.Near || equal(want, got), "it decides %+v, and the reference %+v", got, want)
	t.State("contest", want.Contest)
	t.State("tiers", len(p.Tiers) > 0)
	t.State("together", len(p.Together) > 0 && want.Answer != synod.None)
	t.State("asked fewer than all", want.Asked < n)
	t.State("lacking", want.Lacking)
	return reference.Step{Decides: true, Alone: true, Answer: want.Answer, Lacking: want.Lacking, Near: want.Near}
}

// equal reports whether a decision is that of the reference.
func equal(want reference.Cascaded, got protocol.StagedDecision) bool {
	return want.Answer == got.Answer && want.Asked == got.Asked && want.Lacking == got.Lacking &&
		slices.Equal(want.Order, got.Order)
}
