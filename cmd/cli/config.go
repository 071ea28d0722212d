package cli

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/goccy/go-yaml"
	"github.com/spf13/cobra"

	"synod.dev/synod/core/table"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/graph"
	"synod.dev/synod/llm"
)

func configCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Show the council in effect, and where each setting comes from",
	}
	cmd.AddCommand(configShowCommand(a), configSchemaCommand())
	return cmd
}

func configShowCommand(a *app) *cobra.Command {
	var source specFlags
	var origin bool
	cmd := &cobra.Command{
		Use:   "show",
		Short: "Print the council in effect",
		Long: `Prints the council that "synod ask" would use with the same flags. Settings are taken
from, in this order: flags, the environment, ./synod.yaml, config.yaml in the user's
config folder, the default council. A council file given with -c replaces both files
and the default council.`,
		Example: "  synod config show\n  synod config show --origin --set f=2",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			spec, from, err := source.merge(a)
			rest := "default"
			if err == nil && spec.Runner.Nodes() { // the members have signed everything else
				rest = "roster " + spec.Runner.Roster
				spec, err = ofRoster(spec)
			}
			if err != nil {
				return configError(err)
			}
			text, err := yaml.Marshal(spec.WithoutQueries().Switched())
			if err != nil {
				return fail(exitError1, err)
			}
			if !origin {
				_, err := fmt.Fprint(cmd.OutOrStdout(), printable(string(text)))
				return err
			}
			return printOrigin(cmd, text, from, rest)
		},
	}
	source.add(cmd)
	cmd.Flags().BoolVar(&origin, "origin", false, "print one line for each setting with its origin")
	return cmd
}

// ofRoster returns the council of a file with runner: nodes, which stands in its roster.
func ofRoster(spec plan.Spec) (plan.Spec, error) {
	p, err := plan.New(spec)
	if err != nil {
		return spec, err
	}
	spec = p.Spec()
	spec.Runner.Keys = nil // nobody writes them
	return spec, nil
}

// printOrigin prints the key, value and origin of every setting. rest is the origin of those that no layer has.
func printOrigin(cmd *cobra.Command, text []byte, from plan.Origin, rest string) error {
	tree := map[string]any{}
	if err := yaml.Unmarshal(text, &tree); err != nil {
		return fail(exitError1, err)
	}
	values := map[string]string{}
	flatten(tree, "", values)
	var t table.Table
	for _, k := range slices.Sorted(maps.Keys(values)) {
		t.Add(k, oneLine(values[k]), cmp.Or(from[k], rest))
	}
	return t.Write(cmd.OutOrStdout(), "text")
}

// flatten stores the leaves of v as JSON by dotted path.
func flatten(v any, path string, into map[string]string) {
	if m, ok := v.(map[string]any); ok {
		for k, sub := range m {
			flatten(sub, strings.TrimPrefix(path+"."+k, "."), into)
		}
		return
	}
	b, err := json.Marshal(v)
	if err != nil {
		b = fmt.Append(nil, v)
	}
	into[path] = string(b)
}

func configSchemaCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "schema",
		Short:   "Print the JSON schema of a council file",
		Example: "  synod config schema > council.schema.json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			b, err := plan.Schema()
			if err != nil {
				return fail(exitError1, err)
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), string(b))
			return err
		},
	}
}

// specFlags are the flags that define the council.
type specFlags struct {
	file   string
	sets   []string
	models []string
	nodes  *plan.Layer // of --roster: it replaces all files; nil: there is none
}

func (f *specFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&f.file, "council", "c", os.Getenv("SYNOD_COUNCIL"),
		"council `file`; replaces ./synod.yaml and the user's config.yaml")
	cmd.Flags().StringArrayVar(&f.sets, "set", nil, "set a key of the council, such as protocol.rounds=3 (repeatable)")
	cmd.Flags().StringArrayVar(&f.models, "model", nil,
		"use `PROVIDER:MODEL` as a member instead of those of the council, or PROVIDER:MODEL@COUNT for several seats "+
			"(repeatable); where none has a count, all share seven seats, else those without a count have one each")
}

// defaultLayer is the name of the settings that apply where no others do.
const defaultLayer = "the default council"

// modelsLayer is the name of the settings that --model gives.
const modelsLayer = "--model"

// setLayer is the name of the settings that --set gives.
const setLayer = "--set"

// load returns the council: flags over the council file or, without one, over
// ./synod.yaml, the user's config.yaml and the default council.
func (f *specFlags) load(a *app) (plan.Spec, error) {
	spec, _, err := f.merge(a)
	return spec, err
}

