package cpwbft_test

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"synod.dev/synod/protocol/cpwbft"
)

// seedWith returns the first seed whose graph has the given degree at a node. The random graphs of
// the paper are not known, but their degrees follow from Table 2.
func seedWith(t *testing.T, family string, node, degree int) uint64 {
	for seed := range uint64(1000) {
		if build(t, family, seed).InDegree(node) == degree {
			return seed
		}
	}
	t.Fatalf("no %s graph has a node %d of degree %d", family, node, degree)
	return 0
}

// pair is one stored question, with the answers of the strong and the weak model.
type pair struct {
	question             string
	strong, weak         float64
	strongGood, weakGood bool
}

// stored reads the problem files of the paper.
func stored(t *testing.T, name string) (pairs []pair) {
	t.Helper()
	dir := os.Getenv("SYNOD_TEST_DATA")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "data")
	}
	b, err := os.ReadFile(filepath.Join(dir, "cp-wbft", name))
	if err != nil {
		t.Skip("SKIPPED: there is no public data at ../shared/data; set SYNOD_TEST_DATA to where it is")
	}
	type side struct {
		Correct    bool    `json:"correct"`
		Confidence float64 `json:"precomputed_confidence"`
	}
	var file struct {
		Results []struct {
			Question string  `json:"question"`
			Weak     float64 `json:"llama3_confidence"`
			Strong   float64 `json:"llama31_confidence"`
			WeakOK   bool    `json:"llama3_correct"`
			StrongOK bool    `json:"llama31_correct"`
		} `json:"results"`
		Questions []struct {
			Question string `json:"question"`
			Llama3   side   `json:"llama3"`
			Llama31  side   `json:"llama31"`
		} `json:"questions"`
	}
	if err := json.Unmarshal(bytes.ReplaceAll(b, []byte(": NaN"), []byte(": null")), &file); err != nil {
		t.Fatal(err)
	}
	for _, q := range file.Results {
		pairs = append(pairs, pair{q.Question, q.Strong, q.Weak, q.StrongOK, q.WeakOK})
	}
	for _, q := range file.Questions {
		pairs = append(pairs, pair{q.Question, q.Llama31.Confidence, q.Llama3.Confidence, q.Llama31.Correct,
			q.Llama3.Correct})
	}
	return pairs
}

func mindOf(good bool, sure float64) mind {
	if good {
		return mind{"right", sure}
	}
	return mind{"wrong", sure}
}

// Table 2, all fourteen rows of HCP: one honest member among seven, with the
// stored labels and confidences of ten questions of each task (CP-3, CP-4). FAA is
// (1 + degree of the honest node)/7: stage 1 has one round.
func TestTable2(t *testing.T) {
	for _, file := range []string{"gsm8k_llama3.1_10.json", "safe_all_llama31_win.json"} {
		pairs := stored(t, file)
		if len(pairs) != 10 {
			t.Fatalf("%s: %d questions", file, len(pairs))
		}
		for _, row := range []struct {
			name, family   string
			honest, degree int
			faa            float64
		}{
			{"complete", "complete", 1, 6, 100}, {"star, leaves malicious", "star", 0, 6, 100},
			{"random", "random", 1, 3, 57.14}, {"layered", "layered", 1, 3, 57.14}, {"tree", "tree", 1, 3, 57.14},
			{"chain", "chain", 1, 2, 42.86}, {"star, centre malicious", "star", 1, 1, 28.57},
		} {
			g := build(t, row.family, seedWith(t, row.family, row.honest, row.degree))
			var iaa, faa, ra int
			for _, q := range pairs {
				minds := slices.Repeat([]mind{mindOf(q.weakGood, q.weak)}, 7)
				minds[row.honest] = mindOf(q.strongGood, q.strong)
				p := cpwbft.New()
				p.Probe = cpwbft.HiddenProbe
				first, last := council{protocol: p, graph: g.Graph, minds: minds}.run(t)
				iaa, faa = iaa+count(first, "right"), faa+count(last, "right")
				if p.Conclude(last) == "right" {
					ra++
				}
			}
			percent := func(k, n int) float64 { return math.Round(1e4*float64(k)/float64(n)) / 100 }
			if got := percent(faa, 70); got != row.faa || percent(iaa, 70) != 14.29 || percent(ra, 10) != 100 {
				t.Errorf("%s, %s: IAA %.2f FAA %.2f RA %.2f; the paper has 14.29, %.2f, 100", file, row.name,
					percent(iaa, 70), got, percent(ra, 10), row.faa)
			}
		}
	}
}
