package computed

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"

	"synod.dev/synod"
	"synod.dev/synod/adversary"
	"synod.dev/synod/bench/metrics"
	"synod.dev/synod/bench/report"
	"synod.dev/synod/core/reliability"
	"synod.dev/synod/core/robust"
	"synod.dev/synod/core/script"
	"synod.dev/synod/llm"
	"synod.dev/synod/protocol/cascade"
)

// recordedCouncil plays the first answers of recorded replies: what cascade, votes and single members decide, with
// members that collude. Each split draws the members, and half of the questions as the history from which weights
// are learned without labels; figures are about the other half.
type recordedCouncil struct {
	Path    string  `yaml:"path" doc:"file of recorded replies, with the answers of all models to all questions; absent: simulated answers"`
	Members int     `yaml:"members" doc:"members of the council, adversaries included" range:"1:50"`
	F       int     `yaml:"f" doc:"the bound F" range:"0:24"`
	Attack  string  `yaml:"attack" doc:"what the adversaries do" enum:"lie|copy|replay"`
	B       int     `yaml:"b" doc:"adversaries, in the place of the last members drawn" range:"0:24"`
	Method  string  `yaml:"method" doc:"what decides" enum:"cascade|certain|plurality|weighted|best|bound"`
	P       float64 `yaml:"p" doc:"p of cascade" range:"0.5:0.999999"`
	Splits  int     `yaml:"splits" doc:"random splits" range:"2:1000"`
}

// The attacks. All adversaries of a council do the same.
const (
	lie    = "lie"    // always the wrong answer that most honest members gave
	copies = "copy"   // the answer of the member that is best in the history; lie in the test
	replay = "replay" // one answer to every question
)

// replayed is what the adversaries of the attack replay say, in the form of the questions.
var replayed = map[bool]synod.Answer{true: "I", false: "1776"}

// traces is the recorded answers of one file.
type traces struct {
	digest    string
	models    []string
	questions []traced
	choice    bool
}

// traced is the answers to one question, by model.
type traced struct {
	id      string
	gold    synod.Answer
	answers []synod.Answer
}

// Figures returns, as means over the splits: accuracy (questions decided rightly), wrong (decided wrongly),
// undecided, calls (share of the first answers of all members that were asked), and ignored and changed (what
// decisions withstand).
func (c *recordedCouncil) Figures(w *Work, t Trials) (how string, of Compute, err error) {
	data, err := c.data(t.Seed)
	if err != nil {
		return "", nil, err
	}
	if c.B >= c.Members || c.Members > len(data.models) || c.Members < 2*c.F+1 {
		return "", nil, fmt.Errorf("members is %d, f %d and b %d: there must be more members than adversaries, "+
			"at most %d, and "+
			"at least 2f+1", c.Members, c.F, c.B, len(data.models))
	}
	splits := c.Splits * max(t.Repeat, 1)
	how = fmt.Sprintf("first answers (recorded replies of sha256 %s), %d random splits into history and test, seed %d",
		data.digest, splits, t.Seed)
	shared := *c
	shared.Method = ""
	key := fmt.Sprint(shared, data.digest, splits, t.Seed)
	w.lock.Lock()
	defer w.lock.Unlock()
	if w.played == nil {
		w.played = map[string]func() map[string]*tallies{}
	}
	if w.played[key] == nil {
		w.played[key] = sync.OnceValue(func() map[string]*tallies { return shared.play(data, splits, t.Seed) })
	}
	played := w.played[key]
	return how, func(context.Context) (*report.Figures, error) { return played()[c.Method].figures(), nil }, nil
}

// data returns the recorded answers, or simulated ones.
func (c *recordedCouncil) data(seed uint64) (*traces, error) {
	if c.Path == "" {
		return drawTraces(seed)
	}
	return readTraces(c.Path)
}

// drawTraces returns the answers of eleven simulated members, with abilities like those of the models in the recording
// of MMLU-Pro, which err independently, to 200 questions with four wrong answers each.
func drawTraces(seed uint64) (*traces, error) {
	d := &traces{digest: fmt.Sprintf("none: simulated with seed %d", seed)}
	right := func(*synod.Question) synod.Answer { return "0" }
	var members []llm.Model
	for i := range 11 {
		settings := llm.NewSimulatedConfig()
		settings.Ability, settings.Spread, settings.Seed = 0.75-0.04*float64(i), 0, script.Derive(seed, uint64(i))
		m, err := llm.NewSimulated(settings, right)
		if err != nil {
			return nil, err
		}
		members, d.models = append(members, m), append(d.models, fmt.Sprintf("simulated-%02d", i))
	}
	for q := range 200 {
		one := traced{id: fmt.Sprint(q), gold: "0"}
		question := &synod.Question{ID: one.id, Text: one.id, Form: synod.Number}
		for i, m := range members {
			reply, err := m.Complete(context.Background(), llm.Request{Seat: d.models[i],
				Prompt: &synod.Prompt{Purpose: synod.Answering, Question: question}})
			if err != nil {
				return nil, err
			}
			one.answers = append(one.answers, reply.Answer)
		}
		d.questions = append(d.questions, one)
	}
	return d, nil
}