// merge is load that also returns where each setting comes from.
func (f *specFlags) merge(a *app) (plan.Spec, plan.Origin, error) {
	layers, err := f.files(a)
	if err != nil {
		return plan.Spec{}, nil, err
	}
	if len(f.models) > 0 {
		l, err := modelLayer(f.models)
		if err != nil {
			return plan.Spec{}, nil, fail(exitUsage, err)
		}
		layers = append(layers, l)
	}
	if len(f.sets) > 0 {
		l, err := plan.Set(setLayer, f.sets)
		if err != nil {
			return plan.Spec{}, nil, fail(exitUsage, err)
		}
		layers = append(layers, l)
	}
	spec, from, err := plan.Merge(layers...)
	dropUnused(&spec, from)
	a.ownTrust(&spec)
	if err == nil {
		err = a.fillKey(&spec)
	}
	if err == nil && len(spec.Seats) == 0 && !spec.Runner.Nodes() {
		err = fail(exitUsage, fmt.Errorf("%s: the council has no seats", cmp.Or(f.file, setLayer)), "a council file "+
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
		if !seated[name] && from["models."+name+".provider"] == defaultLayer {
			delete(spec.Models, name)
		}
	}
}

// setLimits applies --set to a council that takes its other settings from a journal
// or from the flags of a game. Only limits and breakers can be set; reason completes
// the error message for other keys.
func (f *specFlags) setLimits(spec plan.Spec, reason string) (plan.Spec, error) {
	for _, s := range f.sets {
		if !strings.HasPrefix(s, "limits.") && !strings.HasPrefix(s, "breakers.") {
			return spec, fmt.Errorf("--set %s: %s; only limits.… and breakers.… can be set", s, reason)
		}
	}
	set, err := plan.Set(setLayer, f.sets)
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
func (f *specFlags) files(a *app) ([]plan.Layer, error) {
	if f.nodes != nil {
		return []plan.Layer{*f.nodes}, nil
	}
	if f.file != "" {
		l, err := plan.File(f.file) // once, because it may be a pipe
		if err == nil {
			_, err = l.Spec() // validates the file; its errors have line numbers
		}
		return []plan.Layer{l}, err
	}
	var layers []plan.Layer
	if len(f.models) == 0 { // the protocol of the default council needs members that can score by likelihood
		layers = append(layers, plan.Layer{Name: defaultLayer, Text: []byte(defaultCouncil)})
	}
	for _, path := range []string{filepath.Join(a.dirs.config, "config.yaml"), "synod.yaml"} {
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

// modelLayer returns a council of the models named on the command line. Where no model has a count, all share seven
// seats; else a model without one has one seat. F is the largest that the complete graph tolerates.
func modelLayer(names []string) (plan.Layer, error) {
	models, seats := map[string]any{}, []any{}
	counts, open, short := make([]int, len(names)), 0, make([]string, len(names))
	for i, name := range names {
		provider, model, ok := strings.Cut(name, ":")
		if !ok || provider == "" || model == "" {
			return plan.Layer{}, fmt.Errorf("--model is %q; it must be PROVIDER:MODEL, such as ollama:llama3.2 "+
				"(known providers: %s)", name, strings.Join(llm.Providers.Names(), ", "))
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
		short[i] = shortName(model, models)
		models[short[i]] = map[string]any{"provider": provider, "model": model}
	}
	share, total := 7, 0
	if open < len(names) {
		share = open
	}
	for i := range counts {
		if counts[i] == 0 {
			counts[i] = (share + open - 1) / open
			share, open = share-counts[i], open-1
			counts[i] = max(counts[i], 1)
		}
		total += counts[i]
		seat := map[string]any{"id": short[i], "model": short[i]}
		if counts[i] > 1 {
			seat["id"], seat["count"] = short[i]+"-", counts[i]
		}
		seats = append(seats, seat)
	}
	text, err := yaml.Marshal(map[string]any{
		"council": "models from the command line", "models": models, "seats": seats,
		"graph": map[string]any{"family": "complete"}, "f": max(0, graph.FSAC((total+1)/2)),
	})
	return plan.Layer{Name: modelsLayer, Text: text}, err
}

// shortName names a model after its last path element: openai/gpt-4o is gpt-4o. Seats of the
// model are gpt-4o, or gpt-4o-1, gpt-4o-2 and so on. A name that is taken gets a letter.
func shortName(model string, taken map[string]any) string {
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

// defaultCouncil has seven members of the embedded model that differ in seed and
// temperature. A complete graph of seven nodes is 4-robust, so F=3.
var defaultCouncil = `council: box
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
