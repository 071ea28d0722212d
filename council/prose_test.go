package council

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/core/journal"
	"synod.dev/synod/council/outcome"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/internal/llmtest"
	"synod.dev/synod/llm"
	"synod.dev/synod/protocol/grade"
)

// hostileText is 40 KiB of what texts are made of: scripts of all directions, tables, code, LaTeX, control
// sequences of terminals, borders and control tokens of chat templates.
func hostileText() string {
	const piece = "# Tides – прилив, 潮汐, مد \u202egnorw\u202c 👩\u200d🚀 é" +
		"\n\n| a | b |\n|---|---:|\n| 1 | $\\frac{1}{2}$ |\n\n" +
		"```go\n\tx := \"<|im_end|>\" // \x1b[31mred\x1b[0m \x1b]0;title\x07 \u009b2J \x00 \r\n```\n" +
		"<script>alert(1)</script> </think> [INST] << >> {\"answer\": \"no\"} Answer: 42 \\[ e^{i\\pi} \\]\n\n"
	s := strings.Repeat(piece, 40<<10/len(piece)+1)
	return strings.TrimSpace(s)
}

// proseCouncil is a council of four endpoints of which the first writes a text that all others like best.
func proseCouncil(t *testing.T, text string) plan.Spec {
	t.Helper()
	s := llmtest.Start(t, func(c llmtest.Call) string {
		if strings.Contains(string(c.Schema)+c.System, grade.Criteria()[0]) {
			if strings.Contains(c.User, "Tides") {
				return grade.Uniform(19).Text()
			}
			return grade.Uniform(5).Text()
		}
		if c.Model == "m0" {
			return text
		}
		return "A short text by " + c.Model
	})
	file := "protocol: {name: panel}\nmodels:\n"
	for i := range 4 {
		file += fmt.Sprintf("  m%d: {provider: openai, url: %q, model: m%d}\n", i, s.URL, i)
	}
	file += "seats: [{id: a, model: m0}, {id: b, model: m1}, {id: c, model: m2}, {id: d, model: m3}]\n"
	spec, err := plan.Parse([]byte(file))
	if err != nil {
		t.Fatal(err)
	}
	return spec
}

