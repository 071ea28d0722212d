package manifest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The model is an axis of the game's figures: with two models in a file of members every cell is played by each, in a
// panel of its own; cells of a model that the file lacks are empty and say why.
func TestGameModels(t *testing.T) {
	file := filepath.Join(t.TempDir(), "members.yaml")
	play := func(models string, preset, only string) (cells, blank int, valid map[string]float64, panels string) {
		t.Helper()
		if err := os.WriteFile(file, []byte("models: {"+models+"}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		r := finished(t, preset, Options{Members: file, N: 4, Only: only, Set: []string{"protocol.rounds=12"}})
		valid = map[string]float64{}
		for _, c := range r.Cells {
			if cells++; c.Why != "" {
				blank++
			} else if rate := c.Metrics["valid"]; rate != nil {
				valid[c.Cell] = rate.Value
			}
		}
		for _, p := range r.Specified() {
			for _, row := range p.Table.Rows {
				panels += strings.Join(row, " ") + "\n"
			}
		}
		return cells, blank, valid, panels
	}
	two := "player: {provider: simulated}, player-8b: {provider: simulated, stall: 1}"
	for preset, only := range map[string]string{"game-fig3": "h4-b0-*", "game-fig4": "h8-b0-no-adversary*"} {
		cells, blank, valid, panels := play(two, preset, only)
		name := strings.TrimSuffix(only, "*")
		if preset == "game-fig3" {
			name += "may-exist"
		}
		if cells != 2 || blank != 0 || valid[name] != 1 || valid[name+"-8b"] != 0 {
			t.Errorf("%s: %d cells, %d empty, valid %v", preset, cells, blank, valid)
		}
		if !strings.Contains(panels, name) || !strings.Contains(panels, name+"-8b") {
			t.Errorf("%s draws\n%s", preset, panels)
		}
		cells, blank, valid, _ = play("player: {provider: simulated}", preset, only)
		if cells != 2 || blank != 1 || len(valid) != 1 {
			t.Errorf("%s with one model: %d cells, %d empty, valid %v", preset, cells, blank, valid)
		}
	}
}
