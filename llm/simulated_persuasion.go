package llm

import (
	"fmt"
	"strings"

	"synod.dev/synod"
)

// derivation is the solution that a simulated adversary writes for a wrong answer. What a
// simulated judge looks at is its form, so the sentences are the same for every question.
func derivation(answer string) string {
	return fmt.Sprintf("The question gives all that is needed. Taking its conditions one after another leaves a "+
		"single possibility. Putting that back meets every condition. So the result is %s.\nAnswer: %s", answer, answer)
}

// judge is who scores: a seat, in one repeat of a question.
type judge struct {
	seat   string
	sample int
}

// told is the reasoning that a judge sees beside a candidate.
type told struct {
	rationale string
	judge
}

// fooled reports whether a judge takes a wrong candidate for right because of the reasoning
// beside it: always or never the same judge.
func (m *simulated) fooled(it *item, candidate synod.Answer, t told) bool {
	if t.rationale == "" || m.cfg.Gullible == 0 || !convincing(candidate, t.rationale) {
		return false
	}
	h := hashString(mix(m.cfg.Seed^it.hash^uint64(t.sample)<<48^0xf001), t.seat)
	belief := splitMix(hashString(h, string(candidate)))
	return belief.uniform() < m.cfg.Gullible
}

// convincing reports whether a text looks like a solution that leads to the candidate: three
// sentences or more, the last of which names it.
func convincing(candidate synod.Answer, rationale string) bool {
	text := strings.TrimRight(rationale, ". ")
	last := strings.LastIndex(text, ". ")
	if last < 0 || strings.Count(text, ". ") < 2 {
		return false
	}
	return strings.Contains(" "+text[last+2:]+" ", " "+string(candidate)+" ")
}
