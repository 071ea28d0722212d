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
	"cmp"
	"embed"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/core/script"
	"synod.dev/synod/internal/order"
	"synod.dev/synod/protocol"
	"synod.dev/synod/protocol/answer"
	"synod.dev/synod/protocol/check"
)

// Probe says where a member's confidence comes from.
type Probe string

// The probes (CP-1, CP-2).
const (
	StatedProbe Probe = "stated" // PCP: the model states it beside its answer
	HiddenProbe Probe = "hidden" // HCP: a trained probe reads it off the model's hidden states
	NoProbe     Probe = "none"   // no confidence, as in the pilot study
	// LikelihoodProbe is the probability that the model gives to its answer. The paper has no such probe; it needs
	// neither a trained one nor a model that can state numbers.
	LikelihoodProbe Probe = "likelihood"
	// RandomProbe draws a confidence that says nothing. It is a control: what CP-WBFT gains with it, confidences do not
	// explain.
	RandomProbe Probe = "random"
)

var confidenceModes = map[Probe]synod.ConfidenceMode{
	StatedProbe: synod.StatedConfidence, HiddenProbe: synod.HiddenConfidence, NoProbe: synod.NoConfidence,
	LikelihoodProbe: synod.LikelihoodConfidence, RandomProbe: synod.NoConfidence,
}

// Adopt is a rule of stage 1: what a member takes over from its neighbours.
type Adopt string

// The rules (CP-3, CP-5).
const (
	Surest Adopt = "paper"  // the answer of the surest neighbour, if it is surer than oneself
	Pooled Adopt = "pooled" // the reference code's: of all answers heard and one's own, the highest mean confidence
	// the pilot's traditional agents: what most of oneself and one's neighbours say; a tie keeps
	ByNumber Adopt = "majority"
	Nothing  Adopt = "none" // the pilot's LLM agents: only reflection changes an answer
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
	Rounds  int   `yaml:"rounds" json:"rounds" doc:"rounds of stage 1" range:"0:1000"`
	Probe   Probe `yaml:"probe" json:"probe" doc:"where a confidence comes from: the member's own words, a probe of hidden states, the likelihood of its answer, chance (a control for experiments), or nowhere" enum:"stated|hidden|likelihood|random|none"`
	Adopt   Adopt `yaml:"adopt" json:"adopt" doc:"stage 1: take over the surest neighbour's answer, the answer with the highest mean confidence, the most frequent one, or none (CP-3, CP-5)" enum:"paper|pooled|majority|none"`
	Weigh   Weigh `yaml:"weigh" json:"weigh" doc:"stage 2: count every confidence, or none below 0.5 where any is at least 0.5 (CP-4)" enum:"paper|reference"`
	Reflect bool  `yaml:"reflect" json:"reflect" doc:"in each round, first think again with the neighbours' answers in view"`
	Exact   bool  `yaml:"-" json:"exact"` // the paper's letter: council key "exact: paper"
}

// New returns the paper's protocol: one round, stated confidence.
func New() *CPWBFT {
	return &CPWBFT{Rounds: 1, Probe: StatedProbe, Adopt: Surest, Weigh: Everyone}
}

// Paper returns the protocol as the paper has it, prompts' wording aside: free
// text, a lenient reader, every call afresh.
func (p *CPWBFT) Paper() { p.Exact = true }

// Validate returns an error for parameters that do not go together.
func (p *CPWBFT) Validate() error {
	if p.Probe == NoProbe && (p.Adopt == Surest || p.Adopt == Pooled) {
		return fmt.Errorf("cp-wbft: adopt is %q, which goes by confidence, and probe: none asks for none; use "+
			"majority or none", p.Adopt)
	}
	return nil
}

// Join returns the machine of one member.
func (p *CPWBFT) Join(seat synod.Seat) synod.Machine {
	return script.New(seat, script.Options{Remember: !p.Exact, OneSeed: p.Exact}, p.play)
}