// readTraces reads a file of recorded replies. Questions that some model has not answered are left out.
func readTraces(path string) (*traces, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("recorded replies: %w", err)
	}
	sum := sha256.Sum256(b)
	d := &traces{digest: fmt.Sprintf("%x", sum[:6])}
	var rows []traceRow
	lines := bufio.NewScanner(bytes.NewReader(b))
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var r traceRow
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			return nil, fmt.Errorf("recorded replies: %s: %w", path, err)
		}
		rows = append(rows, r)
		d.models = append(d.models, r.Model)
	}
	slices.Sort(d.models)
	d.models = slices.Compact(d.models)
	byID := map[string]int{}
	for _, r := range rows {
		id := string(r.Item)
		k, known := byID[id]
		if !known {
			k, byID[id] = len(d.questions), len(d.questions)
			d.questions = append(d.questions, traced{id: id, gold: plainAnswer(r.Gold),
				answers: make([]synod.Answer, len(d.models))})
		}
		i, _ := slices.BinarySearch(d.models, r.Model)
		d.questions[k].answers[i] = plainAnswer(r.Answer)
		d.choice = d.choice || len(r.Gold) == 1 && r.Gold >= "A" && r.Gold <= "Z"
	}
	return d, lines.Err()
}

// traceRow is what is read of a row; Answer is as the source of the recording extracted it, "" where it could not.
type traceRow struct {
	Item   json.RawMessage `json:"item_id"`
	Model  string          `json:"model"`
	Gold   string          `json:"gold"`
	Answer string          `json:"answer"`
}

func plainAnswer(s string) synod.Answer {
	return synod.Answer(strings.ReplaceAll(strings.TrimSpace(s), ",", ""))
}

// tallies are the figures of one method over the splits.
type tallies struct{ accuracy, wrong, undecided, calls, ignored, changed metrics.Mean }

func (t *tallies) figures() *report.Figures {
	share := func(m *metrics.Mean) *metrics.Rate {
		r := m.Rate()
		r.Count = false
		return r
	}
	f := &report.Figures{Rates: map[string]*metrics.Rate{"accuracy": share(&t.accuracy), "wrong": share(&t.wrong),
		"undecided": share(&t.undecided), "calls": share(&t.calls)}}
	if r := t.ignored.Rate(); r != nil {
		f.Rates["ignored"], f.Rates["changed"] = r, t.changed.Rate()
	}
	return f
}

var methods = []string{"cascade", "certain", "plurality", "weighted", "best", "bound"}

// play plays all splits with every method.
func (c *recordedCouncil) play(d *traces, splits int, seed uint64) map[string]*tallies {
	all := map[string]*tallies{}
	for _, m := range methods {
		all[m] = &tallies{}
	}
	for s := range splits {
		p := c.divide(d, rand.New(rand.NewPCG(seed, uint64(s)))) // the same for every attack and bound
		for _, m := range methods {
			p.measure(m, all[m])
		}
	}
	return all
}

// divide draws members and questions, and learns from the history.
func (c *recordedCouncil) divide(d *traces, chance *rand.Rand) *division {
	members := chance.Perm(len(d.models))[:c.Members]
	order := chance.Perm(len(d.questions))
	p := &division{recordedCouncil: c, traces: d, honest: members[:c.Members-c.B]}
	p.history, p.test = order[:len(order)/2], order[len(order)/2:]
	p.learn()
	return p
}

// division is one division of the questions and the models.
type division struct {
	*recordedCouncil
	*traces
	honest        []int // models
	history, test []int
	best          int // the honest model that is best in the history
	cascade       *cascade.Cascade
	weights       []float64 // without a cap
}

// answers returns the first answers to a question, by seat: the honest members', then the adversaries'.
func (p *division) answers(q int, history bool) []synod.Answer {
	one := &p.questions[q]
	all := make([]synod.Answer, 0, p.Members)
	for _, m := range p.honest {
		all = append(all, one.answers[m])
	}
	said := replayed[p.choice]
	switch {
	case p.Attack == copies && history:
		said = one.answers[p.best]
	case p.Attack == lie, p.Attack == copies:
		said = favourite(all, one.gold, p.choice)
	}
	return append(all, slices.Repeat([]synod.Answer{said}, p.B)...)
}

// favourite returns the wrong answer that most honest members gave; the first by its bytes of several, and any
// wrong one if all are right.
func favourite(honest []synod.Answer, gold synod.Answer, choice bool) synod.Answer {
	best := adversary.Favourite(honest, gold)
	for _, a := range []synod.Answer{"A", "B"} {
		if best == synod.None && choice && a != gold {
			best = a
		}
	}
	return cmp.Or(best, "-1")
}

