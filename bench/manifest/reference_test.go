package manifest

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"synod.dev/synod/bench"
	"synod.dev/synod/bench/computed"
	"synod.dev/synod/bench/report"
	"synod.dev/synod/core/param"
	"synod.dev/synod/core/table"
)

// referenceHead begins the generated part of docs/measure/experiments.md.
const referenceHead = "## All keys\n"

// reference is the generated part of docs/measure/experiments.md: what the structs say.
func reference() string {
	var b strings.Builder
	b.WriteString(referenceHead + "\nGenerated from the structs (`go test ./bench/manifest " +
		"-run TestExperimentsPage -rewrite`).\n")
	section := func(title, about string, v any) {
		fmt.Fprintf(&b, "\n### %s\n\n%s\n\n| key | type | default | example | meaning |\n", title, about)
		b.WriteString("|---|---|---|---|---|\n")
		for _, f := range param.Fields(v) {
			example := ""
			if f.Example != "" {
				example = "`" + f.Example + "`"
			}
			doc := f.Doc
			if len(f.Enum) > 0 {
				doc += ": `" + strings.Join(f.Enum, "`, `") + "`"
			}
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", f.Key, f.Type, cmp.Or(table.MarkdownText(f.Default), "–"),
				cmp.Or(table.MarkdownText(example), "–"), table.MarkdownText(doc))
		}
	}
	section("The manifest", "The keys of the file.", &Manifest{})
	section("Overlays",
		"The keys that an overlay has beside those of a [council file](../use/council-file.md).", &Settings{})
	section("cases", "Overlays for some cells.", &Case{})
	section("replace", "Seats that differ from the others, by their place in the graph.", &Replace{})
	section("answered", "Questions that recorded models have answered.", &Answered{})
	section("reads", "Figures from the run of another cell.", &Reads{})
	section("budget", "What the whole grid may use.", &bench.Budget{})
	section("paper", "Figures to compare with.", &Paper{})
	section("plots", "A figure of the list.", &report.PlotSpec{})
	for _, e := range computed.Catalogue.All() {
		section("compute: "+e.Name, e.Summary+".", e.New())
	}
	b.WriteString("\n### Short axes\n\n| axis with a list of values | key |\n|---|---|\n")
	short := ShortAxes()
	for _, name := range slices.Sorted(maps.Keys(short)) {
		fmt.Fprintf(&b, "| `%s` | `%s` |\n", name, short[name])
	}
	return b.String()
}

// docs/measure/experiments.md has every key of a manifest. Its last part is generated, and it shows the example as it
// is.
func TestExperimentsPage(t *testing.T) {
	const path = "../../docs/measure/experiments.md"
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	written, generated, _ := strings.Cut(string(b), referenceHead)
	want := reference()
	if *rewrite {
		if err := os.WriteFile(path, []byte(written+want), 0o644); err != nil {
			t.Fatal(err)
		}
		generated = strings.TrimPrefix(want, referenceHead)
	}
	if referenceHead+generated != want {
		t.Errorf("the generated part of %s is old; -rewrite renews it", path)
	}
	example, err := os.ReadFile("../../examples/experiment/study.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(written, string(example)) {
		t.Errorf("%s does not show examples/experiment/study.yaml as it is", path)
	}
}

// Mistakes in a manifest name the key, its value, what is allowed and an example.
func TestMistakes(t *testing.T) {
	const members = "base: {task: builtin, questions: 1, models: {m: {provider: simulated}}, " +
		"seats: [{id: a, model: m, count: 5}]}\n"
	for text, want := range map[string]string{
		"":                        `experiment is ""; it must be a name`,
		"experiment: x\nbsae: {}": `unknown key "bsae" (did you mean "base"?)`,
		"experiment: x\nbase: {protcol: {name: sac}}": `base: unknown key "protcol" (did you mean "protocol"?)`,
		"experiment: X y":                                    "lower-case letters",
		"experiment: x\naxes: {graph: star}":                 "axes.graph: must be a list of values or a table",
		"experiment: x\naxes: {graph: []}":                   "has no values",
		"experiment: x\naxes: {protocl.rounds: [1]}":         `"protocl" is not a key of an overlay (did you mean "protocol"?)`,
		"experiment: x\naxes: {f: [1, 1]}":                   "two values give cells the name",
		"experiment: x\nmembers: {simulatd: {}}":             "members.simulatd is not a kind of members (did you mean",
		"experiment: x\ncases: [{set: {f: 1}}]":              "cases[0] has no condition",
		"experiment: x\nplots: [{name: p, kind: pie}]":       "must be one of bars, lines",
		"experiment: x\nextends: nothing":                    "extends: open nothing",
		"experiment: x\nbudget: {calls: -1}":                 "budget.calls is -1; it must be at least 0",
		"experiment: x\nexclude: [{grph: star}]\n" + members: `exclude[0]: no cell has "grph"`,
		"experiment: x\naxes: {fs: [1]}\n" + members:         "axes.fs: this is not a key of an overlay",
		"experiment: x\naxes: {graph: [ssatr]}\n" + members:  "ssatr",
		"experiment: x\naxes: {b: [9]}\n" + members:          "adversaries",
		"experiment: x\nname: $grph\n" + members:             "$grph is not a variable",
		"experiment: x\npaper: {file: no.csv}\n" + members:   "paper.file: open no.csv",
		"experiment: x\naxes: {f: [1.5]}\n" + members:        "f is 1.5; it must be a whole number",
		"experiment: x\nbase: {seats: [{id: a, model: m}], " +
			"models: {m: {provider: simulated}}}": "task is missing",
	} {
		m, err := Parse([]byte(text), "")
		if err == nil {
			_, err = m.Draft(Options{})
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}
