package setup

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"

	"synod.dev/synod/cmd/cli/app"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/council/seating"
	"synod.dev/synod/graph"
)

// proposedTokens is max_tokens of proposed models: many count their thoughts in it, so that 1000 would end before the
// answer.
const proposedTokens = 4000

// councilFile writes the council file of chosen models. Models with a seat each are asked in tiers, the cheapest first.
func councilFile(picks []seating.Pick, sources []source) string {
	n, taken := 0, map[string]any{}
	picks = slices.Clone(picks)
	slices.SortStableFunc(picks, func(a, b seating.Pick) int { return cmp.Compare(cost(a), cost(b)) })
	var names []string
	var models, seats strings.Builder
	for _, p := range picks {
		s := &sources[p.Source]
		name := app.ShortName(p.Name, taken)
		taken[name] = true
		fmt.Fprintf(&models, "  %s: {provider: %s, model: %s", scalar(name), s.provider, scalar(p.Name))
		if s.url != "" {
			fmt.Fprintf(&models, ", url: %s", scalar(s.url))
			if s.keyEnv != "" {
				fmt.Fprintf(&models, ", key_env: %s", s.keyEnv)
			}
		}
		fmt.Fprintf(&models, ", max_tokens: %d}  # %s\n", proposedTokens, p.Family)
		if p.Seats == 1 {
			fmt.Fprintf(&seats, "  - {id: %s, model: %s}\n", scalar(name), scalar(name))
		} else {
			fmt.Fprintf(&seats, "  - {id: %s, model: %s, count: %d}\n", scalar(name+"-"), scalar(name), p.Seats)
		}
		n += p.Seats
		names = append(names, scalar(name))
	}
	r := (n + 1) / 2
	protocol, f, rule := plan.ProposedProtocol("rounds: 3", "score: stated"), max(0, graph.FSAC(r)), plan.ProposedRule()
	if n == len(picks) && n >= plan.FirstTier {
		protocol, f, rule = tiered(names)
	}
	return fmt.Sprintf(`# Proposed by synod init from the models that it found; docs/use/council-file.md has every key.
# yaml-language-server: $schema=https://synod.dev/council.schema.json
council: proposed
protocol: %s
graph: {family: complete}   # %d seats: r=%d
f: %d                        # Byzantine neighbours that a run tolerates
rule: %s
models:                     # behind #: the maker of the weights
%sseats:
%slimits: {deadline: 10m}
`, protocol, n, r, f, rule, models.String(), seats.String())
}

// tiered returns the sections of a council file that ask seats in tiers.
func tiered(names []string) (protocol string, f int, rule string) {
	section, f := plan.ProposedTiers(names)
	var tiers []string
	for _, tier := range section["tiers"].([][]string) {
		tiers = append(tiers, "["+strings.Join(tier, ", ")+"]")
	}
	return fmt.Sprintf("{name: %s, tiers: [%s]}", section["name"], strings.Join(tiers, ", ")), f,
		"{name: " + plan.ByProtocol + "}"
}

// cost is what a model costs, as far as that is known: nothing on the user's own machines.
func cost(p seating.Pick) float64 {
	switch {
	case p.USD != nil:
		return *p.USD
	case p.Local:
		return 0
	}
	return math.Inf(1)
}

// scalar writes a text as YAML, with quotes where it needs them.
func scalar(text string) string {
	b, err := yaml.Marshal(text)
	if out := strings.TrimSpace(string(b)); err == nil && !strings.ContainsAny(out, "\n,{}[]#") {
		return out
	}
	return fmt.Sprintf("%q", text)
}

// boxFile is the council file that is proposed where nothing was found.
var boxFile = "# Proposed by synod init, which found no model: seven seats of the embedded model.\n" +
	"# Run synod init --force again when there are models.\n" + app.DefaultCouncil

// boxWorth says what that council is worth.
var boxWorth = `no model was found: this is the model in the box, seven seats of SmolLM2-135M-Instruct
7 seats · protocol ` + plan.DefaultProtocol + ` · complete graph, r=4 · F=3 · costs nothing · runs on this machine (110 MB, fetched once)
what it is worth: little. The council decided 21 of 24 very easy questions rightly, and one seat answers 55 % of
ARC-easy (docs/use/models.md). Seven seats of one model err together: their votes are not independent.
Better members: export OPENAI_API_KEY, ANTHROPIC_API_KEY, GEMINI_API_KEY or OPENROUTER_API_KEY, or start Ollama, and
run synod init --force
`
