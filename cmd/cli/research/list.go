// Package research has the commands about the catalogues and about research: list and explain, the consensus game,
// probes of hidden states, campaigns of random executions, and the check of all claims.
package research

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"synod.dev/synod"
	"synod.dev/synod/adversary"
	"synod.dev/synod/adversary/defence"
	"synod.dev/synod/bench/manifest"
	"synod.dev/synod/bench/task"
	"synod.dev/synod/cmd/cli/app"
	"synod.dev/synod/core/param"
	"synod.dev/synod/core/robust"
	"synod.dev/synod/core/table"
	"synod.dev/synod/graph/dynamic"
	"synod.dev/synod/graph/topology"
	"synod.dev/synod/llm"
	"synod.dev/synod/llm/models"
	"synod.dev/synod/protocol/catalog"
)

// catalogue is what "synod list" and "synod explain" need of a catalogue.
type catalogue struct {
	name    string
	Entries func() []synod.Entry
	explain func(name string) string // details beyond the summary; may be nil
}

// Catalogues returns all catalogues. Each one reads the table of its package.
func Catalogues() []catalogue {
	return []catalogue{
		{"protocols", func() []synod.Entry { return Lines(catalog.Protocols.All()) }, func(name string) string {
			e, _ := catalog.Protocols.Find(name)
			about := e.About
			if e.Exact != "" {
				about += "\n\nexact: paper\n" + e.Exact
			}
			return about + "\n\nsource      " + e.Source + "\n" + traitLines(e.Traits)
		}},
		{"adversaries", func() []synod.Entry { return Lines(adversary.Catalogue.All()) }, func(name string) string {
			e, _ := adversary.Catalogue.Find(name)
			return explainAdversary(e)
		}},
		{"defences", func() []synod.Entry { return Lines(defence.Catalogue.All()) }, func(name string) string {
			e, _ := defence.Catalogue.Find(name)
			return explainDefence(e)
		}},
		{"aggregates", func() []synod.Entry { return Lines(robust.Catalogue.All()) }, func(name string) string {
			a, _ := robust.Catalogue.Find(name)
			return explainAggregate(a)
		}},
		{"graphs", graphEntries, func(name string) string {
			f, _ := topology.Catalogue.Find(name)
			return explainFamily(f)
		}},
		{"providers", func() []synod.Entry { return Lines(llm.Providers.All()) }, func(name string) string {
			e, _ := llm.Providers.Find(name)
			return e.About
		}},
		{"models", modelEntries, nil},
		{"tasks", func() []synod.Entry { return Lines(task.Catalogue.All()) }, func(name string) string {
			e, _ := task.Catalogue.Find(name)
			return fmt.Sprintf("%s\n\nanswers     %s\nitems       %d", e.About, e.Form, e.Items)
		}},
		{"presets", func() []synod.Entry { return Lines(manifest.Presets().All()) }, func(name string) string {
			p, _ := manifest.FindPreset(name)
			return p.About + "\n\nsource      " + p.Source
		}},
	}
}

// json returns what JSON has of a catalogue.
func (c catalogue) json() any {
	if c.name == "adversaries" { // which declare facts
		return adversaryDetails()
	}
	if c.name == "defences" {
		return defence.Catalogue.All()
	}
	return c.Entries()
}

// adversaryEntry is an adversary in JSON.
type adversaryEntry struct {
	synod.Entry
	adversary.Facts
	Protocols  []string             `json:"protocols"` // those that have the traits
	Parameters []adversaryParameter `json:"parameters"`
}

type adversaryParameter struct {
	Name    string `json:"name"`
	Type    string `json:"type"`
	Default string `json:"default,omitempty"`
	Summary string `json:"summary"`
}

func adversaryDetails() any {
	var all []adversaryEntry
	for _, e := range adversary.Catalogue.All() {
		x := adversaryEntry{Entry: e.Entry, Facts: e.Facts, Protocols: catalog.Admitted(e.Where),
			Parameters: []adversaryParameter{}}
		if e.Params != nil {
			for _, f := range param.Fields(e.Params()) {
				x.Parameters = append(x.Parameters, adversaryParameter{f.Key, f.Type, f.Default, f.Doc})
			}
		}
		all = append(all, x)
	}
	return all
}

func explainAdversary(e adversary.Entry) string {
	s := e.About
	if e.Place == "" { // of another module, which declares nothing
		return s
	}
	s += fmt.Sprintf("\n\nsits at      %s\nfault model  %s\n%s\ndefence      %s (%s)\nsource       %s", e.Place,
		e.Model, whereLines(e.Where), e.Defence, e.Kind, e.Source)
	if e.Setting != "" {
		s += "\nneeds        " + e.Setting
	}
	if e.SameAs != "" {
		s += "\nsame as      " + e.SameAs
	}
	return s
}

func explainDefence(e defence.Entry) string {
	set := "defences." + e.Name + "=off"
	if e.Key != "" {
		set += ", the same as " + e.Key
	}
	return fmt.Sprintf("%s\n\n%s\nagainst      %s\ncost         %s\ndefault      %s\nswitch off   --set %s", e.About,
		whereLines(e.Where), strings.Join(e.Against, ", "), e.Cost, e.Default, set)
}

