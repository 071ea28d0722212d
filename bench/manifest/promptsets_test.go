package manifest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"synod.dev/synod/bench/task"
	"synod.dev/synod/internal/llmtest"
)

// Prompts made of files in the layout of the papers' code are asked in presets with several protocols, forms of
// answers and variants, and the replies that they ask for are read.
func TestPublishedPrompts(t *testing.T) {
	data := sharedData(t)
	s := llmtest.Start(t, func(c llmtest.Call) string {
		switch {
		case strings.Contains(c.User, "Judge"):
			return "0.8"
		case strings.HasPrefix(c.User, "VOTE"):
			return `{"decision": "stop"}`
		case strings.HasPrefix(c.User, "ROUND"):
			return `{"internal_strategy": "hold", "value": 7, "public_reasoning": "it is mine"}`
		case strings.HasPrefix(c.User, "Request"):
			return "Sure, here is how.\nConfidence: 0.9"
		case strings.HasPrefix(c.User, "Re"):
			return fmt.Sprintf("Final answer: {%d}", 40+c.N%3)
		}
		return fmt.Sprintf("So it is that.\nAnswer: %d\nConfidence: 0.%d", 40+c.N%3, 1+c.N%9)
	})
	file := filepath.Join(t.TempDir(), "members.yaml")
	m := "{provider: openai, url: " + s.URL + ", model: m}"
	text := "models: {strong: " + m + ", weak: " + m + ", player: " + m + ", small: " + m + ", large: " + m + "}\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		set, preset, cells string
		system, user       []string
	}{
		{"sac", "sac-table1", "*-complete-b1-weak-answer",
			[]string{"Math system.", "Judging system.", "Refining system."},
			[]string{"Math: ", "Judge the sum ", "Refine the sum ", " (0.80)\n"}},
		{"sac", "sac-table3", "*-complete-b1-weak-answer",
			[]string{"Mixed system.", "Judging system.", "Refining system."},
			[]string{"\n\nAnswer format: true/false", "\n\nAnswer format: option1/option2"}},
		{"cp-wbft", "cpwbft-table2", "*-pcp-complete", []string{"Sum system.", "Request system."},
			[]string{"Answer: [number] \n", "Request: "}},
		{"cp-wbft", "cpwbft-pilot", "llm-complete-b6*", []string{"Sum system.", "Reflecting system."},
			[]string{"Reflect on ", "Others: 4"}},
		{"game", "game-fig3", "h4-b1-*", []string{"player 0. Honest, 50 rounds", "Byzantine, 0 to 50"},
			[]string{"\n(nothing yet)\n", "VOTE 1/50\nplayer 0: 7", "(first round)"}},
	} {
		before, folder := len(s.Calls()), t.TempDir()
		set, err := task.PromptSets.Find("prompts/" + c.set)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := set.Convert([]string{"../task/testdata/prompts/" + c.set + ".py"}, folder); err != nil {
			t.Fatal(err)
		}
		n := 20
		if c.set == "cp-wbft" {
			n = 10 // all that the paper asks
		}
		r := finished(t, c.preset, Options{Members: file, Data: data, N: n, Only: c.cells,
			Set: []string{"prompts=" + folder}})
		if len(r.Cells) == 0 || r.Failed > 0 {
			t.Errorf("%s: %d cells, %d questions failed", c.preset, len(r.Cells), r.Failed)
		}
		systems, users := "", ""
		for _, call := range s.Calls()[before:] {
			systems, users = systems+call.System+"\n", users+call.User+"\n"
		}
		for _, want := range c.system {
			if !strings.Contains(systems, want) {
				t.Errorf("%s: no system prompt has %q", c.preset, want)
			}
		}
		for _, want := range c.user {
			if !strings.Contains(users, want) {
				t.Errorf("%s: no prompt has %q", c.preset, want)
			}
		}
		for _, cell := range r.Cells {
			if faa := cell.Metrics["faa_present"]; c.set != "game" && (faa == nil || faa.N == 0) {
				t.Errorf("%s, %s: no answer was read", c.preset, cell.Cell)
			}
		}
	}
}
