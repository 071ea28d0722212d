package computed

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/bench/metrics"
)

// recording writes recorded answers of members with known abilities.
func recording(t *testing.T, abilities []float64, questions int) string {
	t.Helper()
	chance := rand.New(rand.NewPCG(7, 7))
	var b strings.Builder
	for q := range questions {
		for i, p := range abilities {
			answer := "A"
			if chance.Float64() >= p {
				answer = "BCDE"[chance.IntN(4):][:1]
			}
			line, err := json.Marshal(map[string]any{"item_id": q, "model": fmt.Sprint("m", i), "gold": "A",
				"answer": answer})
			if err != nil {
				t.Fatal(err)
			}
			b.Write(append(line, '\n'))
		}
	}
	path := filepath.Join(t.TempDir(), "traces.jsonl")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func figuresOf(t *testing.T, w *Work, path, attack, method string, f, b int) map[string]*metrics.Rate {
	t.Helper()
	_, of, err := w.Figures(map[string]any{"name": "recorded-council", "path": path, "attack": attack, "method": method,
		"f": f, "b": b, "splits": 4}, Trials{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	got, err := of(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return got.Rates
}

// On recorded answers cascade asks fewer members and decides about as well as the plurality, certain decides what
// asking all decides, a liar is found without labels, and the same seed gives the same figures.
func TestRecordedCouncil(t *testing.T) {
	path := recording(t, []float64{0.85, 0.8, 0.7, 0.65, 0.6, 0.55, 0.5, 0.45}, 160)
	w := NewWork()
	for _, attack := range []string{lie, copies, replay} {
		for b := range 2 {
			got, plural := figuresOf(t, w, path, attack, "cascade", 1, b), figuresOf(t, w, path, attack,
				"plurality", 1, b)
			if got["accuracy"].Value < plural["accuracy"].Value-0.03 || got["calls"].Value > 0.8 ||
				plural["calls"].Value != 1 {
				t.Errorf("%s, %d adversaries: cascade %v with %v of the calls, plurality %v", attack, b,
					got["accuracy"],
					got["calls"].Value, plural["accuracy"])
			}
			if sum := got["accuracy"].Value + got["wrong"].Value + got["undecided"].Value; sum < 0.999 || sum > 1.001 {
				t.Errorf("the shares add up to %v", sum)
			}
			if certain := figuresOf(t, w, path, attack, "certain", 1, b); certain["calls"].Value < got["calls"].Value {
				t.Errorf("certain asks %v, probable %v", certain["calls"].Value, got["calls"].Value)
			}
			if again := figuresOf(t, NewWork(), path, attack, "cascade", 1, b); *again["accuracy"] != *got["accuracy"] {
				t.Errorf("%+v, then %+v", got["accuracy"], again["accuracy"])
			}
		}
	}
	if _, _, err := w.Figures(map[string]any{"name": "recorded-council", "path": path, "f": 4}, Trials{}); err == nil {
		t.Error("seven members and F=4 are not refused")
	}
}

// The adversaries answer with the most frequent wrong answer, and lie about something if all are right.
func TestFavourite(t *testing.T) {
	for _, c := range []struct {
		honest string
		want   synod.Answer
	}{{"AABBC", "B"}, {"AACCBB", "B"}, {"AAA", "B"}, {"", "B"}} {
		var honest []synod.Answer
		for _, a := range c.honest {
			honest = append(honest, synod.Answer(a))
		}
		if got := favourite(honest, "A", true); got != c.want {
			t.Errorf("%s: %s, want %s", c.honest, got, c.want)
		}
	}
	if got := favourite([]synod.Answer{"5", "5"}, "5", false); got == "5" || got == synod.None {
		t.Errorf("all are right, and the adversaries say %q", got)
	}
}
