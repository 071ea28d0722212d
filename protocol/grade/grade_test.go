package grade_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/protocol/grade"
)

const marks = `{"reasoning": "fine", "factual_contradiction": 20, "factual_fabrication": 19.5, "instruction_inconsistency": 0, "context_inconsistency": -0, "logical_inconsistency": 10}`

func read(text string) (grade.Grades, error) {
	return grade.Read(&synod.Reply{Status: synod.OK, Text: text})
}

// [I-DL-6] Grades are read whole or not at all.
func TestRead(t *testing.T) {
	want := grade.Grades{20, 19.5, 0, 0, 10}
	for _, good := range []string{marks, "```json\n" + marks + "\n```", "<think>0</think>" + marks,
		strings.Replace(marks, `"reasoning": "fine", `, "", 1)} {
		if g, err := read(good); err != nil || g != want {
			t.Errorf("%s is read as %v, %v", good, g, err)
		}
	}
	for what, change := range map[string][2]string{
		"above the range": {"19.5", "20.01"}, "below it": {"19.5", "-1"}, "huge": {"19.5", "1e999"},
		"NaN":      {"19.5", "NaN"},
		"a string": {"19.5", `"19.5"`}, "null": {"19.5", "null"}, "a list": {"19.5", "[19.5]"},
		"missing":      {`"factual_fabrication": 19.5, `, ""},
		"extra":        {`"factual_fabrication"`, `"style": 3, "factual_fabrication"`},
		"twice":        {`"factual_fabrication"`, `"factual_fabrication": 1, "factual_fabrication"`},
		"another case": {`"factual_fabrication"`, `"Factual_Fabrication"`}, "cut off": {"10}", ""},
		"prose after": {"10}", "10} and so on"}, "prose before": {`{"r`, `Scores: {"r`},
	} {
		bad := strings.Replace(marks, change[0], change[1], 1)
		if g, err := read(bad); err == nil || bad == marks {
			t.Errorf("%s is read as %v", what, g)
		}
	}
	if _, err := grade.Read(&synod.Reply{Status: synod.Timeout, Text: marks}); err == nil {
		t.Error("a failed call has grades")
	}
	if g, err := read(want.Text()); err != nil || g != want {
		t.Errorf("%s is read as %v, %v", want.Text(), g, err)
	}
}

// No text makes the reader panic, and what it reads is in range.
func FuzzRead(f *testing.F) {
	f.Add(marks)
	f.Add(`{"factual_contradiction": 1e400}`)
	f.Fuzz(func(t *testing.T, text string) {
		if g, err := read(text); err == nil && !g.Valid() {
			t.Fatalf("%q is read as %v", text, g)
		}
	})
}

// gradesOf returns grades of n answers as a model writes them.
func gradesOf(n int) string {
	text := `{"reasoning": "fine"`
	for i := range n {
		text += fmt.Sprintf(`, "answer_%d": %s`, i+1, strings.Replace(marks, `"reasoning": "fine", `, "", 1))
	}
	return text + "}"
}

// [DL-6] [I-DL-6] Marks of all answers at once are read whole or not at all.
func TestReadAll(t *testing.T) {
	want := grade.Grades{20, 19.5, 0, 0, 10}
	for n := range 4 {
		got, err := grade.ReadAll(&synod.Reply{Status: synod.OK, Text: gradesOf(n)}, n)
		if err != nil || len(got) != n || n > 0 && got[n-1] != want {
			t.Errorf("%d answers: %v, %v", n, got, err)
		}
		for other := range 4 {
			if _, err := grade.ReadAll(&synod.Reply{Status: synod.OK, Text: gradesOf(n)},
				other); (err == nil) != (n == other) {
				t.Errorf("marks of %d answers are read as of %d: %v", n, other, err)
			}
		}
	}
	for what, change := range map[string][2]string{
		"above the range": {"19.5", "20.01"}, "NaN": {"19.5", "NaN"}, "a string": {"19.5", `"19.5"`},
		"missing":          {`"factual_fabrication": 19.5, `, ""},
		"extra":            {`"factual_fabrication"`, `"style": 3, "factual_fabrication"`},
		"reasoning inside": {`"factual_contradiction"`, `"reasoning": "", "factual_contradiction"`},
		"an answer twice":  {"answer_2", "answer_1"}, "a list": {`"answer_1": {`, `"answer_1": [{`},
		"another name": {"answer_2", "Answer_2"}, "cut off": {"10}}", "10}"},
	} {
		bad := strings.Replace(gradesOf(2), change[0], change[1], 1)
		if got, err := grade.ReadAll(&synod.Reply{Status: synod.OK, Text: bad}, 2); err == nil || bad == gradesOf(2) {
			t.Errorf("%s is read as %v", what, got)
		}
	}
	if _, err := grade.ReadAll(&synod.Reply{Status: synod.Timeout, Text: gradesOf(1)}, 1); err == nil {
		t.Error("a failed call has grades")
	}
	written := grade.TextOfAll([]grade.Grades{want, {}})
	if all, err := grade.ReadAll(&synod.Reply{Status: synod.OK, Text: written}, 2); err != nil || all[0] != want {
		t.Errorf("%s is read as %v, %v", written, all, err)
	}
}

// No text makes the reader panic, and what it reads is in range.
func FuzzReadAll(f *testing.F) {
	f.Add(gradesOf(2), 2)
	f.Add(`{"answer_1": {}}`, 1)
	f.Fuzz(func(t *testing.T, text string, n int) {
		got, err := grade.ReadAll(&synod.Reply{Status: synod.OK, Text: text}, min(max(n, 0), 9))
		for _, g := range got {
			if err != nil || !g.Valid() {
				t.Fatalf("%q is read as %v", text, g)
			}
		}
	})
}

