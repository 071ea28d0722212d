// Package cpwbft is CP-WBFT, confidence-probe weighted Byzantine fault tolerance:
// Zheng, Chen, Yin, Zhang, Zeng, Tian, "Rethinking the Reliability of Multi-agent
// Systems", arXiv 2511.10400 ("the paper"), with the rules of its pilot study.
//
// Every member answers and says how sure it is. In each round of stage 1 it tells
// its neighbours both and takes over what is said with more confidence than its
// own. Stage 2 (Eq. 4) is the decision: the answer with the highest mean confidence.
//
// Where the paper is silent:
//
//   - stage 2 is global and is made once, by whoever collects the members' last
//     words (Conclude; council rule "protocol"). Table 2 leaves no other reading: on
//     a chain 42.86 % of the members end right and all questions are decided right,
//     so members do not learn what stage 2 came to;
//   - an answer is taken over with the confidence that was claimed for it;
//   - a member without an answer takes the surest that it hears;
//   - a confidence that is missing is 0 and counted (Opinion.Unsure). On the wire one
//     outside [0,1] makes the whole message unreadable, that is unsaid;
//   - ties go to more supporters, where those are counted, then to the answer that
//     comes first in canonical bytes. Confidences count to nine decimals.
//
// Nothing is promised. A confidence is the sender's own claim, so one member that
// claims 1.0 captures every honest one that hears it (finding F8).
package cpwbft

import (
	"fmt"
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/protocol/answer"
	"synod.dev/synod/script"
)

// Probe says where a member's confidence comes from.
type Probe string

// The probes (CP-1, CP-2).
const (
	ByWord  Probe = "stated" // PCP: the model states it beside its answer
	Hidden  Probe = "hidden" // HCP: a trained probe reads it off the model's hidden states
	NoProbe Probe = "none"   // no confidence, as in the pilot study
)

var confides = map[Probe]synod.Confide{ByWord: synod.ConfideStated, Hidden: synod.ConfideHidden, NoProbe: synod.ConfideNothing}

// Adopt is a rule of stage 1: what a member takes over from its neighbours.
type Adopt string

// The rules (CP-3, CP-5).
const (
	Surest   Adopt = "paper"    // the answer of the surest neighbour, if it is surer than oneself
	Pooled   Adopt = "pooled"   // the reference code's: of all answers heard and one's own, the highest mean confidence
	ByNumber Adopt = "majority" // the pilot's traditional agents: what most of oneself and one's neighbours say; a tie keeps
	Nothing  Adopt = "none"     // the pilot's LLM agents: only reflection changes an answer
)

// Weigh says whose confidence counts in stage 2.
type Weigh string

// The ways to weigh (CP-4).
const (
	Everyone Weigh = "paper"     // everyone's
	Half     Weigh = "reference" // the reference code's: none below 0.5 where any is at least 0.5
)

// CPWBFT holds the protocol's parameters.
type CPWBFT struct {
	Rounds  int   `yaml:"rounds" json:"rounds"`   // of stage 1, ≥ 0
	Probe   Probe `yaml:"probe" json:"probe"`     // stated | hidden | none
	Adopt   Adopt `yaml:"adopt" json:"adopt"`     // paper | pooled | majority | none
	Weigh   Weigh `yaml:"weigh" json:"weigh"`     // paper | reference
	Reflect bool  `yaml:"reflect" json:"reflect"` // each round, first think again with the neighbours' answers in view
	Exact   bool  `yaml:"-" json:"exact"`         // the paper's letter: council key "exact: paper"
}

// New returns the paper's protocol: one round, stated confidence.
func New() *CPWBFT {
	return &CPWBFT{Rounds: 1, Probe: ByWord, Adopt: Surest, Weigh: Everyone}
}

// Paper returns the protocol as the paper has it, prompts' wording aside: free
// text, a lenient reader, every call afresh.
func (p *CPWBFT) Paper() { p.Exact = true }

// Validate reports the first parameter that is out of its range.
func (p *CPWBFT) Validate() error {
	switch {
	case p.Rounds < 0 || p.Rounds > 1000:
		return fmt.Errorf("cp-wbft: rounds is %d; it must be between 0 and 1000", p.Rounds)
	case !slices.Contains([]Probe{ByWord, Hidden, NoProbe}, p.Probe):
		return fmt.Errorf("cp-wbft: probe is %q; it must be stated, hidden or none", p.Probe)
	case !slices.Contains([]Adopt{Surest, Pooled, ByNumber, Nothing}, p.Adopt):
		return fmt.Errorf("cp-wbft: adopt is %q; it must be paper, pooled, majority or none", p.Adopt)
	case p.Probe == NoProbe && (p.Adopt == Surest || p.Adopt == Pooled):
		return fmt.Errorf("cp-wbft: adopt is %q, which goes by confidence, and probe: none asks for none; use majority or none", p.Adopt)
	case !slices.Contains([]Weigh{Everyone, Half}, p.Weigh):
		return fmt.Errorf("cp-wbft: weigh is %q; it must be paper or reference", p.Weigh)
	}
	return nil
}

// Join seats one member.
func (p *CPWBFT) Join(seat synod.Seat) synod.Machine {
	return script.New(seat, script.Options{Remember: !p.Exact, OneSeed: p.Exact}, p.play)
}

// play is stage 1.
func (p *CPWBFT) play(me *script.Agent) synod.Answer {
	how := answer.Settings{Templates: "cp-wbft", Exact: p.Exact, Confide: p.Confides()}
	m := &member{CPWBFT: p, Member: answer.New(me, how)}
	r := m.Answer()
	m.Note(0, r, synod.Opinion{})
	for t := range p.Rounds {
		before := r.Answer
		heard, silent := m.Exchange(t, &r, 2) // an answer that is asked for again, and the reflection
		told := r.Answer
		own := m.reflect(r, heard)
		r = sourced(m.adopt(own, heard), before, told, heard)
		m.Note(t+1, r, synod.Opinion{Silent: silent, Scores: m.claims(own, heard)})
	}
	return r.Answer
}

// Calls is how many model calls a run makes at most, an answer asked for again
// aside: one a member, and one a round with Reflect.
func (p *CPWBFT) Calls(degrees []int) int {
	if p.Reflect {
		return len(degrees) * (1 + p.Rounds)
	}
	return len(degrees)
}

// Settles reports that a round in which every call succeeded and neither an answer
// nor a confidence changed repeats itself for ever.
func (p *CPWBFT) Settles() bool { return !p.Exact }

// MaxRounds is the number of rounds of stage 1.
func (p *CPWBFT) MaxRounds() int { return p.Rounds }

// Confides says where a member's confidence is to come from (CP-1, CP-2).
func (p *CPWBFT) Confides() synod.Confide { return confides[p.Probe] }

// Guarantee is none, whatever the graph (CP-7, I-CP-5).
func (p *CPWBFT) Guarantee(_, _ int, _ bool) (name, note string) {
	return "", "no guarantee: cp-wbft tolerates 0 confidence liars on any graph; one member that claims to be certain captures all who hear it"
}