// play is stage 1.
func (p *CPWBFT) play(me *script.Agent) synod.Answer {
	how := answer.Settings{Templates: "cp-wbft", Exact: p.Exact, ConfidenceMode: p.ConfidenceMode()}
	m := &member{CPWBFT: p, Member: answer.New(me, how)}
	r := m.drawn(m.Answer())
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

// Weight returns the confidence in a first answer, 0 if there is none, and 1 without a probe. Of a JSON answer,
// whose fields are merged, the sum of confidences counts: a mean (Eq. 4) would let one sure member decide a field.
func (p *CPWBFT) Weight(first *synod.Opinion) float64 {
	switch {
	case p.Probe == NoProbe:
		return 1
	case first.Confidence == nil:
		return 0
	}
	return *first.Confidence
}

// VotesByMean reports whether stage 2 is a vote of the first answers by their mean confidence: without rounds, and with
// everyone's confidence.
func (p *CPWBFT) VotesByMean() bool {
	return p.Rounds == 0 && p.Weigh == Everyone && p.Probe != NoProbe
}

// Weighs reports whether members must be able to give the likelihood of a text.
func (p *CPWBFT) Weighs() bool { return p.Probe == LikelihoodProbe }

// Dynamic reports that each round has neighbours of its own.
func (p *CPWBFT) Dynamic() bool { return true }

// TellsFirst reports that members exchange their first answers.
func (p *CPWBFT) TellsFirst() bool { return true }

// MaxRounds is the number of rounds of stage 1.
func (p *CPWBFT) MaxRounds() int { return p.Rounds }

// ConfidenceMode says where a member's confidence is to come from (CP-1, CP-2).
func (p *CPWBFT) ConfidenceMode() synod.ConfidenceMode { return confidenceModes[p.Probe] }

// Guarantee is none, whatever the graph (CP-7, I-CP-5).
func (p *CPWBFT) Guarantee(_, _ int, _ bool) (name, note string) {
	return "", "no guarantee: on any graph, one Byzantine member that claims to be certain captures all that " +
		"hear it"
}

// Entry is the protocol in the catalogue.
var Entry = protocol.Entry{
	Entry: synod.Entry{Name: "cp-wbft",
		Summary: "CP-WBFT: members adopt the most confident answer; a baseline that one adversary captures"},
	Traits:    []synod.Trait{synod.Tells, synod.Votes, synod.Rounds, synod.Lists, synod.Confides},
	Source:    `Zheng et al., "Rethinking the Reliability of Multi-agent Systems: A Perspective from Byzantine Fault Tolerance", arXiv 2511.10400`,
	Exact:     exact,
	About:     About,
	New:       func() protocol.Protocol { return New() },
	Prompts:   Prompts,
	Campaigns: []check.Subject{campaign},
}

// About is what "synod explain" says.
const About = `Every member answers and says how sure it is, from 0 to 1. In each round of
stage 1 it sends both to its neighbours, and adopts the answer of the neighbour with
the highest confidence if that is higher than its own. Stage 2 makes the decision: the
answer whose supporters have the highest mean confidence, of equals the one with more
supporters. Give the
council rule: {name: protocol} for stage 2; any other rule counts the members' last
answers instead.

guaranteed  nothing, on any graph: no member that states a false confidence is tolerated
            (claimed f is 0). One that claims to be certain captures all honest members
            that hear it.
measured    how well the confidence of honest members predicts their answers (the
            report's calibration).
not promised  agreement, correctness, anything with an adversary among the members.

rounds   of stage 1 (1, as in the paper)
probe    stated: the model says how sure it is (PCP); hidden: a trained probe reads
         it off the model's hidden states (HCP); likelihood: the probability that the
         model gives to its answer (ours); random: a number by chance, as a control in
         experiments; none: no confidence
adopt    paper: the surest neighbour's answer; pooled: the reference code's rule, the
         answer with the highest mean confidence among neighbours and oneself;
         majority: what most of them say, the pilot study's traditional agents;
         none: only reflection changes an answer, the pilot study's LLM agents
weigh    of stage 2. paper: everyone; reference: none below 0.5 where any is at least 0.5
reflect  true: every round first think again with the neighbours' answers in view

A confidence that is missing counts as 0 and is reported; a message with one outside
[0,1] is not heard. The pilot study of the paper is {probe: none, adopt: majority}
for traditional agents and {probe: none, adopt: none, reflect: true} for LLM agents.`

//go:embed prompts/*.tmpl
var files embed.FS

// Prompts returns the protocol's templates.
func Prompts() fs.FS { return answer.With(files) }

// member is the protocol at one seat.
type member struct {
	*CPWBFT
	*answer.Member
}

// drawn gives an answer the confidence of RandomProbe.
func (m *member) drawn(r answer.Held) answer.Held {
	if m.Probe == RandomProbe && r.Answer != synod.None {
		c := rand.New(rand.NewPCG(m.Me.Seat().Seed, 0xc04f)).Float64()
		r.Confidence = &c
	}
	return r
}

// reflect is the pilot's reflection round (CP-5): the member's model thinks again
// with its neighbours' answers in view, in an order that is nobody's choice. What
// they claim about themselves is not shown.
func (m *member) reflect(r answer.Held, heard []answer.Heard) answer.Held {
	if !m.Reflect || r.Answer == synod.None || len(heard) == 0 {
		return r
	}
	q := m.Prompt(synod.Refining)
	q.Own, q.ConfidenceMode = r.Answer, m.Settings.ConfidenceMode
	heard = slices.SortedStableFunc(slices.Values(heard), func(a, b answer.Heard) int {
		return cmp.Compare(a.Value.Answer, b.Value.Answer)
	})
	for _, h := range answer.DrawnHeard(m.Me.Seat(), heard) {
		peer := m.Peer(h.From, &h.Value, synod.Untrusted)
		peer.Rationale = ""
		q.Peers = append(q.Peers, peer)
	}
	return m.Ask(r, q)
}

// adopt is stage 1's rule (CP-3): what a member holds after hearing its neighbours.
func (m *member) adopt(r answer.Held, heard []answer.Heard) answer.Held {
	own := statedBy(r.Answer, r.Confidence)
	stated := make([]Stated, len(heard))
	for i, h := range heard {
		stated[i] = Stated{h.Value.Answer, h.Value.Confidence}
	}
	next := rules[m.Adopt](own, stated)
	if next == own {
		return r
	}
	if next.Answer != r.Answer {
		r = answer.Held{Answer: next.Answer, Source: synod.New}
	}
	if m.Probe != NoProbe {
		r.Confidence = &next.Confidence
	}
	return r
}

// sourced says where an answer comes from: before is the one of the round before,
// told the one with which the member went into this round.
func sourced(r answer.Held, before, told synod.Answer, heard []answer.Heard) answer.Held {
	r.From = nil
	switch {
	case r.Answer == synod.None:
		r.Source = synod.Absent
	case r.Answer == before:
		r.Source = synod.Kept
	case before == synod.None && r.Answer == told: // it was asked again
		r.Source = synod.Own
	default:
		r.Source = synod.New
		for _, h := range heard {
			r.Credit(h.From, h.Value.Answer)
		}
	}
	return r
}

// claims are the confidences that stage 1 compared, ascending by member.
func (m *member) claims(own answer.Held, heard []answer.Heard) []synod.Judged {
	if m.Probe == NoProbe {
		return nil
	}
	all := make([]synod.Judged, 0, len(heard)+1)
	for _, h := range heard {
		all = append(all, synod.Judged{Of: h.From, Score: synod.Score(h.Value.Confidence)})
	}
	if own.Answer != synod.None {
		mine := statedBy(own.Answer, own.Confidence)
		all = append(all, synod.Judged{Of: m.Me.Seat().Self, Score: synod.Score(mine.Confidence)})
	}
	order.Sort(all, func(a, b synod.Judged) int { return cmp.Compare(a.Of, b.Of) })
	return all
}

// exact is what "exact: paper" restores, and what it does not.
const exact = `restored    a confidence is the first number behind the word; 95 % and 95 are read as 0.95, 9/10
            as 0.9, and what is not from 0 to 1 counts as missing (the paper asks for 0.00 to
            1.00 and leaves the rest open); one seed; no reply is reused; no early end
differs     the words of the prompts (use prompts: FOLDER); the reference code's rules, which
            differ from the text (adopt: pooled, weigh: reference); its training of the
            probe, which chooses the epoch on test data`
