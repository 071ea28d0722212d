package computed

import (
	"os"
	"path/filepath"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/adversary"
	"synod.dev/synod/bench/metrics"
	"synod.dev/synod/bench/report"
)

const votesFolder = "../../../shared/data/votes"

func attacked(t *testing.T, params map[string]any) *report.Figures {
	t.Helper()
	return recorded(t, "trust-attacks", params)
}

// needVotes skips a test where the recorded votes are missing.
func needVotes(t *testing.T) {
	t.Helper()
	if _, err := os.Stat(filepath.Join(votesFolder, "crux.jsonl.gz")); err != nil {
		t.Skip("SKIPPED: no recorded votes:", err)
	}
}

// recorded returns the figures of a computation on recorded votes.
func recorded(t *testing.T, name string, params map[string]any) *report.Figures {
	t.Helper()
	needVotes(t)
	params["name"], params["folder"] = name, votesFolder
	_, of, err := NewWork().Figures(params, Trials{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	f, err := of(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// On recorded votes, one liar of any kind makes cascade decide wrongly hardly more often than plurality, and rightly no
// less often by 4 points in these six casts. The control, a weighted majority with weights that the same liar has
// poisoned, is wrong more often.
func TestPoisonedHistory(t *testing.T) {
	for _, kind := range liarKinds {
		f := attacked(t, map[string]any{"set": "crux", "members": 7, "f": 1, "liar": string(kind), "liars": 1,
			"casts": 6})
		if more, wrong := f.Rates["right_more"].Value, f.Rates["wrong_more"].Value; more < -0.04 || wrong > 0.02 {
			t.Errorf("%s: right %+.3f, wrong %+.3f more than plurality", kind, more, wrong)
		}
		var plural, weighted, sum metrics.Mean
		for _, row := range f.Attacks {
			sum.Add(row.Right + row.Wrong + row.Undecided)
			switch row.Protocol {
			case "plurality":
				plural.Add(row.Wrong)
			case "weighted-majority":
				weighted.Add(row.Wrong)
			}
		}
		if kind == adversary.FollowDefect && weighted.Rate().Value < plural.Rate().Value+0.03 {
			t.Errorf("the control is wrong in %v, plurality in %v", weighted.Rate().Value, plural.Rate().Value)
		}
		if s := sum.Rate().Value; s < 0.999 || s > 1.001 {
			t.Errorf("the shares add up to %v", s)
		}
	}
}

// What each kind of liar says where its lie would win, where it would not, and where nothing is decided.
func TestLiars(t *testing.T) {
	split := []synod.Answer{"A", "A", "B", "B", "C"}
	clear := []synod.Answer{"A", "A", "A", "A", "B"}
	for _, c := range []struct {
		kind    adversary.Poison
		honest  []synod.Answer
		history bool
		want    string
	}{
		{"follow-defect", split, true, "A"}, {"follow-defect", clear, false, "B"},
		{"copy-defect", clear, true, "B"}, {"copy-defect", clear, false, "B"},
		{"lie-to-win", split, true, "B"}, {"lie-to-win", clear, false, "A"},
		{"abstain", split, false, "B"}, {"abstain", clear, false, ""}, {"constant", clear, false, "I"},
		{"turns", clear, false, "A"},
	} {
		s := scene{honest: c.honest, gold: "A", best: 4, history: c.history, choice: true}
		if got := string(lies(c.kind, s, 1)[0]); got != c.want {
			t.Errorf("%s, %v, history %v: %s, want %s", c.kind, c.honest, c.history, got, c.want)
		}
	}
	if two := lies("turns", scene{honest: clear, gold: "A", choice: true}, 2); two[0] == two[1] {
		t.Errorf("both of two say %v", two)
	}
}

// A cast has no two models of one maker, also where two servers offer one model.
func TestCasts(t *testing.T) {
	for model, maker := range map[string]string{"Meta-Llama-3.1-405B-Instruct@hyperbolic": "meta", "o1-mini": "openai",
		"Llama-3.1-405B-Inst@sambanova": "meta", "mathstral-7B": "mistral", "my-model": "my-model"} {
		if got := makerOf(model); got != maker {
			t.Errorf("%s is by %s, want %s", model, got, maker)
		}
	}
	if _, _, err := NewWork().Figures(map[string]any{"name": "trust-attacks", "set": "crux", "liar": "turns"},
		Trials{}); err == nil {
		t.Error("a kind of liar without liars is not refused")
	}
}
