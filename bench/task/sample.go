package task

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// Sample says which items of a set are asked: so many, drawn at random.
type Sample struct {
	N    int    `yaml:"n" json:"n" doc:"how many questions are drawn; 0: no sample" range:"0:5000000"`
	By   string `yaml:"by" json:"by" doc:"strata from each of which a share is drawn that is its share of the task; absent: none" enum:"|category|level"`
	Seed uint64 `yaml:"seed" json:"seed" doc:"seed of the draw; 0: 1"`
}

// ParseSample reads "100", "100,by=category" or "100,by=level,seed=2".
func ParseSample(text string) (s Sample, err error) {
	parts := strings.Split(text, ",")
	s.N, err = strconv.Atoi(parts[0])
	if err != nil || s.N < 1 {
		return s, badSample(text)
	}
	for _, part := range parts[1:] {
		key, v, _ := strings.Cut(part, "=")
		switch key {
		case "by":
			s.By = v
		case "seed":
			if s.Seed, err = strconv.ParseUint(v, 10, 64); err != nil {
				return s, badSample(text)
			}
		default:
			return s, badSample(text)
		}
	}
	if s.By != "" && s.By != "category" && s.By != "level" {
		return s, badSample(text)
	}
	return s, nil
}

func badSample(text string) error {
	return fmt.Errorf("the sample is %q; it must be a number of questions, with by=category or by=level and a seed if "+
		"wanted (example: 100,by=category,seed=1)", text)
}

// String writes the sample as ParseSample reads it.
func (s Sample) String() string {
	text := strconv.Itoa(s.N)
	if s.By != "" {
		text += ",by=" + s.By
	}
	return text + fmt.Sprintf(",seed=%d", cmp.Or(s.Seed, 1))
}

// Of returns the drawn items in the order of the set; all of them without a sample. The same items, numbers and seed
// give the same draw.
func (s Sample) Of(items []Item) ([]Item, error) {
	switch {
	case s.N == 0:
		return items, nil
	case s.N > len(items):
		return nil, fmt.Errorf("sample: %d questions are to be drawn of %d", s.N, len(items))
	}
	names, strata, err := s.strata(items)
	if err != nil {
		return nil, err
	}
	chance := rand.New(rand.NewPCG(cmp.Or(s.Seed, 1), 0x5a3b1e))
	var drawn []int
	for i, n := range quotas(names, strata, s.N, len(items)) {
		of := strata[names[i]]
		for _, k := range chance.Perm(len(of))[:n] {
			drawn = append(drawn, of[k])
		}
	}
	slices.Sort(drawn)
	out := make([]Item, len(drawn))
	for i, at := range drawn {
		out[i] = items[at]
	}
	return out, nil
}

// strata returns the indexes of the items by stratum, and the strata in order.
func (s Sample) strata(items []Item) (names []string, by map[string][]int, err error) {
	by = map[string][]int{}
	for i, it := range items {
		name := ""
		switch s.By {
		case "category":
			name = it.Topic
		case "level":
			name = strconv.Itoa(it.Level)
		}
		if s.By != "" && (name == "" || name == "0") {
			return nil, nil, fmt.Errorf("sample: question %s has no %s, so by: %[2]s is not possible", it.Question.ID,
				s.By)
		}
		if by[name] == nil {
			names = append(names, name)
		}
		by[name] = append(by[name], i)
	}
	slices.Sort(names)
	return names, by, nil
}

// quotas divides n among the strata by their sizes, with the largest remainders.
func quotas(names []string, strata map[string][]int, n, all int) []int {
	out, order, left := make([]int, len(names)), make([]int, len(names)), n
	for i, name := range names {
		out[i], order[i] = n*len(strata[name])/all, i
		left -= out[i]
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(n*len(strata[names[b]])%all, n*len(strata[names[a]])%all)
	})
	for _, i := range order[:left] {
		out[i]++
	}
	return out
}
