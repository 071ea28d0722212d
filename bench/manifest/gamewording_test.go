package manifest

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"synod.dev/synod/bench/task"
	"synod.dev/synod/internal/llmtest"
)

// A player that takes the words of its prompt literally ends no game with a Byzantine player if the vote asks about all
// agents, and every game if it asks about honest ones, as Figure 13 does.
func TestGameWording(t *testing.T) {
	paper := filepath.Join(filepath.Dir(sharedData(t)), "papers", "a2a-sim.txt")
	if _, err := os.Stat(paper); err != nil {
		t.Skip("SKIPPED: there is no text of the paper at " + paper)
	}
	data := t.TempDir()
	s := llmtest.Start(t, obedient)
	file := filepath.Join(t.TempDir(), "members.yaml")
	text := "models: {player: {provider: openai, url: " + s.URL + ", model: m}}\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	preset, err := Presets().Find("game-wording")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := preset.Manifest.Draft(Options{Members: file, Data: data}); err == nil ||
		!strings.Contains(err.Error(), "synod data convert prompts/game-paper") {
		t.Errorf("without the prompts: %v", err)
	}
	for _, name := range []string{"prompts/game-paper", "prompts/game-all-agents"} {
		set, err := task.PromptSets.Find(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := set.Convert([]string{paper}, filepath.Join(data, set.Folder())); err != nil {
			t.Fatal(err)
		}
	}
	r := finished(t, "game-wording", Options{Members: file, Data: data, N: 5, Set: []string{"protocol.rounds=6"}})
	for _, c := range r.Cells {
		want := map[string]float64{"honest": 1, "all": 0}[c.Cell]
		if valid := c.Metrics["valid"]; valid == nil || valid.N != 5 || valid.Value != want {
			t.Errorf("%s: valid %v, want %v of 5", c.Cell, valid, want)
		}
	}
}

var (
	proposed = regexp.MustCompile(`player (\d+): (\d+)`)
	initial  = regexp.MustCompile(`Your Initial Value: (\d+)`)
)

// obedient replies as the words of the paper's prompts have it, and nothing else.
func obedient(c llmtest.Call) string {
	hostile := strings.Contains(c.System, "BYZANTINE")
	now, _, _ := strings.Cut(c.User, "=== PREVIOUS ROUNDS HISTORY (for context)")
	values, most := map[string]int{}, ""
	for _, m := range proposed.FindAllStringSubmatch(now, -1) {
		values[m[2]]++
		if n := values[m[2]]; n > values[most] || n == values[most] && m[2] < most {
			most = m[2]
		}
	}
	switch vote := strings.Contains(c.User, "VOTING"); {
	case vote && hostile:
		return `{"decision": "continue"}`
	case vote && strings.Contains(c.System, "if ALL agents are proposing the SAME value") && len(values) > 1,
		vote && values[most] < 4: // at most one of five seems to be Byzantine
		return `{"decision": "continue"}`
	case vote:
		return `{"decision": "stop"}`
	case hostile:
		other := 50
		if most == "50" {
			other = 0
		}
		return fmt.Sprintf(`{"internal_strategy": "", "value": %d, "public_reasoning": "It is even."}`, other)
	}
	if own := initial.FindStringSubmatch(c.System); most == "" && own != nil {
		most = own[1]
	}
	return `{"internal_strategy": "", "value": ` + most + `, "public_reasoning": "Most say so."}`
}
