package llm

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"synod.dev/synod"
)

// SimulatedConfig are the parameters of a simulated member. A probability is over
// questions unless it is set.
//
// Answering. Question i has a difficulty dᵢ from a logistic distribution with
// scale Spread, the same for all members of a Study. A member is right about i if
// its luck, uniform in [0,1), is below σ(b − dᵢ), where b is chosen so that the
// mean over questions is Ability. Luck is the member's own or, with probability
// Correlation, shared by the whole study on this question: members then err
// together. A question has Wrong wrong answers. A member that errs with shared
// luck gives the first of them, so that those who err together agree; else it
// gives any of them.
//
// Scoring. A candidate scores (1+Skill)/2 if it is right and (1−Skill)/2 if it is
// wrong, plus noise with standard deviation Noise, clipped to [0,1]. A share Shared of the variance
// of the noise is the same for all judges of the Study that score this candidate, in every round: they err
// together. The defaults of Skill, Shared and Primacy are those of recorded judges. A wrong candidate with
// a convincing derivation beside it is taken for a right one with probability Gullible, by
// one judge always or never. A derivation convinces if it has at least three sentences and
// the last one names the candidate; members that are no adversaries write none. A text that
// is a payload (package internal/payload) does to a member what it asks with probability
// Fooled: this is the fooling model of simulated members, and no finding about models. It is
// 0 unless it is set, and every output states it. Some payloads work only where their text is not fenced, or
// keeps control tokens. Where a prompt to judge shows the judge's own answer, that keeps it with probability
// Anchored from every text beside another answer.
//
// Refining. With probability Stubbornness it keeps its own. Else it takes the first answer of the list with probability
// Primacy; a judge that grades a list gives that one the best grades. Else it takes one
// of the answers it is shown, or its own, each weighted by its score to the power
// Sharpness; it scores its own, and any that is shown without a score, itself.
//
// Other prompts, such as those of a game or for grades, are answered by their Detail
// (synod.Simulable). Three settings concern games only. With probability Holdout a member
// keeps its first number for the whole game, by luck of its own. With probability Stall,
// by luck that the study shares in this game, no member ever votes to stop;
// with probability Wary, likewise, if the prompts mention hostile members.
//
// Confidence. Asked for its confidence in its answer, stated or hidden, it
// returns the score that it gives to it, at most 0.99: 1 would be an artefact of
// clipping the noise.
type SimulatedConfig struct {
	Ability float64 `yaml:"ability" doc:"share of questions that it answers correctly alone" range:"0:1"`
	Spread  float64 `yaml:"spread" doc:"of the questions' difficulty" range:"0:10" unit:"logits"`
	// Difference between its mean scores of right and wrong, in [-1,1]; default: that at which it prefers the right
	// one of two with probability 0.61 (skill, in simulated_judging.go).
	Skill        *float64 `yaml:"skill" doc:"difference between its mean scores of right and wrong answers; default: a measured judge's, who prefers the right one of two with probability 0.61" range:"-1:1"`
	Noise        float64  `yaml:"noise" doc:"standard deviation of a score" range:"0:1"`
	Stubbornness float64  `yaml:"stubbornness" doc:"probability to keep its answer whatever it is shown" range:"0:1"`
	Sharpness    int      `yaml:"sharpness" doc:"how much more a better score weighs when it refines; 0: all the same" range:"0:20"`
	Correlation  float64  `yaml:"correlation" doc:"probability that its luck is the whole study's, so that members err together" range:"0:1"`
	Shared       float64  `yaml:"shared" doc:"share of the variance of its noise that all judges of the study have in common, so that they err together" range:"0:1"`
	Holdout      float64  `yaml:"holdout" doc:"in games: probability to keep its first number for the whole game" range:"0:1"`
	Stall        float64  `yaml:"stall" doc:"in games: probability that no member of the study votes to stop" range:"0:1"`
	Wary         float64  `yaml:"wary" doc:"in games: the same probability where prompts mention hostile members, beside stall" range:"0:1"`
	Gullible     float64  `yaml:"gullible" doc:"probability to take a wrong answer with a convincing derivation for a right one; only the adversary persuader writes them" range:"0:1"`
	Fooled       float64  `yaml:"fooled" doc:"probability to do what an adversary's payload asks, by one member always or never for a question; outputs state it" range:"0:1"`
	Primacy      float64  `yaml:"primacy" doc:"probability to take the first of a list of answers, whatever it is; outputs state it with fooled" range:"0:1"`
	Anchored     float64  `yaml:"anchored" doc:"probability that its own answer, where a prompt to judge shows it, keeps it from a text beside another one; outputs state it with fooled" range:"0:1"`
	Wrong        int      `yaml:"wrong" doc:"wrong answers that a question has" range:"1:1000"`
	Seed         uint64   `yaml:"seed" doc:"seed of the member"`
	Study        uint64   `yaml:"study" doc:"seed of what members share: difficulties, wrong answers, shared luck"`
}

