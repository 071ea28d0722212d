package computed

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"synod.dev/synod"
	"synod.dev/synod/adversary"
	"synod.dev/synod/bench/metrics"
	"synod.dev/synod/bench/report"
	"synod.dev/synod/core/reliability"
	"synod.dev/synod/protocol/cascade"
)

// trustAttacks plays liars that poison the history from which cascade learns weights, on recorded votes of real models:
// casts of models of different makers, of whose seats the last Liars are the liars'. Weights are learned without labels
// from the first half of the questions, of which every member answers all, and from the audits of the second half, on
// which the figures are measured.
type trustAttacks struct {
	Folder  string  `yaml:"folder" doc:"folder of the recorded votes, SET.jsonl.gz"`
	Set     string  `yaml:"set" doc:"the set of questions" enum:"gsm8k|math-l5|crux|mmlu-pro"`
	Members int     `yaml:"members" doc:"seats of a cast, those of the liars included" range:"3:50"`
	F       int     `yaml:"f" doc:"the bound F" range:"0:24"`
	Liar    string  `yaml:"liar" doc:"what the liars do" enum:"none|follow-defect|copy-defect|lie-to-win|constant|abstain|turns"`
	Liars   int     `yaml:"liars" doc:"liars among the members" range:"0:24"`
	Casts   int     `yaml:"casts" doc:"casts that are drawn" range:"1:1000"`
	Most    int     `yaml:"most" doc:"questions of a cast at most, half of them history" range:"20:100000"`
	Audit   float64 `yaml:"audit" doc:"share of the questions that ask every member" range:"0:1"`
	Course  bool    `yaml:"course" doc:"there is no history: all weights are learned from audits, and the figures compare the thirds"`
}

func newTrustAttacks() *trustAttacks {
	return &trustAttacks{Members: 7, F: 1, Liar: noLiar, Casts: 40, Most: 600, Audit: 0.1}
}

// trustMethods are what decides.
var trustMethods = []string{"cascade", "plurality", "weighted-majority", "single"}

// Figures returns, as means over the casts, right, wrong, undecided and calls of cascade, how much more often than
// plurality it is right and wrong, in how many casts it is significantly more than four points below plurality, and the
// rows of all methods by cast.
func (c *trustAttacks) Figures(w *Work, t Trials) (how string, of Compute, err error) {
	if (c.Liar == noLiar) != (c.Liars == 0) || c.Liars >= c.Members || c.Members < 2*c.F+1 {
		return "", nil, fmt.Errorf("members is %d, f %d, liar %s and liars %d: there must be more members than liars, "+
			"at least 2f+1, and liars of a kind or none", c.Members, c.F, c.Liar, c.Liars)
	}
	v, how, err := w.votesOf(c.Folder, c.Set, t.Seed)
	if err != nil {
		return "", nil, err
	}
	if _, err := v.drawCast(rand.New(rand.NewPCG(0, 0)), c.Members); err != nil {
		return "", nil, err
	}
	how = fmt.Sprintf("%s, %d casts drawn with seed %d; liars are computed", how, c.Casts, t.Seed)
	return how, func(context.Context) (*report.Figures, error) { return c.play(v, t.Seed) }, nil
}

// play plays all casts, as many at once as there are processors.
func (c *trustAttacks) play(v *votes, seed uint64) (*report.Figures, error) {
	played := make([]*castPlay, c.Casts)
	var wait sync.WaitGroup
	for i := range played {
		wait.Go(func() { played[i] = c.cast(v, i, seed) })
	}
	wait.Wait()
	f := &report.Figures{Rates: map[string]*metrics.Rate{}}
	mean := map[string]*metrics.Mean{}
	add := func(name string, x float64) {
		if mean[name] == nil {
			mean[name] = &metrics.Mean{}
		}
		mean[name].Add(x)
	}
	for i, p := range played {
		rows := p.rows(c, i)
		f.Attacks = append(f.Attacks, rows...)
		own, plural := rows[0], rows[1]
		add("accuracy", own.Right)
		add("wrong", own.Wrong)
		add("undecided", own.Undecided)
		add("calls", own.Calls/float64(c.Members))
		add("right_more", own.Right-plural.Right)
		add("wrong_more", own.Wrong-plural.Wrong)
		add("below", float64(one(own.High < -0.04)))
		for third, name := range []string{"first_third", "second_third", "last_third"} {
			add(name, p.third(third, 0))
			add("plurality_"+name, p.third(third, 1))
		}
	}
	for name, m := range mean {
		f.Rates[name] = m.Rate()
		f.Rates[name].Count = false
	}
	return f, nil
}

// castPlay is the play of one cast.
type castPlay struct {
	*trustAttacks
	votes   *votes
	honest  []int
	asked   []int // questions, in the order in which they are asked
	history int   // how many of them come before the measured ones
	best    int   // the honest member that is best in the history
	chance  *rand.Rand

	names   []string
	seen    []reliability.Observation
	cascade *cascade.Cascade
	weights []float64 // without a cap
	results [][]outcome
}

