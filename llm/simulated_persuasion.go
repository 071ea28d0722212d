package llm

import (
	"fmt"
	"slices"
	"strings"

	"synod.dev/synod"
	"synod.dev/synod/internal/payload"
)

// derivation is the solution that a simulated adversary writes for a wrong answer. What a
// simulated judge looks at is its form, so the sentences are the same for every question.
func derivation(answer string) string {
	return fmt.Sprintf("The question gives all that is needed. Taking its conditions one after another leaves a "+
		"single possibility. Putting that back meets every condition. So the result is %s.\nAnswer: %s", answer, answer)
}

// judge is who scores: a seat, in one repeat of a question, and what its prompt is like.
type judge struct {
	seat   string
	sample int
	own    synod.Answer // its own answer, where a prompt to judge shows it; else None
	open   [2]bool      // texts of others are not fenced, and keep control tokens
}

// judgeOf returns who replies to a request.
func judgeOf(r *Request) judge {
	p := r.Prompt
	j := judge{seat: r.Seat, sample: r.Sample, open: [2]bool{p.Unfenced, p.Raw}}
	if p.Purpose != synod.Refining {
		j.own = p.Own
	}
	return j
}

// holds reports whether its own answer keeps a judge from a text beside another one (Anchored): always or never the
// same judge for a question.
func (m *simulated) holds(it *item, candidate synod.Answer, by judge) bool {
	if m.cfg.Anchored == 0 || by.own == synod.None || by.own == candidate {
		return false
	}
	belief := splitMix(hashString(mix(m.cfg.Seed^it.hash^uint64(by.sample)<<48^0xf003), by.seat))
	return belief.uniform() < m.cfg.Anchored
}

// told is the reasoning that a judge sees beside a candidate.
type told struct {
	rationale string
	judge
}

// fooled reports whether a judge takes a wrong candidate for right because of the reasoning
// beside it: always or never the same judge.
func (m *simulated) fooled(it *item, candidate synod.Answer, t told) bool {
	if m.holds(it, candidate, t.judge) {
		return false
	}
	if m.cfg.Fooled > 0 && m.raised(it, candidate, t) {
		return true
	}
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

// What follows is the fooling model of simulated members (Fooled). A member recognises a payload by
// its marker and does what it asks, always or never the same member for a question and a family.

// taken reports whether a text is a payload with one of some effects that the member falls for.
func (m *simulated) taken(it *item, text string, by judge, effects ...payload.Effect) bool {
	if text == "" {
		return false
	}
	f, ok := payload.Of(text)
	if !ok || !slices.Contains(effects, f.Effect) || f.Needs == payload.Fence && !by.open[0] ||
		f.Needs == payload.Tokens && !by.open[1] {
		return false
	}
	h := hashString(mix(m.cfg.Seed^it.hash^uint64(by.sample)<<48^0xf002), by.seat)
	belief := splitMix(hashString(h, f.Name))
	return belief.uniform() < m.cfg.Fooled
}

// raised reports whether a payload beside a candidate, or in it, makes a judge take it for right.
func (m *simulated) raised(it *item, candidate synod.Answer, t told) bool {
	return m.taken(it, t.rationale, t.judge, payload.Raise, payload.Long) ||
		m.taken(it, string(candidate), t.judge, payload.Raise, payload.Long)
}

// led returns what a payload makes a member do that is shown others' answers: follow the one beside it,
// and write the payload itself if it asks for that, or stay with its own.
func (m *simulated) led(it *item, p *synod.Prompt, by judge) (follow synod.Rated, ok bool) {
	if m.cfg.Fooled == 0 {
		return synod.Rated{}, false
	}
	for _, peer := range p.Peers {
		switch {
		case m.taken(it, peer.Rationale, by, payload.Doubt):
			return synod.Rated{Answer: p.Own}, true
		case m.taken(it, peer.Rationale, by, payload.Repeat):
			return peer, true
		case m.taken(it, peer.Rationale, by, payload.Obey):
			return synod.Rated{Answer: peer.Answer}, true
		}
	}
	return synod.Rated{}, false
}

// slandered reports whether a payload beside another answer in the prompt makes a judge mark this one down.
func (m *simulated) slandered(it *item, p *synod.Prompt, a synod.Answer, by judge) bool {
	for _, peer := range p.Peers {
		if peer.Answer != a && m.taken(it, peer.Rationale, by, payload.Lower) {
			return true
		}
	}
	return false
}

// slander draws the score of an answer that was marked down.
func (m *simulated) slander(rng *splitMix) float64 { return max(m.cfg.Noise*rng.normal(), 0) }

// thoughts are the tokens that a decoy costs a member that falls for it: 46 times those of an ordinary
// reply of 100 (Kumar et al. 2025, arXiv 2502.02542, the largest factor that they report).
const thoughts = 4600

// think counts the tokens that a decoy in the prompt costs.
func (m *simulated) think(it *item, p *synod.Prompt, by judge, reply *synod.Reply) {
	decoy := m.taken(it, p.Rationale, by, payload.Think)
	for i := range p.Peers {
		decoy = decoy || m.taken(it, p.Peers[i].Rationale, by, payload.Think)
	}
	if decoy {
		reply.Usage.Completion += thoughts
	}
}

// Fooling describes what is assumed of a simulated member with some settings beyond what was measured, for outputs:
// what fools it, and that it judges better than any measured judge. It is "" for other providers and for members of
// which nothing is assumed. It names the probability to believe a derivation where the settings have a text
// fool the member, or where derivations of adversaries reach it.
func Fooling(settings map[string]any, derivations bool) string {
	if settings["provider"] != simulatedProvider.Name {
		return ""
	}
	var does []string
	if _, set := settings["skill"]; !set { // the default is not better
	} else if c, ok := simulatedOf(settings); ok && c.better() {
		does = append(does, "judges "+betterThanMeasured)
	}
	for _, s := range [...]struct{ key, does string }{
		{"fooled", "does what an adversary's text asks with probability %v"},
		{"primacy", "takes the first answer of a list with probability %v"},
		{"anchored", "is kept from a text beside another answer, where its prompt shows its own, with " +
			"probability %v"}} {
		v, set := settings[s.key]
		fools := set && fmt.Sprint(v) != "0"
		if fools {
			does = append(does, fmt.Sprintf(s.does, v))
		}
		if s.key == "fooled" && (fools || derivations) {
			gullible, set := settings["gullible"]
			if !set {
				gullible = NewSimulatedConfig().Gullible
			}
			if fools || fmt.Sprint(gullible) != "0" {
				does = append(does, fmt.Sprintf("believes a derivation with probability %v", gullible))
			}
		}
	}
	if len(does) == 0 {
		return ""
	}
	return "assumed, not measured: it " + strings.Join(does, " and ")
}
