package council

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/internal/llmtest"
	"synod.dev/synod/journal"
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
func proseCouncil(t *testing.T, text string) Spec {
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
	spec, err := Parse([]byte(file))
	if err != nil {
		t.Fatal(err)
	}
	return spec
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
	if o.Status != Agreed || o.Answer == nil || string(*o.Answer) != want {
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
	plan, err := PlanOf(run)
	if err != nil {
		t.Fatal(err)
	}
	again := Judge(plan, Instance{Question: run.Head.Question, Seed: run.Head.Seed}, RecordsOf(plan, run))
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
	if err != nil || o.Members[0].First != nil || o.Members[0].Calls[statusUnreadable] == 0 || !o.Answered() {
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
		s := Spec{Protocol: Params{"name": x.protocol}, Graph: Params{"family": "complete"}, F: 1,
			Seats: []SeatSpec{{ID: "a", Count: x.seats}}}
		if got := s.Suit(x.form, x.named); got != x.decides || s.Protocol["name"] != x.want {
			t.Errorf("%+v: %v, %v", x, got, s.Protocol)
		}
	}
}

// Under SAC a member that changes its text takes over another member's first text, byte for byte: none is blended.
func TestSACSelectsTexts(t *testing.T) {
	spec, err := Parse([]byte("form: prose\nprotocol: {name: sac}\nf: 2\n" +
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
