package seating

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"math"
	"slices"

	"synod.dev/synod/bench/metrics"
	"synod.dev/synod/core/stats"
)

// Suggestion is a council of measured models, one seat each.
type Suggestion struct {
	Models []string `json:"models"`
	F      int      `json:"f"` // of the complete graph of them
	// Right is the share of questions on which more than half of them were right. The models were chosen by the same
	// questions, so it is too high; HeldOut is the share of questions that the choice did not use.
	Right   *metrics.Rate `json:"right"`
	HeldOut *metrics.Rate `json:"held_out"`
	Votes   *metrics.Rate `json:"effective_votes"` // null: not known
	Against []Comparison  `json:"against"`
}

// Comparison compares a suggestion with something else on questions that the choice of neither used.
type Comparison struct {
	With       string        `json:"with"` // the best single model, or the council as it is and its rule
	Right      *metrics.Rate `json:"right"`
	Difference *metrics.Rate `json:"difference"` // of the suggestion: Newcombe's interval for pairs
	P          float64       `json:"p"`          // of McNemar's exact test
	// Needed is how many questions would show a difference of this size with a power of 80 % (stats.McNemarSize);
	// 0: there was no difference.
	Needed int `json:"questions_needed"`
}

const (
	mostModels   = 10 // models among which councils are tried, the most accurate ones
	leastForFold = 20 // questions below which nothing is suggested
	folds        = 10
)

// Now is a council of measured models as it is.
type Now struct {
	Seats []string // its models, by seat
	// Rule says what decides, such as "cascade, stop: probable, F=1".
	Rule string
	// Right says of each question, by its id, whether the council's own rule decides it rightly from the first answers
	// that were measured. It is nil where these do not determine the decision, because members talk: then a council of
	// which more than half are right counts as right.
	Right map[string]bool
}

// table has the marks of questions to which all models replied.
type table struct {
	models []string
	usd    []float64 // of a question; +Inf: unknown
	right  [][]bool  // by question and model, and then the same of the second copies of models
	fold   []int     // by question
	ids    []string  // by question
}

// Suggest proposes who to seat: of all councils with three, five or seven of the models (of more than ten the ten most
// accurate), one seat each, the one in which more than half are right most often; of equal ones the cheapest, then
// the smallest. usd is what a question to a model costs; a model that is absent costs an unknown amount, which counts
// as most. now is the council as it is, which the suggestion is compared with. The suggestion is nil, with a reason, if
// there is not enough to compare.
//
// How often such a council is right is measured by ten-fold cross-validation (Stone, "Cross-validatory choice and
// assessment of statistical predictions", JRSS B 36, 1974): the questions are divided into ten parts by a hash of
// their ids, and each is decided by the council that the other nine choose.
func (m *Measured) Suggest(usd map[string]float64, now Now) (*Suggestion, string) {
	t := m.table(usd)
	if len(t.models) < 3 {
		return nil, "fewer than three models were measured"
	}
	if len(t.right) < leastForFold {
		return nil, fmt.Sprintf("all models replied to only %d questions; at least %d are needed", len(t.right),
			leastForFold)
	}
	all := subsets(len(t.models))
	every := func(int) bool { return true }
	best := t.best(all, every)
	s := &Suggestion{F: (len(best)+1)/2 - 1}
	for _, i := range best {
		s.Models = append(s.Models, t.models[i])
	}
	right, _ := t.count(best, every)
	s.Right, s.Votes = metrics.Share(right, len(t.right)), m.Votes(s.Models)
	held := t.heldOut(all)
	s.HeldOut = share(held)
	s.Against = append(s.Against, compare("the best single model", held, t.heldOut(singles(len(t.models)))))
	if with, decided := t.now(now); decided != nil {
		s.Against = append(s.Against, compare(with, held, decided))
	}
	return s, ""
}

// now returns what the council as it is decides rightly, and how that is called; nil if it is not known.
func (t *table) now(now Now) (with string, decided []bool) {
	if now.Right != nil {
		for _, id := range t.ids {
			decided = append(decided, now.Right[id])
		}
		return "the council as it is: " + now.Rule, decided
	}
	if seats, ok := t.seats(now.Seats); ok {
		return "more than half of the council's seats; its members talk, which single answers do not show: " +
			now.Rule, t.decided(seats)
	}
	return "", nil
}

