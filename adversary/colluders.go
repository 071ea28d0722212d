package adversary

import (
	"hash/fnv"
	"math"

	"synod.dev/synod"
	"synod.dev/synod/llm/read"
	"synod.dev/synod/protocol/grade"
)

var squatterEntry = Entry{
	Entry: synod.Entry{Name: "position-squatter", Summary: "a wrong answer from the seat that lists show first"},
	Facts: Facts{Number: 28, Place: AtSeat, Model: Restricted, Where: synod.With(synod.Reasons, synod.Lists),
		Defence: "one answer in each call of a judge; lists in the order of scores (sac); in debate an order that " +
			"each reader draws (order), which only makes no seat better than another", Kind: Deterministic,
		Source: "position bias of judges: Wang et al. 2023, arXiv 2305.17926"},
	About: `Sends another answer than its model's in every round and nothing beside it. Give it the
first seat: without the defence order, lists of answers are in the order of seats, and many models
prefer what comes first.

answer  its answer; by default another than its model's`,
	New: func(params map[string]any) (Adversary, error) {
		var given answerParams
		err := decode(params, &given)
		return squatter{given.Answer}, err
	},
	Params: func() any { return &answerParams{} },
}

type answerParams struct {
	Answer string `yaml:"answer" doc:"its answer; default: another than its model's" example:"1776"`
}

type squatter struct{ answer string }

func (squatter) Steady() bool { return true }

func (a squatter) Corrupt(seat synod.Seat, honest synod.Machine) synod.Machine {
	m, mine := firstAnswer(&seat, honest)
	keep := m.Replace
	m.Replace = func(p *synod.Prompt, r *synod.Reply) *synod.Reply {
		if *mine != synod.None || p.Purpose != synod.Answering {
			return r
		}
		if keep(p, r); *mine == synod.None {
			return r
		}
		if *mine = other(seat.Question, *mine); a.answer != "" {
			*mine = canonical(seat.Question, a.answer)
		}
		forged := *r // with the model's cost
		forged.Typed, forged.Answer, forged.Text = true, *mine, ""
		return &forged
	}
	return certainly(m, &seat, mine)
}

var clonesEntry = Entry{
	Entry: synod.Entry{Name: "sybil-clones", Summary: "several seats of one operator that give one invented answer"},
	Facts: Facts{Place: AtSeat, Model: Restricted, Where: counting,
		Defence: "F at least the number of clones; a rule that needs more votes than they have", Kind: Deterministic,
		Source: "Douceur 2002, The Sybil Attack"},
	About: `Gives an invented answer that depends on the question only, so that all seats which have
this adversary agree without a message, claims confidence 1.0 and never calls a model.

answer  its answer instead`,
	New: func(params map[string]any) (Adversary, error) {
		var a clones
		err := decode(params, &a.invention)
		return a, err
	},
	Params: func() any { return &invention{} },
}

type clones struct{ invention }

func (clones) Steady() bool { return true }

func (a clones) Corrupt(seat synod.Seat, honest synod.Machine) synod.Machine {
	h := fnv.New64a()
	h.Write([]byte(seat.Question.ID + "\x00" + seat.Question.Text))
	seat.Seed = h.Sum64()
	return &certain{honest: &PromptAnswerer{Honest: honest, Answer: (&believer{mine: a.choose(seat)}).reply},
		question: seat.Question, mine: new(a.choose(seat))}
}

var labourEntry = Entry{
	Entry: synod.Entry{Name: "division-of-labour", Summary: "one member proposes a wrong answer, the others support " +
		"it"},
	Facts: Facts{Place: AtSeat, Model: Restricted, Where: reasoning,
		Defence: "F at least the number of colluders; median-total; support rule",
		Kind:    Deterministic, Source: "own"},
	About: `The favoured seat, if it has this adversary too, proposes as persuader does. The others
answer honestly at first, give its answer the best judgement and all others the worst, as
cartel does, and take it over as soon as they are shown it.

favours  as for cartel; by default the first seat that has this adversary`,
	New: func(params map[string]any) (Adversary, error) {
		var given labourParams
		err := decode(params, &given)
		return labour{cartel{seatNames(given.Favours)}}, err
	},
	Params: func() any { return &labourParams{} },
}

type labourParams struct {
	Favours any `yaml:"favours" doc:"id or index of the seat that proposes; default: the first that has this adversary" example:"w1"`
}

type labour struct{ cartel }

func (a labour) Found(seat func(string) (synod.NodeID, error)) (Adversary, error) {
	found, err := a.cartel.Found(seat)
	if err != nil {
		return nil, err
	}
	return labour{found.(cartel)}, nil
}