// whereLines says which traits a protocol must have, and which protocols have them.
func whereLines(w synod.Where) string {
	in := "all protocols"
	if names := catalog.Admitted(w); len(names) < len(catalog.Protocols.Names()) {
		in = strings.Join(names, ", ")
	}
	return fmt.Sprintf("traits       %s\nin           %s", w, in)
}

// traitLines explains the traits of a protocol.
func traitLines(traits []synod.Trait) string {
	if traits == nil {
		return "traits      not declared: every adversary and defence may apply"
	}
	s := "traits"
	for _, t := range traits {
		s += fmt.Sprintf("\n  %-12s %s", t, t.Meaning())
	}
	return s
}

// Lines returns the name and summary of each entry.
func Lines[T synod.Listed](all []T) []synod.Entry {
	out := make([]synod.Entry, len(all))
	for i, e := range all {
		out[i] = e.Line()
	}
	return out
}

func graphEntries() []synod.Entry {
	var out []synod.Entry
	for _, f := range topology.Catalogue.All() {
		out = append(out, synod.Entry{Name: f.Name, Summary: f.Summary})
	}
	return out
}

func modelEntries() []synod.Entry {
	var out []synod.Entry
	for _, m := range models.Catalog() {
		out = append(out, synod.Entry{Name: m.Name, Summary: m.Summary})
	}
	return out
}

func explainAggregate(a robust.Aggregate) string {
	s := "hostile vectors that it tolerates:"
	for _, n := range []int{3, 5, 7, 9, 11, 15} {
		s += fmt.Sprintf("\n  of %2d: ", n)
		if f := a.Bound(n); f < 0 {
			s += "too few vectors"
		} else {
			s += fmt.Sprint(f)
		}
	}
	return s
}

func explainFamily(f topology.Entry) string {
	s := "known robustness: " + f.Known
	for _, p := range f.Params() {
		s += fmt.Sprintf("\n%s (default %v): %s", p.Key, p.Default, p.Doc)
	}
	for _, p := range param.Fields(dynamic.New()) {
		if p.Key != "schedule" && p.Key != "hold" {
			s += fmt.Sprintf("\n%s (default %s): in council files: %s", p.Key, p.Default, p.Doc)
		}
	}
	return s + "\nseveral graphs by round: graph: {schedule: [{family: ring}, {family: star}]}"
}

// ListCommand is "synod list".
func ListCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "list [WHAT]",
		Short:   "List protocols, adversaries, defences, tasks, presets and others",
		Example: "  synod list\n  synod list adversaries --json",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			all := Catalogues()
			if len(args) == 1 {
				i := slices.IndexFunc(all, func(s catalogue) bool { return s.name == args[0] })
				if i < 0 {
					return app.Fail(app.ExitUsage, fmt.Errorf("there is no list of %q%s; known lists: %v", args[0],
						synod.Hint(args[0], catalogueNames()), catalogueNames()))
				}
				all = all[i : i+1]
			}
			if asJSON && len(args) == 1 {
				return app.WriteJSON(cmd.OutOrStdout(), all[0].json())
			}
			if asJSON {
				whole := map[string]any{}
				for _, s := range all {
					whole[s.name] = s.json()
				}
				return app.WriteJSON(cmd.OutOrStdout(), whole)
			}
			return printCatalogues(cmd, all, len(args) == 0)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.ValidArgs = catalogueNames()
	return cmd
}

func printCatalogues(cmd *cobra.Command, all []catalogue, titles bool) error {
	out := cmd.OutOrStdout()
	for _, s := range all {
		entries := s.Entries()
		if len(entries) == 0 {
			continue
		}
		if titles {
			fmt.Fprintln(out, s.name)
		}
		t := table.Table{Indent: "  "}
		for _, e := range entries {
			t.Add(e.Name, e.Summary)
		}
		if err := t.Write(out, "text"); err != nil {
			return err
		}
	}
	return nil
}

func catalogueNames() []string {
	var names []string
	for _, s := range Catalogues() {
		names = append(names, s.name)
	}
	slices.Sort(names)
	return names
}

// ExplainCommand is "synod explain".
func ExplainCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "explain NAME",
		Short:   "Explain an entry of a list: what it does, guarantee, source",
		Example: "  synod explain sac\n  synod explain merg\n  synod explain replay",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			var known []string
			for _, s := range Catalogues() {
				for _, e := range s.Entries() {
					known = append(known, e.Name)
					if e.Name != args[0] {
						continue
					}
					text := fmt.Sprintf("%s (%s): %s\n", e.Name, s.name, e.Summary)
					if s.explain != nil {
						text += fmt.Sprintf("\n%s\n", s.explain(e.Name))
					}
					return app.Sayf(cmd.OutOrStdout(), "%s", text)
				}
			}
			return app.Fail(app.ExitUsage, fmt.Errorf("no catalogue has an entry %q%s", args[0], synod.Hint(args[0],
				known)),
				"list all entries with: synod list")
		},
	}
}