// A simulated evaluator reads the reasoning that is shown beside the answer, of the first member that gave it.
func TestSimulatedGradesReadReasoning(t *testing.T) {
	m := synod.Simulation{Score: func(_ synod.Answer, rationale string) float64 { return float64(len(rationale)) / 10 }}
	r := grade.Detail{}.Simulate(&synod.Prompt{Purpose: grade.One, Candidate: "b", Rationale: "five!",
		Peers: []synod.Rated{{Answer: "b", Rationale: "x"}}}, m)
	if g, err := grade.Read(&r); err != nil || g != grade.Uniform(10) {
		t.Errorf("one: %v, %v", g, err)
	}
	r = grade.Detail{}.Simulate(&synod.Prompt{Purpose: grade.All, Rationale: "ten chars!", Peers: []synod.Rated{
		{Answer: "a", Rationale: ""}, {Answer: "b", Rationale: "five!"}, {Answer: "b", Rationale: "x"}}}, m)
	g, err := grade.ReadAll(&r, 3)
	if err != nil || g[0] != grade.Uniform(0) || g[1] != grade.Uniform(10) || g[2] != grade.Uniform(10) {
		t.Errorf("all: %v, %v", g, err)
	}
}

// Two prompts are the same only if both show examples, or neither.
func TestSame(t *testing.T) {
	with, without := grade.Detail{Examples: true}, grade.Detail{}
	if !with.Same(with) || !without.Same(without) || with.Same(without) || without.Same(with) {
		t.Error("examples are no part of a prompt")
	}
}

// A simulated evaluator gives whole grades of the answers that it was asked about, in the range, and its replies have
// the form that the schema asks for.
func TestSimulatedGrades(t *testing.T) {
	score := map[synod.Answer]float64{"a": 0, "b": .5, "c": 1}
	m := synod.Simulation{Score: func(a synod.Answer, _ string) float64 { return score[a] }}
	one := synod.Prompt{Purpose: grade.One, Candidate: "b"}
	all := synod.Prompt{Purpose: grade.All, Peers: []synod.Rated{{Answer: "a"}, {Answer: "b"}, {Answer: "c"}}}
	r := grade.Detail{}.Simulate(&one, m)
	if g, err := grade.Read(&r); err != nil || g != grade.Uniform(10) {
		t.Errorf("%s: %v, %v", r.Text, g, err)
	}
	r = grade.Detail{}.Simulate(&all, m)
	g, err := grade.ReadAll(&r, 3)
	if err != nil || g[0] != grade.Uniform(0) || g[1] != grade.Uniform(10) || g[2] != grade.Uniform(grade.Max) {
		t.Errorf("%s: %v, %v", r.Text, g, err)
	}
	for p, keys := range map[*synod.Prompt][]string{&one: nil, &all: {"answer_1", "answer_3"}} {
		schema := string(grade.Detail{}.Schema(p))
		for _, want := range append(keys, "reasoning", "logical_inconsistency", "[0,1,2,", ",19,20]") {
			if !strings.Contains(schema, want) {
				t.Errorf("purpose %s: %q is not in the schema %s", p.Purpose, want, schema)
			}
		}
		if strings.Contains(schema, "answer_") != (p == &all) {
			t.Errorf("purpose %s: %s", p.Purpose, schema)
		}
	}
}

// Grades are written with all their digits, and zero has no sign.
func TestGradesAsText(t *testing.T) {
	want := grade.Grades{1.0 / 3, 0.125, 20, 0, 19.999999}
	if g, err := read(want.Text()); err != nil || g != want {
		t.Errorf("%s is read as %v, %v", want.Text(), g, err)
	}
	if g, err := read(marks); err != nil || math.Signbit(g[3]) {
		t.Errorf("-0 is read as %v, %v", g[3], err)
	}
}

// The error says what is wrong with a reply.
func TestReadErrors(t *testing.T) {
	for text, want := range map[string]string{
		"": "not a JSON object", "[]": "not a JSON object", "{}": "factual_contradiction is missing",
		`{"a": }`: "not a JSON object",
	} {
		if _, err := read(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// A simulated judge gives the first answer of a list the best grades with probability Primacy, whatever it is, and no
// answer that it grades alone.
func TestSimulatedPrimacy(t *testing.T) {
	m := synod.Simulation{Primacy: 0.3, Rand: rand.New(rand.NewPCG(1, 1)),
		Score: func(synod.Answer, string) float64 { return 0.5 }}
	list := synod.Prompt{Purpose: grade.All, Peers: []synod.Rated{{Answer: "a"}, {Answer: "b"}}}
	const n = 2000
	first := 0
	for range n {
		r := grade.Detail{}.Simulate(&list, m)
		all, err := grade.ReadAll(&r, 2)
		if err != nil || all[1] != grade.Uniform(grade.Max/2) {
			t.Fatalf("%v: the second answer gets %v", err, all)
		}
		if all[0] == grade.Uniform(grade.Max) {
			first++
		}
		r = grade.Detail{}.Simulate(&synod.Prompt{Purpose: grade.One, Candidate: "a"}, m)
		if one, err := grade.Read(&r); err != nil || one != grade.Uniform(grade.Max/2) {
			t.Fatalf("%v: an answer alone gets %v", err, one)
		}
	}
	if share := float64(first) / n; share < 0.25 || share > 0.35 {
		t.Errorf("the first answer gets the best grades in %.3f; want 0.3 ± 0.05", share)
	}
}
