package app

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/goccy/go-yaml"
	"github.com/spf13/cobra"

	"synod.dev/synod/core/param"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/graph"
	"synod.dev/synod/llm"
)

// CouncilFlags are the flags that define the council.
type CouncilFlags struct {
	File   string
	Sets   []string
	Models []string
	Nodes  *plan.Layer // of --roster: it replaces all files; nil: there is none
}

// Add adds the flags to a command.
func (f *CouncilFlags) Add(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&f.File, "council", "c", os.Getenv("SYNOD_COUNCIL"),
		"council `file`; replaces ./synod.yaml and the user's config.yaml")
	cmd.Flags().StringArrayVar(&f.Sets, "set", nil, "set a key of the council, such as protocol.rounds=3 (repeatable)")
	cmd.Flags().StringArrayVar(&f.Models, "model", nil,
		"use `PROVIDER:MODEL` as a member instead of those of the council, or PROVIDER:MODEL@COUNT for several seats "+
			"(repeatable); without counts three or more have a seat each, the first three being asked first, and "+
			"fewer share seven seats")
}

// DefaultLayer is the name of the settings that apply where no others do.
const DefaultLayer = "the default council"

// ModelsLayer is the name of the settings that --model gives.
const ModelsLayer = "--model"

// SetLayer is the name of the settings that --set gives.
const SetLayer = "--set"

// Load returns the council: flags over the council file or, without one, over
// ./synod.yaml, the user's config.yaml and the default council.
func (f *CouncilFlags) Load(a *App) (plan.Spec, error) {
	spec, _, err := f.Merge(a)
	return spec, err
}

// Merge is Load that also returns where each setting comes from.
func (f *CouncilFlags) Merge(a *App) (plan.Spec, plan.Origin, error) {
	layers, err := f.files(a)
	if err != nil {
		return plan.Spec{}, nil, err
	}
	if len(f.Models) > 0 {
		l, err := modelLayer(f.Models)
		if err != nil {
			return plan.Spec{}, nil, Fail(ExitUsage, err)
		}
		layers = append(layers, l)
	}
	if len(f.Sets) > 0 {
		l, err := plan.Set(SetLayer, f.Sets)
		if err != nil {
			return plan.Spec{}, nil, Fail(ExitUsage, err)
		}
		layers = append(layers, l)
	}
	spec, from, err := plan.Merge(layers...)
	dropUnused(&spec, from)
	a.OwnTrust(&spec)
	if err == nil {
		err = a.FillKey(&spec)
	}
	if err == nil && len(spec.Seats) == 0 && !spec.Runner.Capabilities().Roster {
		err = Fail(ExitUsage, fmt.Errorf("%s: the council has no seats", cmp.Or(f.File, SetLayer)), "a council file "+
			"needs models and seats, such as:\n  models: {small: {provider: openai, model: gpt-4o-mini}}\n  seats: "+
			"[{id: a, model: small, count: 5}]")
	}
	return spec, from, err
}

// dropUnused takes out the models of the default council that no seat has, because the user has not written them.
func dropUnused(spec *plan.Spec, from plan.Origin) {
	seated := map[string]bool{}
	for _, s := range spec.Seats {
		seated[s.Model] = true
	}
	for name := range spec.Models {
		if !seated[name] && from["models."+name+".provider"] == DefaultLayer {
			delete(spec.Models, name)
		}
	}
}

// SetLimits applies --set to a council that takes its other settings from a journal
// or from the flags of a game. Only limits and breakers can be set; reason completes
// the error message for other keys.
func (f *CouncilFlags) SetLimits(spec plan.Spec, reason string) (plan.Spec, error) {
	for _, s := range f.Sets {
		if !strings.HasPrefix(s, "limits.") && !strings.HasPrefix(s, "breakers.") {
			return spec, fmt.Errorf("--set %s: %s; only limits.… and breakers.… can be set", s, reason)
		}
	}
	set, err := plan.Set(SetLayer, f.Sets)
	if err != nil {
		return spec, err
	}
	text, err := yaml.Marshal(spec)
	if err != nil {
		return spec, err
	}
	spec, _, err = plan.Merge(plan.Layer{Name: "the journal's council", Text: text}, set)
	return spec, err
}

// files returns the council files that apply, the least important first.
func (f *CouncilFlags) files(a *App) ([]plan.Layer, error) {
	if f.Nodes != nil {
		return []plan.Layer{*f.Nodes}, nil
	}
	if f.File != "" {
		l, err := plan.File(f.File) // once, because it may be a pipe
		if err == nil {
			_, err = l.Spec() // validates the file; its errors have line numbers
		}
		return []plan.Layer{l}, err
	}
	var layers []plan.Layer
	if len(f.Models) == 0 { // the protocol of the default council needs members that can score by likelihood
		layers = append(layers, plan.Layer{Name: DefaultLayer, Text: []byte(DefaultCouncil)})
	}
	for _, path := range []string{filepath.Join(a.Dirs.Config, "config.yaml"), "synod.yaml"} {
		l, err := plan.File(path)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		layers = append(layers, l)
	}
	return layers, nil
}