var simulatedProvider = Provider{
	Kind: Simulated,
	Entry: synod.Entry{Name: "simulated",
		Summary: "a documented stochastic member, for research; always labelled as such"},
	About: `ability       share of questions it answers correctly alone
spread        of the questions' difficulty, in logits
skill         difference between its mean scores of right and wrong answers; by default that of a measured
              judge, who prefers the right one of two with probability 0.61. One who does so with more than
              0.716 is labelled as better than any measured judge
noise         standard deviation of a score
stubbornness  probability to keep its answer whatever it is shown
sharpness     how much more a better score weighs when it refines
correlation   probability that its luck is the whole study's, so that members err together
shared        share of the variance of its noise that all judges of the study have in common
holdout       in games: probability to keep its first number for the whole game
stall         in games: probability that no member of the study ever votes to stop
wary          in games: the same where prompts mention hostile members, beside stall
gullible      probability to believe a convincing derivation of a wrong answer
fooled        probability to do what an adversary's payload asks; outputs state it
primacy       probability to take the first of a list of answers, whatever it is
anchored      probability that its own answer, where a prompt to judge shows it, keeps it from a text
              beside another answer
wrong         number of wrong answers that a question has
seed, study   of the member, and of what members share`,
	Settings: func() any { s := NewSimulatedConfig(); return &s },
	Open: func(o Opening) (Opened, error) {
		c := NewSimulatedConfig()
		if err := o.Decode(&c); err != nil {
			return Opened{}, err
		}
		m, err := newSimulated(c, o.Env.Truth)
		if err != nil {
			return Opened{}, err
		}
		return Opened{Model: m}, nil
	},
}

// NewSimulatedConfig returns the defaults.
func NewSimulatedConfig() SimulatedConfig {
	return SimulatedConfig{Ability: 0.7, Spread: 1, Noise: 0.15, Stubbornness: 0.3, Sharpness: 4, Gullible: 0.8,
		Wrong: 4, Primacy: measuredFirst, Shared: measuredShared}
}

// Validate returns an error for the first parameter out of its range.
func (c SimulatedConfig) Validate() error {
	for _, p := range []struct {
		name     string
		v        float64
		low, top float64
	}{
		{"ability", c.Ability, 0, 1}, {"spread", c.Spread, 0, 10}, {"noise", c.Noise, 0, 1},
		{"stubbornness", c.Stubbornness, 0, 1}, {"correlation", c.Correlation, 0, 1}, {"skill", c.skill(), -1, 1},
		{"holdout", c.Holdout, 0, 1}, {"stall", c.Stall, 0, 1}, {"wary", c.Wary, 0, 1},
		{"gullible", c.Gullible, 0, 1}, {"fooled", c.Fooled, 0, 1}, {"primacy", c.Primacy, 0, 1},
		{"anchored", c.Anchored, 0, 1}, {"shared", c.Shared, 0, 1},
	} {
		if !(p.v >= p.low && p.v <= p.top) { // NaN too
			return fmt.Errorf("%s is %v; it must be between %v and %v", p.name, p.v, p.low, p.top)
		}
	}
	switch {
	case c.Sharpness < 0 || c.Sharpness > 20:
		return fmt.Errorf("sharpness is %d; it must be between 0 and 20", c.Sharpness)
	case c.Wrong < 1 || c.Wrong > 1000:
		return fmt.Errorf("wrong is %d; it must be between 1 and 1000", c.Wrong)
	}
	return nil
}

// Truth returns the right answer to a question in canonical form, or None if it
// is not known. Only simulated members and graders may see it.
type Truth func(q *synod.Question) synod.Answer

// simulated is a documented stochastic model of a language model, for research
// at scale. It acts on the typed prompt and reads no text.
//
// Its reply is a function of its configuration, the asking seat, the repeat, the
// question and the prompt with its seed. Where Truth does not know a question,
// "What is 17 + 25?" is computed, and any other question gets an answer derived
// from its hash: the answers of such a council are meaningless, and
// every output labels it simulated.
type simulated struct {
	cfg          SimulatedConfig
	truth        Truth
	offset       float64 // b
	right, wrong float64 // mean scores
	sharedBy     float64 // weights of the noise of all judges and of its own
	ownBy        float64
	items        [64]itemSlot
	info         Info
}