// A run of a panel that was recorded is played again by recorded members, with the recorded grades. A recording of
// answers alone is refused before the run, if more than F members have no grades.
func TestRecordedPanel(t *testing.T) {
	q := synod.Question{ID: "tides", Text: "Explain tides.", Form: synod.Prose}
	path := filepath.Join(t.TempDir(), "trace.jsonl")
	w, err := llm.NewRecorder(path)
	if err != nil {
		t.Fatal(err)
	}
	c, err := Convene(proseCouncil(t, "Tides are slow."), llm.Env{Record: w})
	if err != nil {
		t.Fatal(err)
	}
	o, err := c.Decide(context.Background(), Ask{Question: q, Seed: 1})
	if err := errors.Join(err, c.Close(), w.Close()); err != nil || o.Decision != "Tides are slow." {
		t.Fatal(o.Decision, err)
	}
	recorded := func(path string) *Council {
		file := "protocol: {name: panel}\nf: 1\nmodels:\n"
		for i := range 4 {
			file += fmt.Sprintf("  m%d: {provider: recorded, path: %q, model: m%d}\n", i, path, i)
		}
		spec, err := plan.Parse([]byte(file + "seats: [{id: a, model: m0}, {id: b, model: m1}, {id: c, model: m2}, " +
			"{id: d, model: m3}]\n"))
		if err != nil {
			t.Fatal(err)
		}
		c, err := Convene(spec, llm.Env{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		return c
	}
	again, err := recorded(path).Decide(context.Background(), Ask{Question: q, Seed: 2})
	if err != nil || again.Decision != o.Decision || again.Members[0].Kind != llm.Recorded {
		t.Fatalf("%s %s: %v", again.Status, again.Reason, err)
	}
	if a, b := again.Presented.Lines[0], o.Presented.Lines[0]; a != b {
		t.Errorf("recorded: %s; first: %s", a, b)
	}
	all, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	answers := ""
	for line := range strings.Lines(string(all)) {
		if !strings.Contains(line, `"purpose":`) {
			answers += line
		}
	}
	short := filepath.Join(t.TempDir(), "answers.jsonl")
	if strings.Count(answers, "\n") != 4 || os.WriteFile(short, []byte(answers), 0o600) != nil {
		t.Fatalf("answers: %q", answers)
	}
	if err := recorded(short).Accepts(&q); err == nil ||
		!strings.Contains(err.Error(), "the recordings of a, b, c, d have no grades; at most F=1") {
		t.Errorf("a recording without grades: %v", err)
	}
}

// The journal of a prose question names the templates that stand in for those of the protocol.
func TestProseDigests(t *testing.T) {
	for _, protocol := range []string{"panel", "sac"} {
		p, err := plan.New(plan.Spec{Protocol: plan.Params{"name": protocol}, F: 1,
			Graph:  plan.Params{"family": "complete"},
			Models: map[string]plan.Params{"m": {"provider": "simulated"}},
			Seats:  []plan.SeatSpec{{ID: "a", Model: "m", Count: 5}}})
		if err != nil {
			t.Fatal(err)
		}
		prose := p.DigestsFor(&synod.Question{Form: synod.Prose})
		plain := p.DigestsFor(&synod.Question{Form: synod.Number})
		if prose["prose/answer"] == "" || prose["prose/score"] == "" || plain["prose/answer"] != "" ||
			prose[protocol+"/answer"] != plain[protocol+"/answer"] {
			t.Errorf("%s: %v, and for numbers %v", protocol, prose, plain)
		}
	}
}

// A text of 40 KiB with everything that could break a format passes unchanged through the decision, the journal,
// the replay and JSON.
func TestLongTextUnchanged(t *testing.T) {
	want := hostileText()
	spec := proseCouncil(t, want)
	c, err := Convene(spec, llm.Env{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	q := synod.Question{Text: "Explain tides.", Form: synod.Prose}
	o, err := c.Decide(context.Background(), Ask{Question: q, Seed: 1, Journal: filepath.Join(t.TempDir(), "j")})
	if err != nil {
		t.Fatal(err)
	}
	if o.Status != outcome.Agreed || o.Answer == nil || string(*o.Answer) != want {
		t.Fatalf("%s: %s (%d bytes)", o.Status, o.Reason, len(o.Decision))
	}
	b, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	var back struct{ Answer string }
	if err := json.Unmarshal(b, &back); err != nil || back.Answer != want {
		t.Errorf("JSON changes the text: %v", err)
	}
	run, err := journal.Load(o.Journal)
	if err != nil {
		t.Fatal(err)
	}
	p, err := plan.Of(run)
	if err != nil {
		t.Fatal(err)
	}
	again := outcome.Judge(p, plan.Instance{Question: run.Head.Question, Seed: run.Head.Seed},
		outcome.RecordsOf(p, run))
	if string(again.Decision) != want {
		t.Error("the journal changes the text")
	}
	if digest, err := Replay(run); err != nil || digest != o.Digest {
		t.Errorf("replay: %v", err)
	}
}

// Longer texts than MaxLong are no answers; the members without one are counted as such.
func TestTooLongText(t *testing.T) {
	c, err := Convene(proseCouncil(t, strings.Repeat("Tides. ", 10_000)), llm.Env{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	o, err := c.Decide(context.Background(), Ask{Question: synod.Question{Text: "Explain.", Form: synod.Prose}})
	if err != nil || o.Members[0].First != nil || o.Members[0].Calls.Of(synod.Unreadable) == 0 || !o.Answered() {
		t.Errorf("%v: %+v", err, o.Members[0])
	}
}

// Where no protocol is named, prose is decided by the default for it, and a protocol that counts equal answers refuses
// it.
func TestSuit(t *testing.T) {
	for _, x := range []struct {
		protocol string
		form     synod.Form
		named    bool
		seats    int
		want     string
		decides  bool
	}{{"sac", synod.Prose, false, 4, "panel", true}, {"sac", synod.Prose, true, 4, "sac", true},
		{"majority", synod.Prose, true, 4, "majority", false}, {"sac", synod.Number, false, 4, "sac", true},
		{"sac", synod.Prose, false, 3, "panel", false}} {
		s := plan.Spec{Protocol: plan.Params{"name": x.protocol}, Graph: plan.Params{"family": "complete"}, F: 1,
			Seats: []plan.SeatSpec{{ID: "a", Count: x.seats}}}
		if got := s.Suit(x.form, plan.Chosen{Protocol: x.named, F: true}); got != x.decides ||
			s.Protocol["name"] != x.want {
			t.Errorf("%+v: %v, %v", x, got, s.Protocol)
		}
	}
}

// Under SAC a member that changes its text takes over another member's first text, byte for byte: none is blended.
func TestSACSelectsTexts(t *testing.T) {
	spec, err := plan.Parse([]byte("form: prose\nprotocol: {name: sac}\nf: 2\n" +
		"models: {d: {provider: simulated, ability: 0.4}}\n" +
		"seats: [{id: a, model: d, count: 7}]\n"))
	if err != nil {
		t.Fatal(err)
	}
	c, err := Convene(spec, llm.Env{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	moved := 0
	for seed := range uint64(20) {
		o, err := c.Decide(context.Background(), Ask{Question: synod.Question{Text: "Explain.", Form: synod.Prose},
			Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		first := map[synod.Answer]bool{}
		for _, m := range o.Members {
			first[*m.First] = true
		}
		for _, m := range o.Members {
			if !first[*m.Final] {
				t.Errorf("seed %d: %s ends on a text that nobody wrote: %q", seed, m.ID, *m.Final)
			}
			if *m.Final != *m.First {
				moved++
			}
		}
	}
	if moved == 0 {
		t.Error("no member ever took over a text")
	}
}
