package council_test

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/council"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/graph/topology"
	"synod.dev/synod/internal/llmtest"
	"synod.dev/synod/protocol/decentllms"
	"synod.dev/synod/protocol/grade"
)

// The tests in this file recompute what the papers define, slowly and from the text of the
// papers, and compare it with councils whose members are reached over HTTP.

// offered matches the answers that members of these tests give: 9100 plus the seat.
var offered = regexp.MustCompile(`\b91\d\d\b`)

// networked returns a council file with one endpoint model for each of n seats s0, s1, ….
func networked(url, head string, n int) string {
	var models, seats strings.Builder
	for i := range n {
		fmt.Fprintf(&models, "  m%d: {provider: openai, url: %q, model: m%d}\n", i, url, i)
		fmt.Fprintf(&seats, "  - {id: s%d, model: m%d}\n", i, i)
	}
	return head + "models:\n" + models.String() + "seats:\n" + seats.String()
}

// seatOf returns the seat whose model a call names.
func seatOf(c llmtest.Call) int {
	i, err := strconv.Atoi(strings.TrimPrefix(c.Model, "m"))
	if err != nil {
		panic(err)
	}
	return i
}

// neighbours returns the neighbours of every node of a named graph.
func neighbours(t *testing.T, spec plan.Params, n int) [][]int {
	t.Helper()
	g, err := topology.FromSpec(spec, n, 0)
	if err != nil {
		t.Fatal(err)
	}
	var all [][]int
	for i := range n {
		all = append(all, g.In(i))
	}
	return all
}

// SAC, Eq. 2 to 5, through HTTP on three graphs: of the neighbours that a member scores
// strictly below itself it drops the min(F, count) lowest, and its model is shown the others,
// best first, and none that was dropped.
func TestSACFilterOverHTTP(t *testing.T) {
	const n, f = 7, 3
	for family, graph := range map[string]plan.Params{"family: merg": {"family": "merg"},
		"family: complete":          {"family": "complete"},
		"family: er, r: 4, seed: 3": {"family": "er", "r": 4, "seed": 3}} {
		for seed := range uint64(4) {
			r := rand.New(rand.NewPCG(seed, 1))
			var scores [n][n]float64 // [judge][author]
			for i := range n {
				for j, k := range r.Perm(90)[:n] {
					scores[i][j] = float64(5+k) / 100
				}
			}
			var mu sync.Mutex
			shown := map[int][]int{} // by seat: the authors in its refinement prompt, in order
			stub := llmtest.Start(t, func(c llmtest.Call) string {
				me := seatOf(c)
				if c.Scoring() {
					author, _ := strconv.Atoi(offered.FindString(c.User))
					return fmt.Sprintf(`{"reasoning": "", "score": %g}`, scores[me][author-9100])
				}
				if _, others, refining := strings.Cut(c.User, "Others answered as follows"); refining {
					mu.Lock()
					defer mu.Unlock()
					for _, a := range offered.FindAllString(others, -1) {
						author, _ := strconv.Atoi(a)
						shown[me] = append(shown[me], author-9100)
					}
				}
				return fmt.Sprintf(`{"reasoning": "", "answer": "%d"}`, 9100+me)
			})
			o := decide(t, convene(t, networked(stub.URL, fmt.Sprintf(
				"protocol: {name: sac, rounds: 1}\ngraph: {%s}\nf: %d\n", family, f), n)), council.Ask{Seed: seed})
			for i, near := range neighbours(t, graph, n) {
				dropped, retained := filtered(near, scores[i], i, f)
				if got := o.Rounds.All()[1].Members[i]; !slices.Equal(got.Dropped, names(dropped)) ||
					!slices.Equal(got.Retained, names(retained)) {
					t.Errorf("%s, seed %d, s%d: dropped %v and retained %v, want %v and %v", family, seed, i,
						got.Dropped, got.Retained, names(dropped), names(retained))
				}
				slices.SortFunc(retained, func(a, b int) int { return cmp.Compare(scores[i][b], scores[i][a]) })
				if !slices.Equal(shown[i], retained) {
					t.Errorf("%s, seed %d, s%d: shown %v, want %v", family, seed, i, shown[i], retained)
				}
			}
		}
	}
}

// filtered is Eq. 3 and 4 for member i with the neighbours near.
func filtered(near []int, score [7]float64, i, f int) (dropped, retained []int) {
	lower := []int{}
	for _, j := range near {
		if score[j] < score[i] {
			lower = append(lower, j)
		}
	}
	slices.SortFunc(lower, func(a, b int) int { return cmp.Compare(score[a], score[b]) })
	dropped = slices.Sorted(slices.Values(lower[:min(f, len(lower))]))
	for _, j := range near {
		if !slices.Contains(dropped, j) {
			retained = append(retained, j)
		}
	}
	return dropped, retained
}

func names(seats []int) []string {
	ids := []string{}
	for _, i := range seats {
		ids = append(ids, fmt.Sprintf("s%d", i))
	}
	return ids
}