// NewSimulated returns a simulated member. truth may be nil. It fails if a
// parameter is out of its range.
func NewSimulated(c SimulatedConfig, truth Truth) (Model, error) { return newSimulated(c, truth) }

func newSimulated(c SimulatedConfig, truth Truth) (*simulated, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	skill := c.skill()
	m := &simulated{cfg: c, truth: truth, offset: offset(c.Ability, c.Spread)}
	m.right, m.wrong = (1+skill)/2, (1-skill)/2
	m.sharedBy, m.ownBy = math.Sqrt(c.Shared), math.Sqrt(1-c.Shared)
	m.info = Info{Kind: Simulated, Name: fmt.Sprintf("simulated ability %v", c.Ability)}
	if c.better() {
		m.info.Name += ", judges " + betterThanMeasured
	}
	c.Skill = nil // a pointer has no meaning in an identity
	// Runs that were made before there were traits of games go on with the same identity.
	settings := strings.Replace(fmt.Sprintf("%+v", c), " Holdout:0 Stall:0 Wary:0", "", 1)
	for _, later := range []string{" Primacy:0 ", " Anchored:0 ", " Shared:0 "} { // likewise
		settings = strings.Replace(settings, later, " ", 1)
	}
	if c.Fooled == 0 { // likewise
		settings = strings.Replace(settings, " Fooled:0 ", " ", 1)
	} else {
		m.info.Name += fmt.Sprintf(", fooled %v", c.Fooled)
	}
	version := 1
	if c.Primacy > 0 { // members of version 1 took the first answer although they were stubborn
		version = 2
	}
	m.info.Identity = fmt.Sprintf("simulated v%d %s skill=%v", version, settings, skill)
	return m, nil
}

// Info labels the member as simulated.
func (m *simulated) Info() Info { return m.info }

// CanWeigh returns true: it answers Weighing with the logarithm of a score.
func (m *simulated) CanWeigh() bool { return true }

// GivesHiddenConfidence returns true: a hidden confidence is simulated.
func (m *simulated) GivesHiddenConfidence() bool { return true }

// Complete draws a reply. It fails only for a purpose that it does not know.
func (m *simulated) Complete(_ context.Context, r Request) (synod.Reply, error) {
	var reply synod.Reply
	err := m.Reply(&r, &reply)
	return reply, err
}

// Reply implements Instant.
func (m *simulated) Reply(r *Request, reply *synod.Reply) error {
	p := r.Prompt
	it := m.item(p.Question)
	rng, by := m.random(r, it), judgeOf(r)
	*reply = synod.Reply{Status: synod.OK, Typed: true, Calls: 1}
	switch p.Purpose {
	case synod.Answering:
		reply.Answer = m.answer(it, &rng, uint64(r.Sample))
		if p.Goal == synod.Persuade {
			reply.Answer = it.wrong[0]
			reply.Text = derivation(p.Spelled(reply.Answer))
		}
	case synod.Scoring:
		reply.Value = m.score(it, p.Candidate, told{p.Rationale, by}, &rng)
	case synod.Weighing:
		reply.Value = math.Log(math.Max(m.score(it, p.Candidate, told{}, &rng), 0.001))
	case synod.Refining:
		if p.Goal == synod.Adapt {
			reply.Answer = it.wrong[0]
			reply.Text = derivation(p.Spelled(reply.Answer))
			break
		}
		if follow, ok := m.led(it, p, by); ok {
			reply.Answer, reply.Text = follow.Answer, follow.Rationale
			break
		}
		reply.Answer = m.refine(it, p, by, &rng)
	default:
		detail, ok := p.Detail.(synod.Simulable)
		if !ok {
			*reply = synod.Reply{}
			return &Failure{Status: synod.Unavailable, Err: errPurpose}
		}
		*reply, rng = m.simulate(detail, *r, it, rng)
	}
	if reply.Answer != synod.None && p.ConfidenceMode != synod.NoConfidence {
		confidence := min(m.score(it, reply.Answer, told{}, &rng), 0.99)
		reply.Confidence = &confidence
	}
	if m.cfg.Fooled > 0 {
		m.think(it, p, by, reply)
	}
	return nil
}

