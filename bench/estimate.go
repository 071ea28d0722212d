package bench

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strconv"

	"synod.dev/synod"
	"synod.dev/synod/core/journal"
	"synod.dev/synod/council"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/llm"
	"synod.dev/synod/llm/prompt"
	"synod.dev/synod/protocol/bargain"
)

// Amount is a number of calls and tokens, and their price.
type Amount struct {
	Calls      int       `json:"calls"`
	Prompt     int       `json:"prompt_tokens"`
	Completion int       `json:"completion_tokens"`
	Cost       *llm.Cost `json:"cost"` // null if a price is unknown
	Money      llm.Money `json:"money"`
}

// CostEstimate is the cost of a whole run. In Low, all members agree from the start or, in
// a game, adopt the values of others at once. In Expected, members are right in 70 of
// 100 questions. Both are simulated on some of the questions, with the prompts that the
// real members would get. Worst is every planned call with the longest prompt of the
// simulation and the longest reply that the model may give, and where members get a second chance, each of these calls
// again with that reply in its prompt. Retries are not included.
type CostEstimate struct {
	Questions int    `json:"questions"`
	Low       Amount `json:"low"`
	Expected  Amount `json:"expected"`
	Worst     Amount `json:"worst"`
}

// Assumptions of an estimate.
const (
	played        = 20 // questions to simulate at most
	shortReply    = 10 // tokens of a reply, as are the next three
	usualReply    = 150
	usualScore    = 30
	longestReply  = 1000
	charsPerToken = 4
)

// Estimate simulates the council of the run. It asks no model.
func (r *Run) Estimate(ctx context.Context) (*CostEstimate, error) {
	spec, err := plan.ParseRecord([]byte(r.Council))
	if err != nil {
		return nil, err
	}
	p, err := plan.New(spec)
	if err != nil {
		return nil, err
	}
	x := &estimator{r, spec, p.Templates(), func(seat int) bool { return plan.Rereads(p, seat) }}
	e := &CostEstimate{Questions: r.total()}
	longest := 0
	var low, expected []llm.Use
	for _, m := range []struct {
		into    *[]llm.Use
		members plan.Params
		answer  int
		score   int
	}{
		{&low, plan.Params{"provider": "simulated", "ability": 1.0, "skill": 1.0, "noise": 0.0, "stubbornness": 0.0},
			shortReply, shortReply},
		{&expected, plan.Params{"provider": "simulated"}, usualReply, usualScore},
	} {
		seen, most, err := x.play(ctx, m.members)
		if err != nil {
			return nil, err
		}
		*m.into, longest = x.scale(seen, m.answer, m.score), max(longest, most)
		e.Worst = x.worst(seen, longest)
	}
	for i, u := range expected { // without reuse, agreement can cost more tokens than disagreement
		low[i].Calls, low[i].Prompt, low[i].Completion = min(low[i].Calls, u.Calls), min(low[i].Prompt, u.Prompt),
			min(low[i].Completion, u.Completion)
	}
	e.Low, e.Expected = x.amount(low), x.amount(expected)
	return e, nil
}

// estimator simulates a run whose council has been read.
type estimator struct {
	*Run
	spec      plan.Spec
	templates *prompt.Templates
	rereads   func(seat int) bool // the seat gets second chances
}

// use counts the calls and prompt tokens of the simulated questions.
type use struct {
	questions int
	seats     []seatUse
}

type seatUse struct{ answers, scores, prompt int }

// scale extrapolates the use of some questions to the whole run.
func (x *estimator) scale(u use, answer, score int) []llm.Use {
	whole := func(n int) int { return (n*x.total() + u.questions - 1) / u.questions }
	uses := x.uses()
	for i, s := range u.seats {
		uses[i].Calls = whole(s.answers + s.scores)
		most := longestOf(x.spec.Models[x.Seats[i].Model])
		uses[i].Prompt, uses[i].Completion = whole(s.prompt),
			whole(s.answers*min(answer, most)+s.scores*min(score, most))
	}
	return uses
}

// worst distributes all planned calls over the seats like the simulated calls. A seat that gets a second chance makes
// each of them twice.
func (x *estimator) worst(u use, longest int) Amount {
	all := 0
	for _, s := range u.seats {
		all += s.answers + s.scores
	}
	uses, planned, seen := x.uses(), x.Planned*x.total(), 0
	for i, s := range u.seats {
		before := planned * seen / max(all, 1)
		seen += s.answers + s.scores
		calls := planned*seen/max(all, 1) - before
		reply := longestOf(x.spec.Models[x.Seats[i].Model])
		uses[i].Calls, uses[i].Prompt, uses[i].Completion = calls, calls*longest, calls*reply
		if x.rereads(i) {
			uses[i].Calls, uses[i].Prompt, uses[i].Completion = 2*calls, calls*(2*longest+reply), 2*calls*reply
		}
	}
	return x.amount(uses)
}

// longestOf returns the maximum number of tokens in a reply of a model.
func longestOf(model plan.Params) int {
	n, err := strconv.Atoi(fmt.Sprint(model["max_tokens"]))
	if err != nil || n <= 0 {
		return longestReply
	}
	return n
}

func (x *estimator) amount(uses []llm.Use) Amount {
	a := Amount{Money: x.prices().Bill(uses)}
	for _, u := range uses {
		a.Calls, a.Prompt, a.Completion = a.Calls+u.Calls, a.Prompt+u.Prompt, a.Completion+u.Completion
	}
	a.Cost = a.Money.Cost()
	return a
}

// play simulates some questions with the given members. It returns their use and the
// longest prompt in tokens.
func (x *estimator) play(ctx context.Context, members plan.Params) (u use, longest int, err error) {
	spec := x.spec
	spec.Models = maps.Clone(spec.Models)
	for name := range spec.Models {
		spec.Models[name] = members
	}
	spec.Limits, u.seats = plan.Limits{}, make([]seatUse, len(x.Seats))
	c, err := council.Convene(spec, llm.Env{Truth: x.truth()})
	if err != nil {
		return u, 0, err
	}
	defer c.Close()
	dir, err := os.MkdirTemp("", "synod-estimate-")
	if err != nil {
		return u, 0, fmt.Errorf("bench: %w", err)
	}
	defer os.RemoveAll(dir)
	for u.questions = 0; u.questions < min(played, x.N); u.questions++ {
		path := filepath.Join(dir, fmt.Sprint(u.questions))
		j := job{item: u.questions * x.N / min(played, x.N)}
		if _, err := c.Decide(ctx, council.Ask{Question: x.Items[j.item].Question, Seed: x.seed(j),
			Journal: path}); err != nil {
			return u, 0, err
		}
		run, err := journal.Load(path)
		if err != nil {
			return u, 0, err
		}
		for _, asked := range run.Asked() {
			n := tokens(x.templates, asked.Prompt)
			seat := &u.seats[asked.Node]
			seat.prompt, longest = seat.prompt+n, max(longest, n)
			switch asked.Prompt.Purpose {
			case synod.Answering, synod.Refining, bargain.Proposing:
				seat.answers++
			default:
				seat.scores++
			}
		}
	}
	return u, longest, ctx.Err()
}

// tokens estimates the length of a prompt in tokens. Prompts that are scored by
// likelihood are not rendered; they are about as long as question and candidate.
func tokens(templates *prompt.Templates, p *synod.Prompt) int {
	chat, err := templates.Render(p)
	if err != nil {
		return (len(p.Question.Text) + len(p.Candidate)) / charsPerToken
	}
	chat.Completion = "" // endpoints, which cost something, get none
	return chat.Size() / charsPerToken
}
