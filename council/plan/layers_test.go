package plan

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// merged is the spec of layers: a text each, the first a file, the others assignments separated by semicolons.
func merged(t *testing.T, file string, sets ...string) (Spec, Origin, error) {
	t.Helper()
	layers := []Layer{{Name: "file", Text: []byte(file)}}
	for i, set := range sets {
		l, err := Set(fmt.Sprintf("set %d", i+1), strings.Split(set, "; "))
		if err != nil {
			return Spec{}, nil, err
		}
		layers = append(layers, l)
	}
	return Merge(layers...)
}

const layered = `protocol: {name: sac, rounds: 4}
graph: {family: complete}
f: 1
models: {d: {provider: simulated, ability: 0.5}, e: {provider: simulated}}
seats: [{id: a, model: d, count: 3}, {id: z, model: d}, {id: b1, model: e}]
`

// A later layer takes precedence key by key; a section that names another thing is replaced whole.
func TestLayersMerge(t *testing.T) {
	s, origin, err := merged(t, layered, "protocol.rounds=2; f=2", "f=0; models.d.noise=0.1")
	if err != nil {
		t.Fatal(err)
	}
	if s.F != 0 || fmt.Sprint(s.Protocol["rounds"]) != "2" || s.Protocol["name"] != "sac" ||
		fmt.Sprint(s.Models["d"]) != "map[ability:0.5 noise:0.1 provider:simulated]" {
		t.Errorf("%+v", s)
	}
	for key, want := range map[string]string{"f": "set 2", "protocol.rounds": "set 1", "protocol.name": "file",
		"models.d.noise": "set 2", "models.d.ability": "file", "seats": "file", "limits": ""} {
		if origin[key] != want {
			t.Errorf("%s is of %q, want %q", key, origin[key], want)
		}
	}
	for _, c := range []struct{ file, set, want string }{
		{layered, "protocol={name: debate}", "map[name:debate]"},
		{layered, "protocol={name: sac, reflect: 1}", "map[name:sac reflect:1 rounds:4]"},
		{strings.Replace(layered, "sac, rounds: 4", "debate", 1), "protocol={name: sac}", "map[name:sac]"},
	} {
		tree := map[string]any{}
		l, err := Set("set", []string{c.set})
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range [][]byte{[]byte(c.file), l.Text} {
			part, err := Assign("part", []string{"x=" + inline(text)})
			if err != nil {
				t.Fatal(err)
			}
			merge(tree, part["x"].(map[string]any), "", "part", Origin{})
		}
		if got := fmt.Sprint(tree["protocol"]); got != c.want {
			t.Errorf("%s: %s, want %s", c.set, got, c.want)
		}
	}
	s, origin, err = merged(t, layered, "graph={family: ring}; models.d={provider: simulated, ability: 0.9}",
		"graph={family: star}")
	if err != nil || s.Graph["family"] != "star" || origin["graph.family"] != "set 2" ||
		fmt.Sprint(s.Models["d"]["ability"]) != "0.9" {
		t.Errorf("%v: %v, %v", err, s.Graph, origin)
	}
}

// inline is a block of YAML in a form that can be a value.
func inline(text []byte) string { return "\n  " + strings.ReplaceAll(string(text), "\n", "\n  ") }