// learn estimates weights from the history, without the gold answers.
func (p *division) learn() {
	p.best = p.honest[0]
	right := func(m int, questions []int) (n int) {
		for _, q := range questions {
			if p.questions[q].answers[m] == p.questions[q].gold {
				n++
			}
		}
		return n
	}
	for _, m := range p.honest {
		if right(m, p.history) > right(p.best, p.history) {
			p.best = m
		}
	}
	names := make([]string, p.Members)
	for i := range names {
		names[i] = fmt.Sprintf("%02d", i)
	}
	var seen []reliability.Observation
	for _, q := range p.history {
		for i, a := range p.answers(q, true) {
			seen = append(seen, reliability.Observation{Question: p.questions[q].id, Kind: string(synod.Text),
				Member: names[i], Answer: string(a)})
		}
	}
	e := reliability.Estimate(seen, string(synod.Text), p.F)
	p.weights = reliability.Estimate(seen, string(synod.Text), 0).Weights(names)
	p.cascade = cascade.New()
	p.cascade.P, p.cascade.Weights = p.P, map[string][]float64{string(synod.Text): e.Weights(names)}
	for _, pair := range e.Pairs {
		if pair.Together {
			p.cascade.Together = append(p.cascade.Together, [2]synod.NodeID{synod.NodeID(slices.Index(names, pair.A)),
				synod.NodeID(slices.Index(names, pair.B))})
		}
	}
}

// outcome is the decision of a method on a question.
type outcome struct {
	answer synod.Answer
	asked  int
	stands *robust.Withstood
}

// measure adds the mean of a method over the test questions.
func (p *division) measure(method string, t *tallies) {
	right, wrong, asked, ignored, changed, known := 0, 0, 0, 0, 0, 0
	best := p.bestInHindsight()
	for _, q := range p.test {
		o := p.decide(method, q, best)
		switch o.answer {
		case synod.None:
		case p.questions[q].gold:
			right++
		default:
			wrong++
		}
		asked += o.asked
		if o.stands != nil {
			ignored, changed, known = ignored+o.stands.Ignored, changed+o.stands.Changed, known+1
		}
	}
	n := float64(len(p.test))
	t.accuracy.Add(float64(right) / n)
	t.wrong.Add(float64(wrong) / n)
	t.undecided.Add(1 - float64(right+wrong)/n)
	t.calls.Add(float64(asked) / n / float64(p.Members))
	if known > 0 {
		t.ignored.Add(float64(ignored) / float64(known))
		t.changed.Add(float64(changed) / float64(known))
	}
}

// bestInHindsight returns the honest model with the most right answers in the test.
func (p *division) bestInHindsight() int {
	best, most := p.honest[0], -1
	for _, m := range p.honest {
		n := 0
		for _, q := range p.test {
			if p.questions[q].answers[m] == p.questions[q].gold {
				n++
			}
		}
		if n > most {
			best, most = m, n
		}
	}
	return best
}

func (p *division) decide(method string, q, best int) outcome {
	first := p.answers(q, false)
	switch method {
	case "best":
		return outcome{answer: p.questions[q].answers[best], asked: 1}
	case "plurality":
		return vote(first, slices.Repeat([]float64{1}, len(first)))
	case "weighted":
		return vote(first, p.weights)
	case "bound":
		return p.bound(q, first)
	}
	c := *p.cascade
	if method == "certain" {
		c.Stop = cascade.Certain
	}
	d := c.Recorded(&synod.Question{ID: p.questions[q].id, Form: synod.Text}, first, p.F)
	return outcome{d.Answer, d.Asked, d.Withstands}
}

// bound is the decision of somebody who knows the right answer, and may decide it only with more than F supporters, as
// cascade may: no rule of that kind decides more questions rightly. It asks as few members as such a decision needs.
func (p *division) bound(q int, first []synod.Answer) outcome {
	supporters := 0
	for _, a := range first {
		if a == p.questions[q].gold {
			supporters++
		}
	}
	if supporters <= p.F {
		return outcome{asked: p.F + 1}
	}
	return outcome{answer: p.questions[q].gold, asked: p.F + 1}
}

// vote is the plurality of weights; a tie has no answer.
func vote(first []synod.Answer, weights []float64) outcome {
	o := outcome{asked: len(first)}
	voices := make([]robust.Voice, len(first))
	for i, a := range first {
		voices[i] = robust.Voice{Answer: a, Weight: reliability.Whole(weights[i])}
	}
	for _, a := range first {
		if w, wins := robust.Withstands(robust.VoteRule{Name: robust.Plurality}, voices, a); wins {
			o.answer, o.stands = a, &w
			break
		}
	}
	return o
}