// simulate lets the detail of a prompt reply to it, and returns the generator as it
// is then. The generator is passed by value, because it escapes to the heap here and
// would otherwise cost every reply an allocation.
func (m *simulated) simulate(d synod.Simulable, r Request, it *item, rng splitMix) (synod.Reply, splitMix) {
	shared := mix(it.hash ^ r.Run ^ 0x6a3e)
	study, own := splitMix(shared), splitMix(hashString(mix(shared^m.cfg.Seed), r.Seat))
	reply := d.Simulate(r.Prompt, synod.Simulation{
		Ability: m.cfg.Ability, Noise: m.cfg.Noise, Stubbornness: m.cfg.Stubbornness, Sharpness: m.cfg.Sharpness,
		Primacy: m.cfg.Primacy,
		Stalls:  study.uniform() < m.cfg.Stall, Wary: study.uniform() < m.cfg.Wary,
		Holds: own.uniform() < m.cfg.Holdout,
		Score: func(a synod.Answer, rationale string) float64 {
			by := judgeOf(&r)
			if m.cfg.Fooled > 0 && m.slandered(it, r.Prompt, a, by) {
				return m.slander(&rng)
			}
			return m.score(it, a, told{rationale, by}, &rng)
		},
		Rand: rand.New(&rng),
	})
	reply.Calls = 1
	return reply, rng
}

var errPurpose = errors.New("a simulated model cannot reply to a prompt of this purpose")

// random returns the random numbers of one reply, from all that it depends on.
func (m *simulated) random(r *Request, it *item) splitMix {
	p := r.Prompt
	h := mix(m.cfg.Seed ^ it.hash)
	h = mix(h ^ p.Seed ^ uint64(r.Sample)<<48 ^ uint64(len(p.Purpose))<<40)
	h = hashString(h, r.Seat)
	h = hashString(h, string(p.Candidate))
	h = hashString(h, string(p.Own))
	for i := range p.Peers {
		h = hashString(h^math.Float64bits(float64(p.Peers[i].Score)), string(p.Peers[i].Answer))
	}
	return splitMix(h)
}

func (m *simulated) answer(it *item, rng *splitMix, sample uint64) synod.Answer {
	luck, shared := rng.uniform(), rng.uniform() < m.cfg.Correlation
	if shared {
		study := splitMix(mix(it.hash ^ sample ^ 0x10c4))
		luck = study.uniform()
	}
	switch {
	case luck < it.chance:
		return it.truth
	case shared:
		return it.wrong[0]
	}
	return it.wrong[rng.next()%uint64(len(it.wrong))]
}

func (m *simulated) score(it *item, candidate synod.Answer, t told, rng *splitMix) float64 {
	mean := m.wrong
	if candidate == it.truth || m.fooled(it, candidate, t) {
		mean = m.right
	}
	return min(max(mean+m.errs(it, candidate, rng), 0), 1)
}

func (m *simulated) refine(it *item, p *synod.Prompt, by judge, rng *splitMix) synod.Answer {
	if rng.uniform() < m.cfg.Stubbornness {
		return p.Own
	}
	if m.cfg.Primacy > 0 && len(p.Peers) > 0 && rng.uniform() < m.cfg.Primacy {
		return p.Peers[0].Answer
	}
	own := m.weight(m.score(it, p.Own, told{}, rng))
	sum := own
	var room [16]float64
	shown := slices.Grow(room[:0], len(p.Peers))[:len(p.Peers)]
	for i := range p.Peers {
		peer := &p.Peers[i]
		score := float64(peer.Score)
		if peer.Score == synod.Untrusted {
			score = m.score(it, peer.Answer, told{peer.Rationale, by}, rng)
		}
		shown[i] = m.weight(score)
		sum += shown[i]
	}
	at := rng.uniform() * sum
	if at -= own; at < 0 || sum == 0 {
		return p.Own
	}
	for i := range p.Peers {
		if at -= shown[i]; at < 0 {
			return p.Peers[i].Answer
		}
	}
	return p.Own
}

// weight returns score to the power Sharpness, and 0 for a score below 0.
func (m *simulated) weight(score float64) float64 {
	if !(score >= 0) {
		return 0
	}
	w := 1.0
	for range m.cfg.Sharpness {
		w *= score
	}
	return w
}

// TakesPart accepts every part: a simulated member invents its answers and reads no question.
func (m *simulated) TakesPart(*synod.Part) error { return nil }