// checkNamed returns an error if the models of a provider have no names, so that --model cannot name one. A provider
// that does not exist is reported with the council.
func checkNamed(name, provider string) error {
	p, err := llm.Providers.Find(provider)
	if err != nil || p.Settings == nil || slices.Contains(param.Keys(p.Settings()), "model") {
		return nil
	}
	return fmt.Errorf("--model is %[1]q, and members of provider %[2]s have no model names; describe them in a "+
		"council file instead, with a line such as m: {provider: %[2]s} below models, and give the file with -c",
		name, provider)
}

// modelLayer returns a council of the models named on the command line. Three models or more without counts have a
// seat each, and are asked in tiers in the order in which they are named. Fewer share seven seats. Where a model has a
// count, one without has one seat. But for tiers, F is the largest that the complete graph tolerates.
func modelLayer(names []string) (plan.Layer, error) {
	models := map[string]any{}
	counts, open, short := make([]int, len(names)), 0, make([]string, len(names))
	for i, name := range names {
		provider, model, ok := strings.Cut(name, ":")
		if !ok || provider == "" || model == "" {
			return plan.Layer{}, fmt.Errorf("--model is %q; it must be PROVIDER:MODEL, such as ollama:llama3.2 "+
				"(known providers: %s)", name, strings.Join(llm.Providers.Names(), ", "))
		}
		if err := checkNamed(name, provider); err != nil {
			return plan.Layer{}, err
		}
		if at := strings.LastIndexByte(model, '@'); at > 0 { // a name may begin with it
			n, err := strconv.Atoi(model[at+1:])
			if err != nil || n < 1 || n > 1000 {
				return plan.Layer{}, fmt.Errorf("--model is %q; the count after @ must be between 1 and 1000", name)
			}
			counts[i], model = n, model[:at]
		} else {
			open++
		}
		short[i] = ShortName(model, models)
		models[short[i]] = map[string]any{"provider": provider, "model": model}
	}
	tiers := open == len(names) && open >= plan.FirstTier
	seats, total := seatsOf(short, counts, open, tiers)
	council := map[string]any{
		"council": "models from the command line", "models": models, "seats": seats,
		"graph": map[string]any{"family": "complete"}, "f": max(0, graph.FSAC((total+1)/2)),
	}
	if tiers {
		council["protocol"], council["f"] = plan.ProposedTiers(short)
		council["rule"] = map[string]any{"name": plan.ByProtocol}
	}
	text, err := yaml.Marshal(council)
	return plan.Layer{Name: ModelsLayer, Text: text}, err
}

// seatsOf returns the seats of models by their short names, and how many there are. A model without a count has one
// seat. If no model has a count and they are not asked in tiers, each has its share of seven seats.
func seatsOf(short []string, counts []int, open int, tiers bool) (seats []any, total int) {
	share := 7
	if open < len(short) || tiers {
		share = open
	}
	for i, n := range counts {
		if n == 0 {
			n = max((share+open-1)/open, 1)
			share, open = share-n, open-1
		}
		total += n
		seat := map[string]any{"id": short[i], "model": short[i]}
		if n > 1 {
			seat["id"], seat["count"] = short[i]+"-", n
		}
		seats = append(seats, seat)
	}
	return seats, total
}

// ShortName names a model after its last path element: openai/gpt-4o is gpt-4o. Seats of the
// model are gpt-4o, or gpt-4o-1, gpt-4o-2 and so on. A name that is taken gets a letter.
func ShortName(model string, taken map[string]any) string {
	name := strings.Trim(strings.Map(func(r rune) rune {
		if r < 0x80 && (unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("._-", r)) {
			return r
		}
		return '-'
	}, model[strings.LastIndexByte(model, '/')+1:]), "-")
	name = cmp.Or(name, "model")
	for again, letter := name, 'b'; taken[name] != nil; letter++ {
		name = again + "-" + string(letter)
	}
	return name
}

// DefaultCouncil has seven members of the embedded model that differ in seed and
// temperature. A complete graph of seven nodes is 4-robust, so F=3.
var DefaultCouncil = `council: box
protocol: ` + plan.ProposedProtocol("rounds: 3", "score: likelihood") + `
graph: {family: complete}
f: 3
rule: ` + plan.ProposedRule() + `
models:
  cool: {provider: embedded, model: smollm2-135m-instruct, temperature: 0.2}
  warm: {provider: embedded, model: smollm2-135m-instruct, temperature: 0.6}
  hot:  {provider: embedded, model: smollm2-135m-instruct, temperature: 0.9}
seats:
  - {id: a, model: cool, count: 2}
  - {id: b, model: warm, count: 3}
  - {id: c, model: hot, count: 2}
`

// Council returns the council of "synod ask" without flags: that of ./synod.yaml over the user's config.yaml
// over the embedded one.
func (a *App) Council() (plan.Spec, error) { return (&CouncilFlags{}).Load(a) }
