// Package selfconsistency is the baseline that asks several times instead of talking:
// Wang et al., "Self-Consistency Improves Chain of Thought Reasoning in Language Models",
// arXiv 2203.11171. Each member asks its own model several times and takes the most
// frequent answer. Members do not talk, and the council's rule counts.
//
// A comparison is fair at equal numbers of calls, so the budget can be SAC's: a member with
// d neighbours asks 1 + T(d+2) times for T rounds, which over all members is SAC's
// n + T(2|E| + 2n).
//
// Every sample has its own seed, also with Exact. A model that answers greedily gives the
// same answer every time; then this is the majority vote at a multiple of its cost.
//
//	protocol: {name: self-consistency, budget: sac, rounds: 6}
package selfconsistency

import (
	"synod.dev/synod"
	"synod.dev/synod/core/script"
	"synod.dev/synod/internal/reference"
	"synod.dev/synod/llm/read"
	"synod.dev/synod/protocol"
	"synod.dev/synod/protocol/answer"
	"synod.dev/synod/protocol/check"
)

// Entry is the protocol in the catalogue.
var Entry = protocol.Entry{
	Entry: synod.Entry{Name: "self-consistency",
		Summary: "every member asks its own model several times and takes the most frequent answer"},
	Traits: []synod.Trait{synod.Votes},
	Source: `Wang et al., "Self-Consistency Improves Chain of Thought Reasoning in Language Models", arXiv 2203.11171`,
	Exact:  exact,
	About: `Every member asks its own model k times, each time with another seed, and holds the most
frequent answer (of several, the first one). Members do not talk; the council's rule
counts.

With budget: sac it makes as many calls as SAC plans for the same council: a member
with d neighbours takes 1 + T(d+2) samples, all members together n + T(2|E| + 2n).
A model that answers greedily (temperature 0) gives the same answer every time; then this
is the majority vote at a multiple of its cost. Recorded members have one reply to a
question and repeat it.

not promised  anything against a Byzantine member.

budget       samples: a fixed number each; sac: as many as SAC would call
samples      with budget samples: k, of each member (5)
rounds       with budget sac: T (6)`,
	New:       func() protocol.Protocol { return New() },
	Prompts:   answer.Templates,
	Campaigns: []check.Subject{campaign},
}

// campaign is how campaigns try the protocol.
var campaign = func() check.Subject {
	s := check.Ordinary(5, "{}").At(15)
	s.Watch, s.Check = check.KeepDiary, checkSamples
	return s.Deciding("I-SC-D", "each member holds the most frequent of its samples, and the rule counts", "own", nil)
}()

// checkSamples compares what each member holds with the most frequent of its samples.
func checkSamples(t *check.Trace) {
	for i, notes := range t.Notes {
		if !t.Plain(synod.NodeID(i)) || len(notes) == 0 {
			continue
		}
		var samples []synod.Answer
		for _, c := range t.Diaries[i].Asked {
			if a, _, ok := read.Answer(t.Question, &c.Reply, false); ok {
				samples = append(samples, a)
			}
		}
		want := reference.MostFrequent(samples)
		t.Claim("I-SC-D", notes[0].Answer == want, "n%d holds %q, and the reference %q: %q", i, notes[0].Answer, want,
			samples)
	}
}

// Budget says how many samples a member takes.
type Budget string

// The budgets.
const (
	Fixed Budget = "samples" // Samples each
	SAC   Budget = "sac"     // as many calls as SAC plans for the member, over Rounds
)

// SelfConsistency holds the protocol's parameters.
type SelfConsistency struct {
	answer.Plain `yaml:",inline"`
	Budget       Budget `yaml:"budget" json:"budget" doc:"samples: a number for each member; sac: as many calls as SAC makes with these rounds" enum:"samples|sac"`
	Samples      int    `yaml:"samples" json:"samples" doc:"samples of each member, with budget samples" range:"1:1000"`
	Rounds       int    `yaml:"rounds" json:"rounds" doc:"T of SAC, with budget sac" range:"0:1000"`
}

// New returns the defaults: five samples; SAC's six rounds.
func New() *SelfConsistency { return &SelfConsistency{Budget: Fixed, Samples: 5, Rounds: 6} }

// Join returns the machine of one member. It does not answer prompts from memory, because
// it asks the same prompt several times.
func (p *SelfConsistency) Join(seat synod.Seat) synod.Machine {
	return script.New(seat, script.Options{}, p.play)
}

func (p *SelfConsistency) play(me *script.Agent) synod.Answer {
	m := answer.New(me, answer.Settings{Templates: "self-consistency", Exact: p.Exact})
	prompts := make([]synod.Prompt, p.samples(len(me.Seat().Peers)))
	for i := range prompts {
		prompts[i] = m.Prompt(synod.Answering)
	}
	replies := me.Ask(prompts...)
	answers := make([]answer.Held, 0, len(replies))
	for _, reply := range replies {
		if r := m.Own(reply); r.Answer != synod.None {
			answers = append(answers, r)
		}
	}
	r := plurality(answers)
	m.Note(0, r, synod.Opinion{})
	return r.Answer
}

// samples returns how often a member with the given number of neighbours asks.
func (p *SelfConsistency) samples(degree int) int {
	if p.Budget == SAC {
		return 1 + p.Rounds*(degree+2)
	}
	return p.Samples
}

// plurality returns the most frequent answer; of several, the first one.
func plurality(answers []answer.Held) answer.Held {
	best, most := answer.Held{Source: synod.Absent}, 0
	count := map[synod.Answer]int{}
	for _, r := range answers {
		count[r.Answer]++
	}
	for _, r := range answers {
		if n := count[r.Answer]; n > most {
			best, most = r, n
		}
	}
	return best
}

// Calls returns the sum of all samples.
func (p *SelfConsistency) Calls(degrees []int) (calls int) {
	for _, d := range degrees {
		calls += p.samples(d)
	}
	return calls
}

// exact is what "exact: paper" restores, and what it does not.
const exact = `restored    no reply is reused
differs     the words of the prompts (use prompts: FOLDER); the temperatures of the paper
            (set them at the model); one seed for all calls, with which all samples would be
            equal`
