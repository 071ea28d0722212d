package setup

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/spf13/cobra"

	"synod.dev/synod"
	"synod.dev/synod/cmd/cli/app"
	"synod.dev/synod/core/stats"
	"synod.dev/synod/core/table"
	"synod.dev/synod/council"
	"synod.dev/synod/council/outcome"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/llm"
)

// scene is a council of the demonstration.
type scene struct {
	Name  string `json:"name"`
	About string `json:"about"`
	Doc   string `json:"doc"`
	file  string // council file without the models
}

const (
	demoVote    = "protocol: {name: majority}\nrule: {name: plurality}\nf: 3\n"
	demoSupport = "protocol: {name: majority}\nrule: {name: plurality, support: 4}\nf: 3\n"
	demoSAC     = "protocol: {name: sac, rounds: 6}\nrule: {name: majority}\nf: 3\n"
	demoModels  = `models:
  strong: {provider: simulated, ability: 0.9}
  weak:   {provider: simulated, ability: 0.6}
seats:
  - {id: s, model: strong, count: 2}
  - {id: w, model: weak, count: 2}
`
	demoHonest    = "  - {id: m, model: weak, count: 3}\n"
	demoByzantine = "  - {id: m, model: weak, count: 3, adversary: {name: replay, answer: \"1776\"}}\n"
)

var scenes = []scene{
	{"plurality", "Seven members answer; the most frequent answer wins. Nobody is hostile.",
		"docs/research/papers.md", demoVote + demoModels + demoHonest},
	{"plurality, attacked", "An adversary takes the seats m1 to m3. They say 1776 to everything (synod explain " +
		"replay).", "docs/research/adversaries.md", demoVote + demoModels + demoByzantine},
	{"support rule, attacked", "An answer now needs 4 members who gave it before they heard others: more than the " +
		"adversary has. It can prevent an answer, but not choose it.", "docs/use/council-file.md",
		demoSupport + demoModels + demoByzantine},
	{"SAC, attacked", "Members score what their neighbours say, drop up to F=3 answers that score below their " +
		"own, and answer again, up to six times (synod explain sac).", "docs/guarantees.md",
		demoSAC + demoModels + demoByzantine},
}

// played is a scene with its results.
type played struct {
	scene
	Right     int `json:"right"`
	Wrong     int `json:"wrong"`
	Undecided int `json:"undecided"`
	outcomes  []outcome.Outcome
}

// DemoCommand is "synod demo".
func DemoCommand(a *app.App) *cobra.Command {
	var n int
	var seed uint64
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Show what an adversary does to a council, and what holds",
		Long: `Plays four councils of seven simulated members, without a key, a server or a download: a
vote without and with an adversary that controls three seats, the same vote with the
support rule, and SAC. It prints one question in all four, and the rates over many.
All members are simulated by a documented stochastic model; they are not language
models, and the figures are not a claim about any.`,
		Example: "  synod demo\n  synod demo -n 1000 --seed 7\n  synod demo --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if n < 1 || n > 10_000 {
				return app.Fail(app.ExitUsage, fmt.Errorf("-n is %d; it must be between 1 and 10000 (example: -n 200)",
					n))
			}
			all, err := playScenes(cmd.Context(), n, seed)
			switch {
			case errors.Is(err, context.Canceled):
				return app.Fail(app.ExitInterrupted, errors.New("interrupted"))
			case err != nil:
				return app.Fail(app.ExitFailure, err)
			case asJSON:
				return app.WriteJSON(cmd.OutOrStdout(), struct {
					Version   int      `json:"version"`
					Members   string   `json:"members_kind"`
					Questions int      `json:"questions"`
					Seed      uint64   `json:"seed"`
					Scenes    []played `json:"scenes"`
				}{1, string(llm.Simulated), n, seed, all})
			}
			return app.Sayf(cmd.OutOrStdout(), "%s", app.Printable(demoText(all, n, seed)))
		},
	}
	cmd.Flags().IntVarP(&n, "questions", "n", 200, "number of questions")
	cmd.Flags().Uint64Var(&seed, "seed", 1, "seed of the questions and of all random choices")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the rates as JSON")
	return cmd
}

// sum is a question of the demonstration with its right answer.
type sum struct {
	question synod.Question
	right    synod.Answer
}

// sums returns n additions.
func sums(n int, seed uint64) (all []sum) {
	chance := rand.New(rand.NewPCG(seed, 0xde30))
	for i := range n {
		x, y := 10+chance.IntN(90), 10+chance.IntN(90)
		all = append(all, sum{synod.Question{ID: fmt.Sprint(i), Text: fmt.Sprintf("What is %d + %d?", x, y),
			Form: synod.Number}, synod.Answer(fmt.Sprint(x + y))})
	}
	return all
}