// Among favours the first of the seats if no other was named.
func (a labour) Among(seats []synod.NodeID) Adversary {
	if len(a.favours) == 0 && len(seats) > 0 {
		a.favours = []seatName{{id: seats[0], known: true}}
	}
	return a
}

func (a labour) Corrupt(seat synod.Seat, honest synod.Machine) synod.Machine {
	if a.favourite(seat) == seat.Self {
		return persuader{}.Corrupt(seat, honest)
	}
	m := &cartelMachine{favourite: a.favourite(seat)}
	m.PromptAnswerer = PromptAnswerer{Honest: honest, Replace: func(p *synod.Prompt, r *synod.Reply) *synod.Reply {
		if p.Purpose != synod.Refining {
			return m.judge(p, r)
		}
		for _, peer := range p.Peers {
			if m.favoured(peer.Answer) || m.favoured(synod.Answer(p.Spelled(peer.Answer))) {
				return Believer(p, peer.Answer)
			}
		}
		return r
	}}
	return m
}

var littleEntry = Entry{
	Entry: synod.Entry{Name: "little-is-enough",
		Summary: "moves its judgements a little, always for one seat, within the spread of honest ones"},
	Facts: Facts{Number: 26, Place: AtSeat, Model: Restricted, Where: grading,
		Defence: "median-total: an aggregate stays in the range of honest judgements; the margin in the certificate",
		Kind:    Statistical, Source: "Baruch et al. 2019 (ALIE), arXiv 1902.06156"},
	About: `Judges as its model does, and then moves the judgement of the favoured seat's answer up and
those of all others down by a share of the scale that honest judges differ by anyway. No
single judgement of it is conspicuous.

favours  as for cartel
by       how far it moves a judgement, as a share of the scale (0.15)`,
	New: func(params map[string]any) (Adversary, error) {
		given := littleParams{By: 0.15}
		err := decode(params, &given)
		return little{cartel{seatNames(given.Favours)}, given.By}, err
	},
	Params: func() any { return &littleParams{By: 0.15} },
}

type littleParams struct {
	Favours any     `yaml:"favours" doc:"id or index of the favoured seat; default: the last of another role, or neighbour" example:"w1"`
	By      float64 `yaml:"by" doc:"how far it moves a judgement, as a share of the scale" range:"0:1"`
}

type little struct {
	cartel
	by float64
}

func (a little) Found(seat func(string) (synod.NodeID, error)) (Adversary, error) {
	found, err := a.cartel.Found(seat)
	if err != nil {
		return nil, err
	}
	return little{found.(cartel), a.by}, nil
}

func (a little) Corrupt(seat synod.Seat, honest synod.Machine) synod.Machine {
	m := &cartelMachine{favourite: a.favourite(seat)}
	m.PromptAnswerer = PromptAnswerer{Honest: honest, Replace: func(p *synod.Prompt, r *synod.Reply) *synod.Reply {
		return moved(p, r, func(of synod.Answer, judgement float64) float64 {
			by := a.by
			if !m.favoured(of) && !m.favoured(synod.Answer(p.Spelled(of))) {
				by = -by
			}
			return min(max(judgement+by, 0), 1)
		})
	}}
	return m
}

// moved changes the judgements of a reply, each as a share of its scale, and returns every other reply
// unchanged. Grades stay whole numbers.
func moved(p *synod.Prompt, r *synod.Reply, move func(of synod.Answer, judgement float64) float64) *synod.Reply {
	reply := *r // with the model's cost
	regrade := func(of synod.Answer, g grade.Grades) grade.Grades {
		for i := range g {
			g[i] = math.Round(grade.Max * move(of, g[i]/grade.Max))
		}
		return g
	}
	switch p.Purpose {
	case grade.One:
		g, err := grade.Read(r)
		if err != nil {
			return r
		}
		reply.Text = regrade(p.Candidate, g).Text()
	case grade.All:
		all, err := grade.ReadAll(r, len(p.Peers))
		if err != nil {
			return r
		}
		for i := range all {
			all[i] = regrade(p.Peers[i].Answer, all[i])
		}
		reply.Text = grade.TextOfAll(all)
	case synod.Scoring:
		s, ok := read.Score(r, p.Exact)
		if !ok {
			return r
		}
		reply.Typed, reply.Value = true, move(p.Candidate, float64(s))
	case synod.Weighing:
		if r.Status != synod.OK || !r.Typed || !(r.Value <= 0) {
			return r
		}
		reply.Value = max(math.Log(move(p.Candidate, math.Exp(r.Value))), leastLikely)
	default:
		return r
	}
	return &reply
}
