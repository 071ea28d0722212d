package llm

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"synod.dev/synod"
)

// SimulatedConfig says what a simulated member is like. Every probability is the
// chance over questions, unless it says otherwise.
//
// Answering. Question i has a difficulty dᵢ, logistic with scale Spread, that
// every member of the same Study meets. A member gets i right if its luck, uniform
// in [0,1), is below σ(b − dᵢ), where b is such that the mean over questions is
// Ability. Luck is the member's own, or with probability Correlation the one that
// the whole study shares on this question: members then err together. A wrong
// answer is one of Wrong answers of the question: the first if the luck was
// shared, so that those who err together say the same, else any.
//
// Scoring. A candidate scores (1+Skill)/2 if it is right and (1−Skill)/2 if it is
// wrong, plus noise of standard deviation Noise, cut to [0,1].
//
// Refining. With probability Stubbornness it keeps its answer. Else it takes one
// of the answers it is shown, or its own, each with a weight of its score to the
// power Sharpness; its own, and any that is shown unscored, it scores itself.
//
// Other prompts, such as those of a game or for grades, are answered by their Detail
// (synod.Simulable).
//
// Confiding. Where it is asked how sure it is of its answer, stated or hidden, it
// says the score that it gives it, 0.99 at most: certainty would be an artefact of
// cutting the noise at 1.
type SimulatedConfig struct {
	Ability      float64  `yaml:"ability"`      // share of questions that it gets right alone, in [0,1]
	Spread       float64  `yaml:"spread"`       // of question difficulty, in logits, in [0,10]
	Skill        *float64 `yaml:"skill"`        // gap between its scores of right and wrong, in [-1,1]; default: as if it compared with its own solution
	Noise        float64  `yaml:"noise"`        // standard deviation of a score, in [0,1]
	Stubbornness float64  `yaml:"stubbornness"` // chance to keep its answer whatever it is shown, in [0,1]
	Sharpness    int      `yaml:"sharpness"`    // 0: every shown answer weighs the same; to 20: the best score wins
	Correlation  float64  `yaml:"correlation"`  // chance that its luck is the study's, in [0,1]
	Wrong        int      `yaml:"wrong"`        // wrong answers that a question has, 1 to 1000
	Seed         uint64   `yaml:"seed"`         // of the member
	Study        uint64   `yaml:"study"`        // of what members share: difficulties, wrong answers, shared luck
}

var simulatedProvider = Provider{
	Entry: synod.Entry{Name: "simulated", Summary: "a documented stochastic member, for research; always labelled as such"},
	About: `ability       share of questions it gets right alone
spread        of the questions' difficulty, in logits
skill         gap between its scores of right and wrong; by default that of a judge who compares with its own solution
noise         standard deviation of a score
stubbornness  chance to keep its answer whatever it is shown
sharpness     how much better scores weigh more when it refines
correlation   chance that its luck is the whole study's, so that members err together
wrong         wrong answers that a question has
seed, study   of the member, and of what members share`,
	Settings: func() any { return &SimulatedConfig{} },
	Open: func(o Opening) (Opened, error) {
		c := NewSimulatedConfig()
		if err := o.Decode(&c); err != nil {
			return Opened{}, err
		}
		m, err := NewSimulated(c, o.Env.Truth)
		if err != nil {
			return Opened{}, err
		}
		return Opened{Model: m}, nil
	},
}

// NewSimulatedConfig returns the defaults.
func NewSimulatedConfig() SimulatedConfig {
	return SimulatedConfig{Ability: 0.7, Spread: 1, Noise: 0.15, Stubbornness: 0.3, Sharpness: 4, Wrong: 4}
}

