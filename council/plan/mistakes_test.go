package plan

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"synod.dev/synod"
)

// A mistake in a council file names the line, the key and what is allowed.
func TestMistakesInFiles(t *testing.T) {
	const dice = "models: {d: {provider: simulated}}\n"
	three := dice + "seats: [{id: a, model: d, count: 3}]\n"
	for _, c := range []struct{ text, want string }{
		{three + "protocol: {name: sak}\n", `line 3: protocol: no protocol is called "sak" (did you mean "sac"?)`},
		{three + "protocol: {rounds: 3}\n", "line 3: protocol: it has no name"},
		{three + "protocol: {name: 7}\n", "line 3: protocol: it has no name"},
		{three + "protocol: {name: sac, rounds: many}\n", "line 3: protocol.rounds"},
		{three + "exact: papers\n", `exact is "papers"; it must be absent or "paper"`},
		{three + "exact: paper\nhedge: p95\n", "exact: paper makes no second requests, so it must be absent"},
		{three + "graph: {family: ring, n: x}\n", "line 3: graph"},
		{three + "graph: {edges: [[0, 1]]}\n", "the graph is not connected: [a3] can never hear the others"},
		{three + "graph: {edges: [[0, 1], [1, 2], [2, 0]], directed: true}\n", "the graph is directed"},
		{three + "graph: {file: 7}\n", "graph.file is 7; it must be a path"},
		{three + "graph: {file: x.dot, n: 3}\n", "n stands beside file; a graph from a file has no other settings"},
		{three + "graph: {file: /nowhere/x.dot}\n", "/nowhere/x.dot"},
		{three + "reference: {model: e}\n", `no model is called "e" (did you mean "d"?); name one under models, or set`},
		{three + "reference: {model: e, usd: 0.1}\n", ""},
		{three + "reference: {usd: 0.1}\n", "reference"},
		{three + "reference: {model: d, usd: -1}\n", "reference"},
		{three + "f: 4\n", "f is 4; it must be between 0 and the number of seats, 3"},
		{three + "rule: {name: majority, support: 4}\n", "rule.support is 4; it must be between 0 and"},
		{three + "protocol: {name: decentllms}\n",
			`seats: seat a1: role is ""; in protocol decentllms it must be one of`},
		{three + "protocol: {name: game}\ngraph: {family: ring}\nf: 0\n", ""},
		{dice + "seats: [{id: a, model: d, count: 4}]\nprotocol: {name: game}\ngraph: {family: ring}\nf: 0\n",
			"protocol game needs a complete graph, and seat a1 hears only 2 of the 3 others"},
		{dice + "seats: [{id: a, model: d, role: boss}]\n", `seat a: role is "boss", and protocol sac has no roles`},
		{dice + "seats: [{model: d}, {id: b, model: d}]\n",
			"seat 1 of the list has no id (example: {id: a, model: d})"},
		{dice + "seats: [{id: a, model: d}, {}]\n", "seat 2 of the list has no id (example: {id: a, model: strong})"},
		{dice + "seats: [{id: a, model: d}, {id: \"b\\nc\", model: d}]\n", `seat 2 of the list is called "b\nc"`},
		{dice + "seats: [{id: a, model: d, count: -1}]\n", "seats.a.count is -1; it must be between 0 and 16384"},
		{dice + "seats: [{id: a, model: d, count: 16385}]\n", "seats.a.count is 16385; it must be between 0 and 16384"},
		{dice + "seats: [{id: a, model: d, group: middling}]\n", `group is "middling"; it must be weak or strong`},
		{dice + "seats: [{id: a, model: d, group: weak}, {id: b, model: d, group: strong}]\n", ""},
		{dice + "seats: [{id: a, model: d, count: 2}, {id: a2, model: d}]\n", `two seats are called "a2"`},
		{dice + "seats: [{id: a, model: e}]\n", `seats: seat a: no model is called "e" (did you mean "d"?)`},
		{dice + "seats: [{id: a, model: d, adversary: {seed: 1}}]\n", "seat a: adversary: it has no name"},
		{dice + "seats: [{id: a, model: d, adversary: {name: replai}}]\n", `seat a: no adversary is called "replai"`},
		{dice + "seats: [{id: a, model: d, adversary: {name: replay, ad: 1}}]\n", "adversary replay: "},
		{"models: {d: {ability: 1}}\nseats: [{id: a, model: d}]\n",
			"models.d: it names no provider (example: provider: openai)"},
		{"models: {dicee: {ability: 1}, dice: {provider: simulated}}\nseats: [{id: a, model: dice}]\n",
			`it names no provider (example: provider: openai) (did you mean "dice"?)`},
		{dice + "seats: [{id: a, model: d, adversary: {name: late-revealer, shows: [b]}}]\n", `no seat is called "b"`},
		{"models: {d: {provider: simulatet}}\nseats: [{id: a, model: d}]\n", `(did you mean "simulated"?)`},
		{three + "breakers: {escalate: {webhook: 'http://'}}\n",
			"escalate: webhook must be a URL that begins with http"},
		{three + "breakers: {escalate: {webhook: 'https://x.example/hook'}}\n", ""},
		{three + "breakers: {escalate: {webhook: 'http://x.example/hook', command: [notify]}}\n", ""},
		{three + "patience: {after: 2}\n", ""},
		{three + "patience: {spare: 1, after: 1x}\n", ""},
		{three + "patience: {spare: 1, after: 100x}\n", ""},
		{three + "patience: {spare: 1, after: 100.5x}\n", "after is 100.5x; it must be between 1x and 100x"},
		{three + "pace: {think: 24h, within: 1h}\n", ""},
		{three + "pace: {think: 1ms, within: 1ms}\n", ""},
		{three + "pace: {think: 1.5ms}\n", "whole milliseconds"},
		{three + "faults: {delay: {min: 10us, max: 2ms}}\n",
			"line 3: faults.delay.min is 10µs; it must be whole milliseconds"},
		{three + "faults: {delay: {min: 1ms, max: 1001us}}\n", "faults.delay.max is 1.001ms; it must be whole"},
		{three + "faults: {partitions: [{to: 1s, groups: [[0]]}, {from: 1us, to: 2us, groups: [[0]]}]}\n",
			"faults.partitions[1].from is 1µs; it must be whole"},
		{three + "faults: {crashes: [{node: 0, at: 1s}, {node: 1, at: 1s, to: 1500us}]}\n",
			"faults.crashes[1].to is 1.5ms; it must be whole"},
		{three + "faults: {partitions: [{from: 1s, to: 1s, groups: [[0]]}]}\n",
			"partitions[0].to is 1s; it must be later"},
		{three + "faults: {partitions: [{from: 1s, to: 1001ms, groups: [[0]]}]}\n", ""},
		{three + "faults: {crashes: [{node: 3}]}\n", "crashes[0].node is 3; the seats are numbered 0 to 2"},
		{three + "faults: {crashes: [{node: 2}, {node: 0}]}\n", ""},
		{three + "faults: {delay: {min: 2ms, max: 2ms}}\n", ""},
		{three + "faults: {delay: {min: 3ms, max: 2ms}}\n",
			"delay.min is 3ms; it must not be longer than delay.max, 2ms"},
		{three + "seeds: 3\n", `line 3: `},
		{"members: [{id: a}]\n", `unknown key "members" (did you mean "seats"?)`},
		{three + "budget: {usd: 1}\n", `unknown key "budget" (did you mean "limits"?)`},
		{three + "limits: {budget: 1}\n", `limits: unknown key "budget" (did you mean "usd"?)`},
		{three + "judge: gpt\n", "there is no judge: rule says how"},
		{three + "system_prompt: be brief\n", "synod ask --system FILE"},
		{three + "base_url: http://x/v1\n", "the address of a server is url under its model"},
		{"protocol: [", "docs/use/council-file.md has examples"},
	} {
		_, err := Parse([]byte(c.text))
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s%v; want %q", c.text, err, c.want)
		}
	}
}