// An assignment to a seat by its id changes this seat alone.
func TestAssignmentsToSeats(t *testing.T) {
	for _, c := range []struct{ set, want string }{
		{"seats.z.model=e", "a1:d a2:d a3:d z:e b1:e"},
		{"seats.a.model=e", "a1:e a2:e a3:e z:d b1:e"},
		{"seats.a1.model=e", "a1:e a2:d a3:d z:d b1:e"},
		{"seats.a3.model=e", "a1:d a2:d a3:e z:d b1:e"},
		{"seats.a2.model=e; seats.z.model=e", "a1:d a2:e a3:d z:e b1:e"},
		{"seats.b1.model=d", "a1:d a2:d a3:d z:d b1:d"},
	} {
		s, _, err := merged(t, layered, c.set)
		if err != nil {
			t.Errorf("%s: %v", c.set, err)
			continue
		}
		seats, _, err := s.expand()
		var got []string
		for _, seat := range seats {
			got = append(got, seat.ID+":"+seat.Model)
		}
		if err != nil || strings.Join(got, " ") != c.want {
			t.Errorf("%s: %v, %v", c.set, got, err)
		}
	}
	for set, want := range map[string]string{
		"seats.a4.model=e":             `set 1: no seat is called "a4"`,
		"seats.a0.model=e":             `no seat is called "a0"`,
		"seats.b2.model=e":             `no seat is called "b2" (did you mean "b1"?); there are: a, z, b1`,
		"seats.z1.model=e":             `no seat is called "z1"`,
		"seats.zz.model=e":             `no seat is called "zz"`,
		"seats.z=e":                    "seats.z is not a key of a seat (example: seats.z.adversary.name=replay)",
		"seats.z.modle=e":              `seats.z: unknown key "modle"`,
		"protocol":                     `"protocol" is not key=value`,
		"=3":                           `"=3" is not key=value`,
		"f={":                          "the value of f cannot be read; it must be YAML",
		"protocol.rounds.most=3":       "protocol.rounds",
		"limits.calls=1.5":             "limits.calls is 1.5; it must be a whole number",
		"graf.family=ring":             `(did you mean "graph"?)`,
		"models.d.ability=7":           "set 1: models.d.ability is 7",
		"f=3; protocol.rounds=-1":      "set 1: protocol.rounds is -1",
		"seats=[{id: q, model: none}]": `set 1: seats: seat q: no model is called "none"`,
	} {
		_, _, err := merged(t, layered, set)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "line ") {
			t.Errorf("%s: %v; want %s", set, err, want)
		}
	}
	if _, _, err := merged(t, strings.Replace(layered, "count: 3", fmt.Sprint("count: ", maxChecked+1), 1),
		"seats.a2.model=e"); err == nil || !strings.Contains(err.Error(), "no seat is called") {
		t.Errorf("one of %d seats: %v", maxChecked+1, err)
	}
	if s, _, err := merged(t, strings.Replace(layered, "count: 3", fmt.Sprint("count: ", maxChecked), 1),
		"seats.a2.model=e"); err != nil || len(s.Seats) != maxChecked+2 {
		t.Errorf("one of %d seats: %d entries, %v", maxChecked, len(s.Seats), err)
	}
}

// A mistake without a layer that set its section is put down to the first.
func TestMistakeOfTheFirstLayer(t *testing.T) {
	_, _, err := merged(t, strings.Replace(layered, "f: 1", "f: 9", 1), "council=x")
	if err == nil || !strings.HasPrefix(err.Error(), "file: f is 9") {
		t.Errorf("%v", err)
	}
	if _, _, err := merged(t, "models: {}\nseats: [{id: a}]\n"); err == nil || !strings.HasPrefix(err.Error(),
		"file: ") {
		t.Errorf("%v", err)
	}
}

// A council file is named in its mistakes. Paths in it are relative to its folder.
func TestFilesAndFolders(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "council.yaml")
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Load(path); err == nil || !strings.Contains(err.Error(), "council file: ") {
		t.Errorf("no file: %v", err)
	}
	if _, err := Load(dir); err == nil || !strings.Contains(err.Error(), "is a folder; give a council file in it") {
		t.Errorf("a folder: %v", err)
	}
	write("council: \xff\n")
	if _, err := Load(path); err == nil || !strings.Contains(err.Error(), "is not UTF-8 text") {
		t.Errorf("another encoding: %v", err)
	}
	write(layered + "f: 3\n")
	if _, err := Load(path); err == nil || !strings.HasPrefix(err.Error(), path+": line ") {
		t.Errorf("a mistake: %v", err)
	}
	text := strings.Replace(layered, "e: {provider: simulated}",
		"e: {provider: recorded, path: t.jsonl, model: x}, g: "+
			"{provider: recorded, path: /t.jsonl, model: x}", 1) + "prompts: p\n"
	write(text)
	s, err := Load(path)
	if err != nil || s.Models["e"]["path"] != filepath.Join(dir, "t.jsonl") || s.Models["g"]["path"] != "/t.jsonl" ||
		s.Prompts != filepath.Join(dir, "p") {
		t.Errorf("%v: %v, prompts %s", err, s.Models, s.Prompts)
	}
	if s, err := Parse([]byte(text)); err != nil || s.Models["e"]["path"] != "t.jsonl" || s.Prompts != "p" {
		t.Errorf("a text without a folder: %v: %v", err, s.Models)
	}
	p, err := New(Spec{Protocol: Params{"name": "majority"}, Graph: Params{"family": "complete"},
		Models: map[string]Params{"e": {"provider": "recorded", "path": "t.jsonl", "model": "x"}},
		Seats:  []SeatSpec{{ID: "a", Model: "e"}}})
	if here, _ := os.Getwd(); err != nil || p.spec.Models["e"]["path"] != filepath.Join(here, "t.jsonl") {
		t.Errorf("a plan: %v", err)
	}
}