// Validate reports the first parameter that is out of its range.
func (c SimulatedConfig) Validate() error {
	for _, p := range []struct {
		name     string
		v        float64
		low, top float64
	}{
		{"ability", c.Ability, 0, 1}, {"spread", c.Spread, 0, 10}, {"noise", c.Noise, 0, 1},
		{"stubbornness", c.Stubbornness, 0, 1}, {"correlation", c.Correlation, 0, 1}, {"skill", c.skill(), -1, 1},
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

// skill is by default that of a judge who solves the question itself and compares:
// a right candidate meets its own answer as often as it is right, a wrong one as
// often as it makes that mistake.
func (c SimulatedConfig) skill() float64 {
	if c.Skill != nil {
		return *c.Skill
	}
	return math.Max(0, c.Ability-(1-c.Ability)/float64(max(c.Wrong, 1)))
}

// Truth gives the right answer to a question, canonical, or None where it is not
// known. Only the simulation may see it.
type Truth func(q *synod.Question) synod.Answer

// simulated is a simulated member: a documented stochastic model of a language model,
// for research at scale. It acts on the typed prompt and reads no text.
//
// Its reply is a function of its configuration, the asking seat, the repeat, the
// question and the prompt, the prompt's seed included. Where Truth does not know
// a question, "What is 17 + 25?" is computed, and any other question gets a truth
// made from its hash: what such a council says about the world is meaningless, and
// every output labels it simulated.
type simulated struct {
	cfg          SimulatedConfig
	truth        Truth
	lean         float64 // b
	right, wrong float64 // mean scores
	items        [64]slot
	info         Info
}

// NewSimulated makes a simulated member. truth may be nil.
func NewSimulated(c SimulatedConfig, truth Truth) (*simulated, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	skill := c.skill()
	d := &simulated{cfg: c, truth: truth, lean: lean(c.Ability, c.Spread), right: (1 + skill) / 2, wrong: (1 - skill) / 2}
	d.info = Info{Kind: Simulated, Name: fmt.Sprintf("dice ability %v", c.Ability)}
	c.Skill = nil // a pointer has no meaning in an identity
	d.info.Identity = fmt.Sprintf("simulated v1 %+v skill=%v", c, skill)
	return d, nil
}

// Info labels the member as simulated.
func (d *simulated) Info() Info { return d.info }

// CanWeigh reports that it answers Weighing: with the logarithm of a score.
func (d *simulated) CanWeigh() bool { return true }

// CanConfide reports that a hidden confidence can be simulated.
func (d *simulated) CanConfide() bool { return true }

// Complete rolls the dice. It never fails, but for a purpose it does not know.
func (d *simulated) Complete(_ context.Context, r Request) (synod.Reply, error) {
	p := r.Prompt
	it := d.item(p.Question)
	roll := d.roll(r, it)
	reply := synod.Reply{Status: synod.OK, Typed: true, Calls: 1}
	switch p.Purpose {
	case synod.Answering:
		reply.Answer = d.answer(it, &roll, uint64(r.Sample))
	case synod.Scoring:
		reply.Value = d.score(it, p.Candidate, &roll)
	case synod.Weighing:
		reply.Value = math.Log(math.Max(d.score(it, p.Candidate, &roll), 0.001))
	case synod.Refining:
		reply.Answer = d.refine(it, p, &roll)
	default:
		detail, ok := p.Detail.(synod.Simulable)
		if !ok {
			return failed(synod.Reply{}, &Failure{Status: synod.Unavailable, Err: errPurpose})
		}
		reply = detail.Simulate(p, synod.Simulation{
			Ability: d.cfg.Ability, Noise: d.cfg.Noise, Stubbornness: d.cfg.Stubbornness, Sharpness: d.cfg.Sharpness,
			Score: func(a synod.Answer) float64 { return d.score(it, a, &roll) },
			Rand:  rand.New(&roll),
		})
		reply.Calls = 1
	}
	if reply.Answer != synod.None && p.Confide != synod.ConfideNothing {
		sure := min(d.score(it, reply.Answer, &roll), 0.99)
		reply.Confidence = &sure
	}
	return reply, nil
}

var errPurpose = errors.New("this kind of member does not know what the prompt is for")

// roll starts the chance of one reply from all that it may depend on.
func (d *simulated) roll(r Request, it *item) dice {
	p := r.Prompt
	h := mix(d.cfg.Seed ^ it.hash)
	h = mix(h ^ p.Seed ^ uint64(r.Sample)<<48 ^ uint64(len(p.Purpose))<<40)
	h = hashString(h, r.Seat)
	h = hashString(h, string(p.Candidate))
	h = hashString(h, string(p.Own))
	for i := range p.Peers {
		h = hashString(h^math.Float64bits(float64(p.Peers[i].Score)), string(p.Peers[i].Answer))
	}
	return dice(h)
}

func (d *simulated) answer(it *item, roll *dice, sample uint64) synod.Answer {
	luck, shared := roll.uniform(), roll.uniform() < d.cfg.Correlation
	if shared {
		study := dice(mix(it.hash ^ sample ^ 0x10c4))
		luck = study.uniform()
	}
	switch {
	case luck < it.chance:
		return it.truth
	case shared:
		return it.wrong[0]
	}
	return it.wrong[roll.next()%uint64(len(it.wrong))]
}

func (d *simulated) score(it *item, candidate synod.Answer, roll *dice) float64 {
	mean := d.wrong
	if candidate == it.truth {
		mean = d.right
	}
	return min(max(mean+d.cfg.Noise*roll.normal(), 0), 1)
}