// An error of a section has the key with its path, once.
func TestPathsOfKeys(t *testing.T) {
	for _, c := range []struct{ section, message, want string }{
		{"limits", "deadline is -5m; it must be", "limits.deadline is -5m; it must be"},
		{"limits", "limits: deadline is -5m; it must be", "limits.deadline is -5m; it must be"},
		{"f", "f is 9; it must be", "f is 9; it must be"},
		{"protocol", "sac: rounds is -1; it must be", "protocol.rounds is -1; it must be"},
		{"rule", "majority: support is -1; it must be", "rule: majority: support is -1; it must be"},
		{"graph", "er on 3 nodes: p is 2; it must be", "graph.p is 2; it must be"},
		{"faults", "sim: delay is 1s; it must be", "faults.delay is 1s; it must be"},
		{"breakers", "breakers.drift is 1; it must be", "breakers.drift is 1; it must be"},
		{"seats", "it is wrong; sorry", "seats: it is wrong; sorry"},
		{"seats", "this is wrong; sorry", "seats: this is wrong; sorry"},
		{"seats", "seat a: no model", "seats: seat a: no model"},
		{"", "anything is wrong; sorry", "anything is wrong; sorry"},
	} {
		if got := inSection(c.section, c.message); got != c.want {
			t.Errorf("%s, %q: %q, want %q", c.section, c.message, got, c.want)
		}
	}
	e := &ConfigError{Section: "f", Err: errors.New("f is 9")}
	if e.Error() != "f: f is 9" {
		t.Errorf("without a line: %q", e.Error())
	}
	if e.Line = 1; e.Error() != "line 1: f: f is 9" {
		t.Errorf("in the first line: %q", e.Error())
	}
}