// CP-WBFT, stage 1 (CP-3) and Eq. 4 (CP-4), through HTTP on four graphs: a member adopts the
// answer of its surest neighbour if that is surer than itself, with its confidence; the
// decision is the answer whose supporters are surest on average.
func TestCPWBFTOverHTTP(t *testing.T) {
	const n = 7
	for _, family := range []string{"complete", "star", "chain", "tree"} {
		for seed := range uint64(4) {
			r := rand.New(rand.NewPCG(seed, 2))
			var answer, confidence [n]int // confidences in thousandths, all different
			for i, c := range r.Perm(900)[:n] {
				answer[i], confidence[i] = 9100+r.IntN(3), 50+c
			}
			stub := llmtest.Start(t, func(c llmtest.Call) string {
				me := seatOf(c)
				return fmt.Sprintf(`{"reasoning": "", "answer": "%d", "confidence": 0.%03d}`, answer[me],
					confidence[me])
			})
			o := decide(t, convene(t, networked(stub.URL, fmt.Sprintf("protocol: {name: cp-wbft, rounds: 1}\n"+
				"graph: {family: %s}\nrule: {name: protocol}\n", family), n)), council.Ask{Seed: seed})
			endAnswer, endConfidence := answer, confidence
			for i, near := range neighbours(t, plan.Params{"family": family}, n) {
				for _, j := range near {
					if confidence[j] > endConfidence[i] {
						endAnswer[i], endConfidence[i] = answer[j], confidence[j]
					}
				}
			}
			for i, m := range o.Members {
				if want := synod.Answer(strconv.Itoa(endAnswer[i])); m.Final == nil || *m.Final != want {
					t.Errorf("%s, seed %d, s%d ends with %v, want %s", family, seed, i, m.Final, want)
				}
			}
			if want := surestOnAverage(endAnswer[:], endConfidence[:]); o.Answer == nil || *o.Answer != want {
				t.Errorf("%s, seed %d: decided %v, want %s", family, seed, o.Answer, want)
			}
		}
	}
}

// surestOnAverage is Eq. 4.
func surestOnAverage(answers, confidences []int) (best synod.Answer) {
	sum, count := map[int]int{}, map[int]int{}
	for i, a := range answers {
		sum[a] += confidences[i]
		count[a]++
	}
	most := -1.0
	for _, a := range slices.Sorted(maps.Keys(sum)) {
		if mean := float64(sum[a]) / float64(count[a]); mean > most {
			best, most = synod.Answer(strconv.Itoa(a)), mean
		}
	}
	return best
}

// DecentLLMs, Eq. 1, through HTTP: the score of every worker is the total of the geometric
// median of its grades, as a plain Weiszfeld iteration finds it, to 1e-3, and the best wins.
func TestDecentLLMsAgainstPlainWeiszfeld(t *testing.T) {
	const workers, evaluators = 4, 5
	for seed := range uint64(4) {
		r := rand.New(rand.NewPCG(seed, 3))
		var grades [evaluators][workers]grade.Grades
		for e := range evaluators {
			for w := range workers {
				for k := range grades[e][w] {
					grades[e][w][k] = float64(r.IntN(21))
				}
			}
		}
		stub := llmtest.Start(t, func(c llmtest.Call) string {
			me := seatOf(c)
			if !strings.Contains(string(c.Body), grade.Criteria()[0]) {
				return fmt.Sprintf(`{"reasoning": "", "answer": "%d"}`, 9100+me)
			}
			author, _ := strconv.Atoi(offered.FindString(c.User))
			out := `{"reasoning": ""`
			for k, criterion := range grade.Criteria() {
				out += fmt.Sprintf(", %q: %g", criterion, grades[me-workers][author-9100][k])
			}
			return out + "}"
		})
		text := networked(stub.URL, "protocol: {name: decentllms}\nf: 2\n", workers+evaluators)
		for i := range workers + evaluators {
			role := map[bool]string{true: "worker", false: "evaluator"}[i < workers]
			text = strings.Replace(text, fmt.Sprintf("model: m%d}\n", i)+"  - ",
				fmt.Sprintf("model: m%d, role: %s}\n  - ", i, role), 1)
		}
		text = strings.TrimSuffix(text, "}\n") + ", role: evaluator}\n"
		o := decide(t, convene(t, text), council.Ask{Seed: seed})
		best, winner := -1.0, ""
		for w, got := range o.Presented.Value.(*decentllms.Panel).Answers {
			var rows [][]float64
			for e := range evaluators {
				rows = append(rows, grades[e][w][:])
			}
			want := plainWeiszfeld(rows)
			if got.Total == nil || math.Abs(*got.Total-want) > 1e-3 {
				t.Errorf("seed %d, worker %d: %v, want %.6f", seed, w, got.Total, want)
			}
			if want > best {
				best, winner = want, strconv.Itoa(9100+w)
			}
		}
		if o.Answer == nil || string(*o.Answer) != winner {
			t.Errorf("seed %d: decided %v, want %s", seed, o.Answer, winner)
		}
	}
}

// plainWeiszfeld returns the total of the geometric median: 200,000 steps from the mean,
// without any step for an iterate on an input.
func plainWeiszfeld(rows [][]float64) (total float64) {
	at := make([]float64, len(rows[0]))
	for _, row := range rows {
		for k := range at {
			at[k] += row[k] / float64(len(rows))
		}
	}
	for range 200_000 {
		next, weights := make([]float64, len(at)), 0.0
		for _, row := range rows {
			distance := 0.0
			for k := range at {
				distance += (row[k] - at[k]) * (row[k] - at[k])
			}
			w := 1 / max(math.Sqrt(distance), 1e-9)
			for k := range at {
				next[k] += w * row[k]
			}
			weights += w
		}
		for k := range at {
			at[k] = next[k] / weights
		}
	}
	for _, x := range at {
		total += x
	}
	return total
}