// table keeps the questions to which all models replied.
func (m *Measured) table(usd map[string]float64) *table {
	t := &table{models: slices.Clone(m.Models())}
	slices.SortStableFunc(t.models, func(a, b string) int {
		return cmp.Compare(accuracy(m.Accuracy(b)), accuracy(m.Accuracy(a)))
	})
	t.models = slices.DeleteFunc(t.models, func(name string) bool { return m.Accuracy(name) == nil })
	t.models = t.models[:min(len(t.models), mostModels)]
	slices.Sort(t.models)
	for _, name := range t.models {
		price, known := usd[name]
		if !known {
			price = math.Inf(1)
		}
		t.usd = append(t.usd, price)
	}
	for _, q := range m.Asked {
		row, usable := make([]bool, 2*len(t.models)), true
		for i, name := range t.models {
			at := m.columns(name)
			for copy := range 2 {
				mark := q.Marks[at[min(copy, len(at)-1)]]
				row[i+copy*len(t.models)] = mark == Right
				usable = usable && (mark == Right || mark == Wrong || mark == Silent)
			}
		}
		if usable {
			h := fnv.New32a()
			h.Write([]byte(q.ID))
			t.right, t.fold = append(t.right, row), append(t.fold, int(h.Sum32()%folds))
			t.ids = append(t.ids, q.ID)
		}
	}
	return t
}

func accuracy(r *metrics.Rate) float64 {
	if r == nil {
		return -1
	}
	return r.Value
}

// subsets lists the sets of three, five and seven of n models.
func subsets(n int) (all [][]int) {
	for set := range 1 << n {
		var of []int
		for i := range n {
			if set>>i&1 == 1 {
				of = append(of, i)
			}
		}
		if k := len(of); k == 3 || k == 5 || k == 7 {
			all = append(all, of)
		}
	}
	return all
}

func singles(n int) (all [][]int) {
	for i := range n {
		all = append(all, []int{i})
	}
	return all
}

// decides reports whether more than half of the seats are right on a question.
func (t *table) decides(seats []int, q int) bool {
	right := 0
	for _, i := range seats {
		if t.right[q][i] {
			right++
		}
	}
	return 2*right > len(seats)
}

// count counts the questions of some folds that seats decide rightly.
func (t *table) count(seats []int, fold func(int) bool) (right, n int) {
	for q := range t.right {
		if fold(t.fold[q]) {
			n++
			if t.decides(seats, q) {
				right++
			}
		}
	}
	return right, n
}

// best returns the set that is right most often on questions of some folds.
func (t *table) best(sets [][]int, fold func(int) bool) (best []int) {
	most, least := -1, 0.0
	for _, set := range sets {
		right, _ := t.count(set, fold)
		usd := 0.0
		for _, i := range set {
			usd += t.usd[i]
		}
		if right > most || right == most && (usd < least || usd == least && len(set) < len(best)) {
			best, most, least = set, right, usd
		}
	}
	return best
}

// heldOut decides every question by the set that is best on the other folds.
func (t *table) heldOut(sets [][]int) []bool {
	decided := make([]bool, len(t.right))
	for k := range folds {
		set := t.best(sets, func(fold int) bool { return fold != k })
		for q := range t.right {
			if t.fold[q] == k {
				decided[q] = t.decides(set, q)
			}
		}
	}
	return decided
}

// seats returns the columns of a council by seat, if each of its models is in the table. Copies of a model beyond the
// second take the answers of the first two in turn.
func (t *table) seats(models []string) (seats []int, ok bool) {
	copies := map[string]int{}
	for _, name := range models {
		i := slices.Index(t.models, name)
		if i < 0 {
			return nil, false
		}
		seats = append(seats, i+copies[name]%2*len(t.models))
		copies[name]++
	}
	return seats, len(seats) > 0
}

func (t *table) decided(seats []int) []bool {
	decided := make([]bool, len(t.right))
	for q := range t.right {
		decided[q] = t.decides(seats, q)
	}
	return decided
}

func share(decided []bool) *metrics.Rate {
	right := 0
	for _, d := range decided {
		if d {
			right++
		}
	}
	return metrics.Share(right, len(decided))
}

// compare compares the suggestion's decisions with others on the same questions.
func compare(with string, held, others []bool) Comparison {
	both, gained, lost, none := 0, 0, 0, 0
	for q := range held {
		switch {
		case held[q] && others[q]:
			both++
		case held[q]:
			gained++
		case others[q]:
			lost++
		default:
			none++
		}
	}
	n := len(held)
	d := stats.PairedDifference(both, lost, gained, none)
	return Comparison{With: with, Right: share(others), P: stats.McNemar(lost, gained),
		Difference: &metrics.Rate{Value: d.Value, N: n, Low: d.Low, High: d.High},
		Needed:     stats.McNemarSize(float64(gained+lost)/float64(n), d.Value)}
}
