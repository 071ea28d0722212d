package metrics_test

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// recordedVote is a question that many models have answered alone.
type recordedVote struct {
	Gold  string             `json:"gold"`
	Votes map[string]*string `json:"votes"` // null: no answer
}

// says reports whether a model gave an answer to the question.
func (v *recordedVote) says(model, answer string) bool {
	return v.Votes[model] != nil && *v.Votes[model] == answer
}

// TestReadmeTable computes the table of the README: one model, a majority of three and a council of seven, whose rule
// is a majority of its seats, from recorded answers. Models are ranked by the questions with even numbers, and the
// others are counted. All sets have the same two casts.
func TestReadmeTable(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	nearEqual, unequal := []int{14, 15, 16, 17, 18, 19, 20}, []int{0, 4, 8, 12, 16, 20, 24} // ranks from 0
	for _, c := range []struct {
		set, name string
		cast      []int
	}{
		{"gsm8k", "GSM8K, near-equals", nearEqual}, {"math-l5", "MATH level 5, near-equals", nearEqual},
		{"crux", "CRUX, near-equals", nearEqual}, {"mmlu-pro", "MMLU-Pro, near-equals", nearEqual},
		{"gsm8k", "GSM8K, unequal", unequal}, {"math-l5", "MATH level 5, unequal", unequal},
		{"crux", "CRUX, unequal", unequal}, {"mmlu-pro", "MMLU-Pro, unequal", unequal},
	} {
		all := readVotes(t, "../../../shared/data/votes/"+c.set+".jsonl.gz")
		ranked, rest := byRank(all)
		var cast []string
		for _, rank := range c.cast {
			cast = append(cast, ranked[rank])
		}
		row := fmt.Sprintf("| %s | %s | %s | %s |", c.name, decided(rest, cast[:1]), decided(rest, cast[:3]),
			decided(rest, cast))
		t.Logf("%s\n%d questions; cast by rank: %v", row, len(rest), cast)
		if !strings.Contains(string(readme), row) {
			t.Errorf("the README has not the row\n%s", row)
		}
	}
}

// byRank returns the models that answered all questions, the best first, ranked by every second question, and the
// other questions.
func byRank(all []recordedVote) (ranked []string, rest []recordedVote) {
	right := map[string]int{}
	for model := range all[0].Votes {
		right[model] = 0
	}
	for i := range all {
		if i%2 == 1 {
			rest = append(rest, all[i])
		}
		for model := range right {
			if _, asked := all[i].Votes[model]; !asked {
				delete(right, model)
			} else if i%2 == 0 && all[i].says(model, all[i].Gold) {
				right[model]++
			}
		}
	}
	for model := range right {
		ranked = append(ranked, model)
	}
	slices.SortFunc(ranked, func(a, b string) int {
		if right[a] != right[b] {
			return right[b] - right[a]
		}
		return strings.Compare(a, b)
	})
	return ranked, rest
}

// decided returns the shares of questions that a majority of a cast decides rightly, wrongly, and not at all.
func decided(questions []recordedVote, cast []string) string {
	right, wrong := 0, 0
	for i := range questions {
		q, counts := &questions[i], map[string]int{}
		for _, model := range cast {
			if a := q.Votes[model]; a != nil {
				counts[*a]++
			}
		}
		for answer, n := range counts {
			switch {
			case 2*n <= len(cast):
			case answer == q.Gold:
				right++
			default:
				wrong++
			}
		}
	}
	share := func(n int) float64 { return 100 * float64(n) / float64(len(questions)) }
	return fmt.Sprintf("%.1f/%.1f/%.1f", share(right), share(wrong), share(len(questions)-right-wrong))
}

// readVotes reads recorded votes, and skips the test where there are none.
func readVotes(t *testing.T, path string) (all []recordedVote) {
	f, err := os.Open(filepath.FromSlash(path))
	if errors.Is(err, os.ErrNotExist) {
		t.Skip("SKIPPED: no recorded votes at " + path)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	for d := json.NewDecoder(z); ; {
		var v recordedVote
		if err := d.Decode(&v); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, v)
	}
}
