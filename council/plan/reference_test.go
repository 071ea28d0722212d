package plan_test

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	adversaries "synod.dev/synod/adversary"
	"synod.dev/synod/core/param"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/graph/dynamic"
	"synod.dev/synod/llm"
	"synod.dev/synod/protocol/catalog"
)

const (
	referencePage = "../../docs/use/council-file.md"  // the keys of a file
	parametersOf  = "../../docs/use/council-keys.txt" // the parameters of what a file can name
)

// The page of the keys and the list of parameters are those that the structs make; -rewrite renews them.
func TestReferencePage(t *testing.T) {
	r := plan.NewReference()
	for path, made := range map[string][]byte{referencePage: page(r), parametersOf: parameters(r)} {
		if *rewrite {
			if err := os.WriteFile(path, made, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if onFile, err := os.ReadFile(path); err != nil || !bytes.Equal(onFile, made) {
			t.Errorf("%s is not the present one (%v); go generate ./council/plan renews it", path, err)
		}
	}
}

// Every key is described, and its example and its values can be read as its type.
func TestReferenceIsComplete(t *testing.T) {
	seen := 0
	each(plan.NewReference(), func(path string, f param.Field) {
		seen++
		if f.Doc == "" {
			t.Errorf("%s has no description", path)
		}
		for what, text := range map[string]string{"default": f.Default, "example": f.Example} {
			var v any
			if err := yaml.Unmarshal([]byte(text), &v); err != nil {
				t.Errorf("%s: the %s %q is not YAML: %v", path, what, text, err)
			}
			if f.Enum != nil && text != "" && !slices.Contains(f.Enum, text) {
				t.Errorf("%s: the %s %q is none of %v", path, what, text, f.Enum)
			}
		}
	})
	if seen < 100 {
		t.Errorf("only %d keys", seen)
	}
}

// each calls visit for every key.
func each(r plan.Reference, visit func(path string, f param.Field)) {
	var walk func(path string, fields []param.Field)
	walk = func(path string, fields []param.Field) {
		for _, f := range fields {
			visit(path+f.Key, f)
			walk(path+f.Key+".", f.Fields)
		}
	}
	walk("", r.Keys)
	walk("graph ", r.Changing)
	for what, variants := range map[string][]plan.Variant{"protocol ": r.Protocols, "graph ": r.Graphs,
		"provider ": r.Providers, "adversary ": r.Adversaries} {
		for _, v := range variants {
			walk(what+v.Name+".", v.Fields)
		}
	}
}

// The described ranges and values are those that are enforced: what is beyond the ends of a range and unknown values
// are refused.
func TestReferenceIsEnforced(t *testing.T) {
	r := plan.NewReference()
	check := func(what string, variants []plan.Variant, try func(name string, params map[string]any) error) {
		for _, v := range variants {
			for _, f := range v.Fields {
				set := func(value any) error { return try(v.Name, map[string]any{f.Key: value}) }
				for _, value := range outside(f) {
					if set(value) == nil {
						t.Errorf("%s %s: %s: %v is accepted", what, v.Name, f.Key, value)
					}
				}
				for _, value := range f.Enum {
					if err := set(value); err != nil && strings.Contains(err.Error(), f.Key+" is") {
						t.Errorf("%s %s: %s: %v is refused: %v", what, v.Name, f.Key, value, err)
					}
				}
			}
		}
	}
	check("protocol", r.Protocols, func(name string, params map[string]any) error {
		e, err := catalog.Protocols.Find(name)
		if err != nil {
			t.Fatal(err)
		}
		p := e.New()
		if err := param.Decode(params, p); err != nil {
			return err
		}
		return e.Verify(p)
	})
	changing := []plan.Variant{{Name: "schedule", Fields: r.Changing}}
	check("graph", changing, func(_ string, params map[string]any) error {
		spec := map[string]any{"schedule": []any{map[string]any{"family": "ring"}}, "failing": 0.1}
		maps.Copy(spec, params)
		_, err := dynamic.FromSpec(spec, 5, 3)
		return err
	})
	check("adversary", r.Adversaries, func(name string, params map[string]any) error {
		e, err := adversaries.Catalogue.Find(name)
		if err != nil {
			t.Fatal(err)
		}
		_, err = e.New(params)
		return err
	})
	check("provider", r.Providers, func(name string, params map[string]any) error {
		p, err := llm.Providers.Find(name)
		if err != nil {
			t.Fatal(err)
		}
		return llm.Check(p.Name, func(into any) error { return param.Decode(params, into) })
	})
}

// outside returns values of a field that must be refused.
func outside(f param.Field) (values []any) {
	if f.Low != nil {
		values = append(values, beyond(f, *f.Low, -1))
	}
	if f.High != nil {
		values = append(values, beyond(f, *f.High, 1))
	}
	if f.Enum != nil || f.Names == "aggregates" || f.Names == "game rules" {
		values = append(values, "no such value")
	}
	return values
}

func beyond(f param.Field, end, sign float64) any {
	if f.Type == "integer" {
		return int(math.Round(end + sign))
	}
	return end + sign*0.5
}

// page is the page of the keys, with the names of everything that a file can choose.
func page(r plan.Reference) []byte {
	var b bytes.Buffer
	b.WriteString(`# Council files

For those who write a council file: its keys, made from the program (` + "`go generate ./council/plan`" + `).
[council.schema.json](council.schema.json) is the JSON schema, with which an editor checks and completes a file:

` + "```yaml\n# yaml-language-server: $schema=https://synod.dev/council.schema.json\n```" + `

` + "`synod config schema`" + ` prints the schema of your program, with what other modules added to it.
Unknown keys and wrong values are errors that name the line. Absent keys have the default; a dash means that there is none.
Durations are written 300ms, 90s or 10m; multiples 2x. ` + "`--set protocol.rounds=3`" + ` sets a key for one run.
The keys of ` + "`adversaries`, `defences` and `faults`" + `, and the parameters of protocols, graphs, models and
adversaries, are in [council-keys.txt](council-keys.txt); ` + "`synod explain NAME`" + ` prints those of one.
[Defences](../research/adversaries.md#defences) are explained where they are measured.

## Keys

`)
	table(&b, "", r.Keys)
	sections(&b, r, false)
	for _, part := range parts(r) {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n", part.title, part.text)
		if part.title == "Adversaries" { // their page has them
			continue
		}
		b.WriteString("\n")
		for _, v := range part.variants {
			fmt.Fprintf(&b, "- `%s`: %s\n", v.Name, v.Summary)
		}
		if part.title == "Graphs" {
			b.WriteString("\n### Graphs that change from round to round\n\n" + changing)
			table(&b, "", r.Changing)
		}
	}
	return b.Bytes()
}

// elsewhere has the keys whose own keys stand in the list of parameters: switches that docs/research/adversaries.md
// explains, and what is for experiments.
var elsewhere = map[string]bool{"adversaries": true, "defences": true, "faults": true}

// sections writes a table for each key that has keys of its own: those of the page, or those that stand elsewhere.
func sections(b *bytes.Buffer, r plan.Reference, listed bool) {
	for _, f := range r.Keys {
		if f.Fields != nil && elsewhere[f.Key] == listed {
			fmt.Fprintf(b, "\n### %s\n\n%s%s.\n\n", f.Key, strings.ToUpper(f.Doc[:1]), f.Doc[1:])
			table(b, f.Key+".", f.Fields)
		}
	}
}

const changing = "`graph: {schedule: [{family: ring}, {edges: [[0, 1], …]}], hold: 2}`; or failing edges, of any " +
	"graph: `graph: {family: merg, failing: 0.2}`.\n" +
	"See [graphs.md](../research/graphs.md#graphs-that-change).\n\n"

// part is a kind of thing that a council file chooses by name.
type part struct {
	title, text string
	variants    []plan.Variant
}

func parts(r plan.Reference) []part {
	return []part{
		{"Protocols", "`protocol: {name: NAME, …}`. [papers.md](../research/papers.md) describes them.", r.Protocols},
		{"Graphs", "`graph: {family: NAME, …}`; or `graph: {edges: [[0, 1], [1, 2]]}`; or `graph: {file: g.graphml}`." +
			" See [graphs.md](../research/graphs.md).", r.Graphs},
		{"Models", "`models: {NAME: {provider: PROVIDER, …}}`.", r.Providers},
		{"Adversaries", "`seats: [{id: m, model: NAME, adversary: {name: ADVERSARY, …}}]`. " +
			"See [adversaries.md](../research/adversaries.md).", r.Adversaries},
	}
}

// parameters is the list of all parameters.
func parameters(r plan.Reference) []byte {
	var b bytes.Buffer
	b.WriteString("Keys for experiments, switches of defences, and the parameters of what a council file can name,\n" +
		"made from the program (go generate ./council/plan).\n\n## Keys\n")
	sections(&b, r, true)
	for _, part := range parts(r) {
		fmt.Fprintf(&b, "\n## %s\n", part.title)
		variants(&b, part.variants)
	}
	return b.Bytes()
}

// variants writes the named things: first those without parameters as a list, then a table for each set of parameters.
func variants(b *bytes.Buffer, all []plan.Variant) {
	b.WriteString("\n")
	for _, v := range all {
		if len(v.Fields) == 0 {
			fmt.Fprintf(b, "- `%s`: %s. No parameters.\n", v.Name, v.Summary)
		}
	}
	done := map[string]bool{}
	for _, v := range all {
		if len(v.Fields) == 0 || done[v.Name] {
			continue
		}
		fmt.Fprintf(b, "\n### %s\n\n", v.Name)
		fmt.Fprintf(b, "- `%s`: %s.\n", v.Name, v.Summary)
		for _, other := range all {
			if other.Name != v.Name && sameFields(v.Fields, other.Fields) {
				fmt.Fprintf(b, "- `%s`: %s. The same keys.\n", other.Name, other.Summary)
				done[other.Name] = true
			}
		}
		b.WriteString("\n")
		table(b, "", v.Fields)
	}
}

func sameFields(a, b []param.Field) bool { return fmt.Sprint(shapes(a)) == fmt.Sprint(shapes(b)) }

func shapes(fields []param.Field) (out []string) {
	for _, f := range fields {
		out = append(out, f.Key+f.Type+f.Doc+f.Default)
	}
	return out
}

// table writes keys, with those of tables in tables below them.
func table(b *bytes.Buffer, prefix string, fields []param.Field) {
	b.WriteString("| key | type and unit | default | example | meaning |\n|---|---|---|---|---|\n")
	rows(b, prefix, fields)
}

func rows(b *bytes.Buffer, prefix string, fields []param.Field) {
	cell := func(s string) string {
		if s == "" {
			return "–"
		}
		return "`" + strings.ReplaceAll(s, "|", "\\|") + "`"
	}
	for _, f := range fields {
		kind := f.Type
		if f.Unit != "" {
			kind += ", " + f.Unit
		}
		if text := limits(f); text != "" {
			kind += ", " + text
		}
		fmt.Fprintf(b, "| `%s%s` | %s | %s | %s | %s |\n", prefix, f.Key, kind, cell(f.Default), cell(example(f)),
			strings.ReplaceAll(f.Doc+values(f), "|", "\\|"))
		if prefix != "" && f.Fields != nil {
			mark := "."
			if f.Type == "list" {
				mark = "[]."
			}
			rows(b, prefix+f.Key+mark, f.Fields)
		}
	}
}

// example is the field's own, or else a value that differs from the default.
func example(f param.Field) string {
	switch {
	case f.Example != "":
		return f.Example
	case f.Type == "bool":
		return map[string]string{"true": "false"}[f.Default] + map[string]string{"false": "true"}[f.Default]
	case len(f.Enum) > 0:
		return f.Enum[len(f.Enum)-1]
	case f.Type == "integer" && f.High != nil && *f.High <= 1000:
		return "3"
	}
	return f.Default
}

func limits(f param.Field) string {
	switch {
	case f.Low != nil && f.High != nil:
		return fmt.Sprintf("%v to %v", whole(*f.Low), whole(*f.High))
	case f.Low != nil:
		return fmt.Sprintf("from %v", whole(*f.Low))
	}
	return ""
}

func whole(v float64) string {
	if v == math.Trunc(v) {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprint(v)
}

func values(f param.Field) string {
	switch {
	case len(f.Enum) > 0:
		var shown []string
		for _, v := range f.Enum {
			shown = append(shown, map[bool]string{true: `""`, false: v}[v == ""])
		}
		return ": `" + strings.Join(shown, "`, `") + "`"
	case f.Names == "aggregates":
		return " (`synod list aggregates`)"
	}
	return ""
}