// The line of a mistake is that of the key that the message quotes, or else of its section.
func TestLinesOfMistakes(t *testing.T) {
	text := []byte("f: 1\nmodels:\n  a: {provider: x}\n  b: {provider: y}\nlimits:\n  calls: 1\n")
	for _, c := range []struct {
		section, message string
		want             int
	}{{"f", "f is 1", 1}, {"models", `"b" is bad`, 4}, {"models", `"c" is bad`, 3}, {"models.b", "bad", 4},
		{"limits", "calls is 1", 6}, {"pace", "absent", 0}, {"limits", `"calls" is bad`, 6}} {
		if got := lineOf(text, c.section, c.message); got != c.want {
			t.Errorf("%s, %s: line %d, want %d", c.section, c.message, got, c.want)
		}
	}
	if got := lineOf([]byte("a: [\n"), "a", "?"); got != 0 {
		t.Errorf("a text that is no YAML: line %d", got)
	}
}

// A number that JSON does not have is found wherever it stands.
func TestNumbersThatAreNone(t *testing.T) {
	for _, c := range []struct {
		tree any
		want string
	}{
		{map[string]any{"b": 1.0, "c": math.NaN(), "a": 2}, "c NaN"},
		{map[string]any{"a": map[string]any{"b": []any{0.0, math.Inf(-1)}}}, "a.b[1] -Inf"},
		{map[string]any{"a": []any{1, "x", map[string]any{"y": math.Inf(1)}}}, "a[2].y +Inf"},
		{map[string]any{"a": []any{0.5}, "b": 1}, ""},
	} {
		got := ""
		if at, value, found := findNotFinite("", c.tree); found {
			got = fmt.Sprint(at, " ", value)
		}
		if got != c.want {
			t.Errorf("%v: %q, want %q", c.tree, got, c.want)
		}
	}
	spec := Default()
	spec.Models = map[string]Params{"d": {"provider": "simulated", "ability": math.Inf(1)}}
	spec.Seats = []SeatSpec{{ID: "a", Model: "d"}}
	if _, err := New(spec); err == nil || !strings.Contains(err.Error(),
		"d.ability is +Inf; it must be a finite number") {
		t.Errorf("%v", err)
	}
	if err := notFinite(&Spec{}); err != nil {
		t.Errorf("%v", err)
	}
}

// Seats of a graph file are those with the nodes' names, all of them or none; else those at the same place.
func TestSeatsOfNodes(t *testing.T) {
	p := planOf(t, 3, "")
	for names, want := range map[string]string{"a3 a1 a2": "[2 0 1]", "n0 n1 n2": "[0 1 2]", "a1 n1 n2": `called "n2"`,
		"n0 a2 a1": `called "n0"`, "a2 n1 a1": `called "n1"`} {
		seats, err := seatsOfNodes(p, strings.Fields(names))
		if got := fmt.Sprint(seats, err); !strings.Contains(got, want) || (err != nil) != strings.HasPrefix(want,
			"called") {
			t.Errorf("%s: %v, %v", names, seats, err)
		}
	}
}

// A graph file has a largest size.
func TestLargestGraphFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "g.json")
	if err := os.WriteFile(path, slices.Repeat([]byte(" "), maxGraphFile), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := readGraph(path); err == nil || strings.Contains(err.Error(), "more than") {
		t.Errorf("a file of the largest size: %v", err)
	}
	if err := os.WriteFile(path, slices.Repeat([]byte(" "), maxGraphFile+1), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := readGraph(path); err == nil || !strings.Contains(err.Error(), "has more than 16 MiB") {
		t.Errorf("a larger file: %v", err)
	}
}

// Adversaries put into a spec give the same spec as assignments to its seats in YAML.
func TestWithAdversaries(t *testing.T) {
	s, _, err := merged(t, layered)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		at  map[string]Params
		set string
	}{
		{map[string]Params{"a2": {"name": "sleeper", "rounds": 2}, "b1": {"name": "replay"}},
			"seats.a2.adversary={name: sleeper, rounds: 2}; seats.b1.adversary.name=replay"},
		{map[string]Params{"z": {"name": "silent"}}, "seats.z.adversary.name=silent"},
	} {
		want, _, err := merged(t, layered, c.set)
		if err != nil {
			t.Fatal(err)
		}
		got, err := s.WithAdversaries(c.at)
		if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: %v\n%+v\n%+v", c.set, err, got, want)
		}
	}
	if len(s.Seats) != 3 || s.Seats[0].Adversary != nil || s.Seats[2].Adversary != nil {
		t.Errorf("the spec changed: %+v", s.Seats)
	}
	_, err = s.WithAdversaries(map[string]Params{"a": {"name": "silent"}})
	if err == nil || !strings.Contains(err.Error(), `no seat is called "a" (did you mean "a1"?)`) {
		t.Errorf("an entry of several seats: %v", err)
	}
}