// cast draws a cast and plays it. The cast and its questions are the same for all liars and bounds.
func (c *trustAttacks) cast(v *votes, i int, seed uint64) *castPlay {
	chance := rand.New(rand.NewPCG(seed, uint64(i)))
	members, _ := v.drawCast(chance, c.Members) // that there are enough makers was checked
	p := &castPlay{trustAttacks: c, votes: v, honest: members[:c.Members-c.Liars], asked: v.of(members), chance: chance}
	chance.Shuffle(len(p.asked), func(i, j int) { p.asked[i], p.asked[j] = p.asked[j], p.asked[i] })
	p.asked = p.asked[:min(len(p.asked), c.Most)]
	if !c.Course {
		p.history = len(p.asked) / 2
	}
	for i := range members {
		p.names = append(p.names, fmt.Sprintf("%02d", i))
	}
	p.best = p.bestIn(p.asked[:max(p.history, len(p.asked)/3)])
	for k := range p.history {
		p.learn(k, p.answers(k, true, false, nil))
	}
	p.fit()
	audits := 0
	for k := p.history; k < len(p.asked); k++ {
		if p.ask(k) {
			if audits++; audits%10 == 0 {
				p.fit()
			}
		}
	}
	return p
}

// bestIn returns which honest member is most often right.
func (p *castPlay) bestIn(questions []int) (best int) {
	most := -1
	for i, m := range p.honest {
		n := 0
		for _, q := range questions {
			n += one(p.votes.questions[q].answers[m] == p.votes.questions[q].gold)
		}
		if n > most {
			best, most = i, n
		}
	}
	return best
}

// answers returns the first answers to question k, by seat. succeeds says whether a lie becomes the decision;
// nil: liars
// ask whether it is the plurality.
func (p *castPlay) answers(k int, history, known bool, succeeds func(first []synod.Answer, lie synod.Answer) bool,
) []synod.Answer {
	q := &p.votes.questions[p.asked[k]]
	var honest []synod.Answer
	for _, m := range p.honest {
		honest = append(honest, q.answers[m])
	}
	if p.Liars == 0 {
		return honest
	}
	s := scene{honest: honest, gold: q.gold, best: p.best, history: history, known: known, round: k,
		choice: p.votes.choice, succeeds: succeeds}
	return append(honest, lies(adversary.Poison(p.Liar), s, p.Liars)...)
}

func (p *castPlay) learn(k int, answers []synod.Answer) {
	for i, a := range answers {
		p.seen = append(p.seen, reliability.Observation{Question: fmt.Sprint(k), Kind: string(synod.Text),
			Member: p.names[i], Answer: string(a)})
	}
}

// fit estimates the weights from what was learned so far, without gold answers.
func (p *castPlay) fit() {
	p.cascade = cascade.New()
	p.weights = slices.Repeat([]float64{1}, p.Members)
	e := reliability.Estimate(p.seen, string(synod.Text), p.F)
	if e == nil {
		return
	}
	p.weights = e.Weights(p.names)
	p.cascade.Weights = map[string][]float64{string(synod.Text): p.weights}
	for _, pair := range e.Pairs {
		if pair.Together {
			p.cascade.Together = append(p.cascade.Together, [2]synod.NodeID{
				synod.NodeID(slices.Index(p.names, pair.A)), synod.NodeID(slices.Index(p.names, pair.B))})
		}
	}
}

// ask plays question k with every method, and reports whether it was audited. Liars choose their answers for each
// method. A liar that is asked in an audit where the decision stands already knows that, and hides.
func (p *castPlay) ask(k int) (audited bool) {
	q := &synod.Question{ID: fmt.Sprint(p.asked[k]), Form: synod.Text}
	first := p.answers(k, false, false, func(first []synod.Answer, lie synod.Answer) bool {
		return p.cascade.Recorded(q, first, p.F).Answer == lie
	})
	d := p.cascade.Recorded(q, first, p.F)
	own := outcome{d.Answer, d.Asked, d.Withstands}
	if audited = p.chance.Float64() < p.Audit; audited {
		own.asked = p.Members
		hidden := p.answers(k, false, true, nil)
		for _, id := range d.Order[d.Asked:] {
			first[id] = hidden[id]
		}
		p.learn(k, first)
	}
	open := p.answers(k, false, false, nil)
	p.results = append(p.results, []outcome{own, vote(open, slices.Repeat([]float64{1}, p.Members)),
		vote(open, p.weights), {answer: p.votes.questions[p.asked[k]].answers[p.honest[p.best]], asked: 1}})
	return audited
}

// right reports whether a method decided the measured question i rightly.
func (p *castPlay) right(i, method int) bool {
	return p.results[i][method].answer == p.votes.questions[p.asked[p.history+i]].gold
}

// third returns the share of right decisions of a method in one of three parts of the measured questions.
func (p *castPlay) third(part, method int) float64 {
	from, to := part*len(p.results)/3, (part+1)*len(p.results)/3
	n := 0
	for i := from; i < to; i++ {
		n += one(p.right(i, method))
	}
	return float64(n) / float64(max(to-from, 1))
}

// rows returns the figures of a cast, one row for each method.
func (p *castPlay) rows(c *trustAttacks, cast int) (rows []report.Attack) {
	n := float64(len(p.results))
	for m, name := range trustMethods {
		r := report.Attack{Set: c.Set, Cast: cast, Members: c.Members, F: c.F, Liar: c.Liar, Liars: c.Liars,
			Protocol: name, Questions: len(p.results)}
		sum, squares := 0.0, 0.0 // of the differences from plurality
		for i, all := range p.results {
			right := one(p.right(i, m))
			difference := float64(right - one(p.right(i, 1)))
			sum, squares = sum+difference, squares+difference*difference
			r.Right += float64(right) / n
			r.Undecided += float64(one(all[m].answer == synod.None)) / n
			r.Calls += float64(all[m].asked) / n
		}
		r.Wrong = 1 - r.Right - r.Undecided
		mean := sum / n
		half := 1.96 * math.Sqrt(max(0, squares/n-mean*mean)/n)
		r.Difference, r.Low, r.High = mean, mean-half, mean+half
		rows = append(rows, r)
	}
	return rows
}