// playScenes asks each council all questions.
func playScenes(ctx context.Context, n int, seed uint64) (all []played, err error) {
	for _, s := range scenes {
		p, err := s.play(ctx, sums(n, seed), seed)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.Name, err)
		}
		all = append(all, p)
	}
	return all, nil
}

func (s scene) play(ctx context.Context, questions []sum, seed uint64) (p played, err error) {
	spec, err := plan.Parse([]byte("council: demo\n" + s.file))
	if err != nil {
		return p, err
	}
	c, err := council.Convene(spec, llm.Env{})
	if err != nil {
		return p, err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	p.scene = s
	for i, q := range questions {
		o, err := c.Decide(ctx, council.Ask{Question: q.question, Seed: seed + uint64(i)})
		if err != nil {
			return p, err
		}
		if ctx.Err() != nil {
			return p, ctx.Err()
		}
		switch {
		case o.Decision == synod.None:
			p.Undecided++
		case o.Decision == q.right:
			p.Right++
		default:
			p.Wrong++
		}
		p.outcomes = append(p.outcomes, o)
	}
	return p, nil
}

// demoText tells the demonstration: the first question in which the plurality falls and SAC does not, or the first
// one, and the rates.
func demoText(all []played, n int, seed uint64) string {
	questions := sums(n, seed)
	shown := 0
	for i := range n {
		fell := all[0].outcomes[i].Decision == questions[i].right && all[1].outcomes[i].Decision == "1776"
		if fell && all[3].outcomes[i].Decision == questions[i].right {
			shown = i
			break
		}
	}
	right := questions[shown].right
	var b strings.Builder
	b.WriteString("SIMULATED members, not language models: two are right about 90 % of the time, the others 60 %.\n" +
		"They judge as recorded real judges do: they prefer the right one of two answers with probability 0.61.\n\n")
	fmt.Fprintf(&b, "%s\n(question %d of %d: the first in which the adversary wins the vote and SAC is right, if "+
		"there is one)\n", questions[shown].question.Text, shown+1, n)
	for i, p := range all {
		o := p.outcomes[shown]
		fmt.Fprintf(&b, "\n%d. %s\n%s\n", i+1, p.Name, table.Wrap("   "+p.About, 80))
		fmt.Fprintf(&b, "   first answers:  %s\n", answersOf(o, 0))
		if last := o.Rounds.Len() - 1; last > 0 {
			fmt.Fprintf(&b, "   after round %d:  %s\n", last, answersOf(o, last))
		}
		fmt.Fprintf(&b, "   decision:       %s   (read %s)\n", judged(o, right), p.Doc)
	}
	fmt.Fprintf(&b, "\nOver %d such questions (SIMULATED members, seed %d; 95 %% interval of the wrong answers):\n", n,
		seed)
	t := table.Table{Indent: "  ", Head: []string{"COUNCIL", "RIGHT", "WRONG", "NO ANSWER", "WRONG, 95 %"}}
	for _, p := range all {
		low, high := stats.Wilson(float64(p.Wrong)/float64(n), float64(n))
		t.Add(p.Name, percent(p.Right, n), percent(p.Wrong, n), percent(p.Undecided, n),
			fmt.Sprintf("%.1f to %.1f %%", 100*low, 100*high))
	}
	_ = t.Write(&b, "text") // to memory
	b.WriteString(`
Next: synod ask "What is the capital of France?" asks a small real model on this machine;
synod init finds your own models; docs/measure/bench.md measures a council; docs/use/council-file.md has every key.
What SAC guarantees is a statement about scores, not that the answer is right: docs/guarantees.md.
`)
	return b.String()
}

// answersOf lists who holds which answer after a round.
func answersOf(o outcome.Outcome, round int) string {
	if round >= o.Rounds.Len() {
		return "none"
	}
	var words []string
	for _, m := range o.Rounds.All()[round].Members {
		answer := "–"
		if m.Answer != nil {
			answer = string(*m.Answer)
		}
		words = append(words, m.ID+" "+answer)
	}
	return strings.Join(words, ", ")
}

func judged(o outcome.Outcome, right synod.Answer) string {
	switch o.Decision {
	case synod.None:
		return "no answer: " + o.Reason
	case right:
		return string(right) + ", right"
	}
	return string(o.Decision) + ", WRONG"
}

func percent(k, n int) string { return fmt.Sprintf("%.1f %%", 100*float64(k)/float64(n)) }