// Seats are found by their id, or else by their place.
func TestFindSeat(t *testing.T) {
	p, err := New(parsed(t,
		"models: {d: {provider: simulated}}\nseats: [{id: z, model: d}, {id: \"0\", model: d}, "+
			"{id: b, model: d}]\n"))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]synod.NodeID{"z": 0, "0": 1, "b": 2, "1": 1, "2": 2, "3": -1, "-1": -1,
		"c": -1} {
		got, err := findSeat(p, name)
		if want < 0 && (err == nil || !strings.Contains(err.Error(), "no seat is called")) || want >= 0 &&
			(err != nil || got != want) {
			t.Errorf("%s: seat %d, %v", name, got, err)
		}
	}
}

// Seats that do not exist have no name.
func TestNamesOfSeats(t *testing.T) {
	p := planOf(t, 2, "")
	for id, want := range map[synod.NodeID]string{-1: "", 0: "a1", 1: "a2", 2: ""} {
		if got := p.Name(id); got != want {
			t.Errorf("seat %d is called %q, want %q", id, got, want)
		}
	}
}

// A run needs the folder of prompts that the spec names; reading and checking do not. The folder must hold templates.
func TestFolderOfPrompts(t *testing.T) {
	empty, full, broken := t.TempDir(), t.TempDir(), t.TempDir()
	write := func(folder, text string) {
		if err := os.WriteFile(filepath.Join(folder, "refine.tmpl"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(full, `{{define "system"}}S{{end}}{{define "user"}}U{{end}}`)
	write(broken, "{{broken")
	if err := os.WriteFile(filepath.Join(empty, "notes.txt"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for folder, want := range map[string]string{
		full: "", empty: "holds no .tmpl file and no folder sac with such files; the protocol's ", broken: "refine",
		"/nowhere": "/nowhere",
	} {
		spec := Default()
		spec.Models, spec.Prompts = map[string]Params{"d": {"provider": "simulated"}}, folder
		spec.Seats = []SeatSpec{{ID: "a", Model: "d", Count: 3}}
		_, err := New(spec)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("to run with %s: %v", want, err)
		}
		if _, err := Read(spec); err != nil {
			t.Errorf("to read with %s: %v", want, err)
		}
		if _, err := newPlan(spec, fromFile); (err != nil) != (folder == broken) {
			t.Errorf("to check with %s: %v", want, err)
		}
	}
}

// Multiples are written 2x. Zero would mean the default.
func TestFactor(t *testing.T) {
	for text, want := range map[string]Factor{"2x": 2, "1.5x": 1.5, "3": 3, `"2x"`: 2, " '4x' ": 4, "0x": 0, "fast": 0,
		"": 0, "-1x": -1} {
		var f Factor
		err := f.UnmarshalYAML([]byte(text))
		if (err != nil) != (want == 0) || f != want {
			t.Errorf("%q: %v, %v", text, f, err)
		}
		if b, _ := f.MarshalYAML(); want != 0 && string(b) != f.String() {
			t.Errorf("%q is written %s and %s", text, b, f)
		}
	}
	if s := Factor(1.25).String(); s != "1.25x" {
		t.Errorf("%s", s)
	}
}

// The defaults of a council file.
func TestDefaults(t *testing.T) {
	p := planOf(t, 3, "f: 1\npatience: {spare: 1}\n")
	s := p.Spec()
	if s.Limits != (Limits{Calls: 2000, Tokens: 4_000_000, Deadline: 10 * time.Minute}) || s.Rule.Name != Majority ||
		s.Patience.After != 2 || s.Pace != (Pace{time.Minute, 2 * time.Second}) {
		t.Errorf("%+v", s)
	}
	if s := planOf(t, 3, "f: 1\npatience: {spare: 1, after: 5x}\n").Spec(); s.Patience.After != 5 {
		t.Errorf("%v", s.Patience.After)
	}
	if s := planOf(t, 3, "f: 1\n").Spec(); s.Patience.After != 0 {
		t.Errorf("without patience it has a multiple: %v", s.Patience.After)
	}
}

// A large council is checked when its plan is made, not when its file is read.
func TestLargeFilesAreReadUnchecked(t *testing.T) {
	const text = "models: {d: {provider: simulated}}\nf: -1\nseats: [{id: a, model: d, count: %d}]\n"
	if _, err := Parse(fmt.Appendf(nil, text, maxChecked)); err == nil {
		t.Errorf("%d seats are not checked", maxChecked)
	}
	if _, err := Parse(fmt.Appendf(nil, text, maxChecked+1)); err != nil {
		t.Errorf("%d seats: %v", maxChecked+1, err)
	}
	if _, err := Parse([]byte("f: -1\n")); err != nil {
		t.Errorf("a part without seats: %v", err)
	}
	if s, err := Parse([]byte(" \n")); err != nil || s.F != 1 {
		t.Errorf("an empty text: %+v, %v", s, err)
	}
}

// A cache forgets the oldest of its results.
func TestCache(t *testing.T) {
	c := cache[int]{room: 2}
	for i, key := range []string{"a", "b", "a", "c"} {
		c.put(key, i)
	}
	for key, want := range map[string]int{"a": -1, "b": 1, "c": 3, "d": -1} {
		if got, ok := c.get(key); ok != (want >= 0) || ok && got != want {
			t.Errorf("%s: %d, %v; want %d", key, got, ok, want)
		}
	}
}

// What changed between two sets of prompts.
func TestTemplateChanges(t *testing.T) {
	before := map[string]string{"same": "1", "gone": "2", "other": "3"}
	now := map[string]string{"same": "1", "other": "4", "more": "5"}
	want := "prompt gone: no longer exists\nprompt other: its text was changed (3 before, 4 now)\nprompt more: is new"
	if got := strings.Join(TemplateChanges(before, now), "\n"); got != want {
		t.Errorf("%s; want %s", got, want)
	}
	if got := append(TemplateChanges(nil, now), TemplateChanges(before, nil)...); got != nil {
		t.Errorf("one is not known: %v", got)
	}
}

// A question must be text, and a choice needs something to choose from.
func TestAcceptedQuestions(t *testing.T) {
	options := []synod.Option{{Label: "A", Text: "x"}, {Label: "B", Text: "y"}}
	for _, c := range []struct {
		protocol string
		q        synod.Question
		want     string
	}{
		{"sac", synod.Question{Text: "?", Form: synod.Number}, ""},
		{"sac", synod.Question{Form: synod.Number}, "the question is empty"},
		{"sac", synod.Question{Text: "?", Form: synod.Choice, Options: options}, ""},
		{"sac", synod.Question{Text: "?", Form: synod.Choice, Options: options[:1]}, "at least two options"},
		{"w-msr", synod.Question{Text: "?", Form: synod.Text},
			"decides answers of the form number only, and this question has"},
	} {
		err := planOf(t, 4, "protocol: {name: "+c.protocol+"}\n").Accepts(&c.q)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s, %+v: %v", c.protocol, c.q, err)
		}
	}
}

// Other programs have other names for the address of a server.
func TestForeignKeys(t *testing.T) {
	for _, key := range []string{"base_url", "api_base", "endpoint"} {
		spec, err := Parse([]byte("models: {m: {provider: openai, model: x, " + key + ": 'http://x/v1'}}\n" +
			"seats: [{id: a, model: m, count: 3}]\n"))
		if err == nil {
			_, err = New(spec)
		}
		if err == nil || !strings.Contains(err.Error(), `did you mean "url"?`) {
			t.Errorf("%s: %v", key, err)
		}
	}
}
