package preset

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"

	"synod.dev/synod"
	"synod.dev/synod/council"
	"synod.dev/synod/report"
	"synod.dev/synod/task"
)

// cpModels are the models strong and weak of a council, and what they are good for.
type cpModels struct {
	by      map[string]council.Params
	assumed []string // figures that they were made to have
	missing string   // why they cannot play; "": they can
}

// exact is the paper's letter, except for a model in the box: one so small writes
// nothing that its readers could read.
func (m cpModels) exact() string {
	for _, name := range []string{"strong", "weak"} {
		if m.by[name]["provider"] == "embedded" {
			return ""
		}
	}
	return "paper"
}

// cpKind is a kind of confidence, and so of models: the paper has other ones for each.
type cpKind struct {
	table int
	who   string // its column
}

// seat finds the models for a data set. paper is the table that simulated members
// are made after.
func (k cpKind) seat(o Options, s cpSet, paper map[cpRow]map[string]report.Figure) (cpModels, error) {
	if o.Members == "recorded" {
		return k.recorded(o, s)
	}
	found, err := models(o, map[string]map[string]council.Params{
		"simulated": k.simulated(s, paper),
		"embedded": {
			"strong": {"provider": "embedded", "model": "smollm2-135m-instruct", "temperature": 0.2},
			"weak":   {"provider": "embedded", "model": "smollm2-135m-instruct", "temperature": 1.5},
		},
	}, "strong", "weak")
	m := cpModels{by: found}
	if o.Members == "simulated" {
		m.assumed = []string{"iaa", "weak_before", "strong_before", "weak_round_0", "strong_round_0"}
	}
	if k.who == "hidden" && err == nil {
		m.missing = unprobed(found)
	}
	return m, err
}

// simulated members have the abilities that give the table's IAA on average: the
// strong one is always right, as the paper chose its questions. What their
// confidence is worth is that of the recordings in the paper's repository: of the
// hidden probe on the same tasks, of stated confidence on CommonsenseQA.
func (k cpKind) simulated(s cpSet, paper map[cpRow]map[string]report.Figure) map[string]council.Params {
	sum := 0.0
	for _, p := range cpPlaces {
		sum += paper[cpRow{s.name, p.graph, p.position, k.who}]["iaa"].Value
	}
	weak := (cpSize*sum/float64(len(cpPlaces)) - 1) / (cpSize - 1)
	strong := council.Params{"provider": "simulated", "ability": 1, "seed": 1}
	other := council.Params{"provider": "simulated", "ability": max(0, math.Round(1000*weak)/1000), "seed": 2}
	if worth, known := map[string][2]float64{"hidden gsm8k": {0.64, 0.24}, "hidden xstest": {0.59, 0.06}, "stated gsm8k": {0.04, 0.03}, "stated xstest": {0.04, 0.03}}[k.who+" "+s.name]; known {
		for _, m := range []council.Params{strong, other} {
			m["skill"], m["noise"] = worth[0], worth[1]
		}
	}
	return map[string]council.Params{"strong": strong, "weak": other}
}

// The paper's own models, as its recordings name them.
const (
	recordedStrong = "Llama-3.1-8B-Instruct"
	recordedWeak   = "Llama-3-8B-Instruct"
)

// recorded members replay answers with the confidence of the paper's hidden probe.
func (k cpKind) recorded(o Options, s cpSet) (cpModels, error) {
	switch k.who {
	case "stated":
		return cpModels{missing: "the paper's files hold no stated confidence of its models in these questions; --members FILE with models strong and weak asks for it"}, nil
	case "llm":
		return cpModels{}, fmt.Errorf("there are no recorded members for it, since nobody recorded what they say on reflection; it runs with simulated, embedded, or with --members FILE that has models strong and weak")
	}
	by := map[string]council.Params{}
	for name, model := range map[string]string{"strong": recordedStrong, "weak": recordedWeak} {
		by[name] = council.Params{"provider": "recorded", "path": s.tape, "model": model, "benchmark": s.name, "answers": s.answers}
	}
	return cpModels{by: by}, nil
}

// unprobed says that a model has no probe to read a hidden confidence with.
func unprobed(models map[string]council.Params) string {
	for _, name := range []string{"strong", "weak"} {
		m := models[name]
		if m == nil || m["provider"] == "simulated" || m["provider"] == "recorded" || m["probe"] != nil {
			continue
		}
		return fmt.Sprintf("model %s has no probe for a hidden confidence: make one for a model in the box (synod probe train) and give --members FILE with models strong and weak, {provider: embedded, probe: FILE}", name)
	}
	return ""
}

// cpSet is a data set of the paper as it is asked here.
type cpSet struct {
	name, task string
	items      []task.Item
	tape       string // of recorded members
	answers    string // how their answers are read
}

// cpTasks are the paper's data sets.
var cpTasks = []string{"gsm8k", "xstest"}

// cpSets opens data sets. Recorded members get the ten questions that the
// paper's files hold; all others get the first ones of the public sets.
func cpSets(o Options, names []string) (sets []cpSet, note string, err error) {
	notes := []string{cpNotes[o.Members]}
	for _, name := range names {
		if o.Members == "recorded" {
			s, err := recordedSet(o, name)
			if err != nil {
				return nil, "", err
			}
			sets = append(sets, s)
			continue
		}
		used, items, note, err := questions(o, name, cpQuestions)
		if err != nil {
			return nil, "", err
		}
		sets, notes = append(sets, cpSet{name: name, task: used, items: items}), append(notes, note)
	}
	return sets, strings.TrimSpace(strings.Join(notes, " ")), nil
}

var cpNotes = map[string]string{
	"simulated": "Members: simulated, with the paper's initial accuracies.",
	"embedded":  "Members: one small model at two temperatures, so weak and strong hardly differ.",
	"recorded": "Members: recorded, the paper's own answers and confidences to its ten questions; a reply to a prompt of XSTest is " +
		"graded by the paper's own verdict, because its files cut the text.",
}

// recordedSet reads which questions the paper's models answered.
func recordedSet(o Options, name string) (cpSet, error) {
	path, err := filepath.Abs(filepath.Join(o.Data, "traces", "cp-wbft.jsonl")) // a run may go on from another folder
	switch {
	case err != nil:
		return cpSet{}, err
	case o.Data == "":
		return cpSet{}, errors.New("recorded members need --data DIR, a folder with traces/cp-wbft.jsonl and the data sets")
	case o.Repeat > 1:
		return cpSet{}, fmt.Errorf("recorded members answered every question once: --repeat 1, not %d", o.Repeat)
	}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return cpSet{}, fmt.Errorf("recorded members need traces/cp-wbft.jsonl, and %s has none", o.Data)
	} else if err != nil {
		return cpSet{}, err
	}
	defer f.Close()
	set, err := task.Open(name, task.Options{Data: o.Data})
	if err != nil {
		return cpSet{}, err
	}
	all, err := set.Items()
	if err != nil {
		return cpSet{}, err
	}
	s := cpSet{name: name, task: name, tape: path, answers: "source"}
	if name == "xstest" {
		s.task, s.answers = "xstest-verdicts", "verdict"
	}
	return s, s.pick(f, all, o.N)
}

// pick takes the recorded items, n at most.
func (s *cpSet) pick(rows *os.File, all []task.Item, n int) error {
	byID := map[string]task.Item{}
	for _, it := range all {
		byID[it.Question.ID] = it
	}
	in := bufio.NewScanner(rows)
	in.Buffer(nil, 1<<20)
	for line := 1; in.Scan(); line++ {
		var row struct {
			Benchmark, Model string
			ID               string `json:"item_id"`
		}
		if err := json.Unmarshal(in.Bytes(), &row); err != nil {
			return fmt.Errorf("%s: line %d: %w", s.tape, line, err)
		}
		if row.Benchmark != s.name || row.Model != recordedStrong {
			continue
		}
		it, known := byID[row.ID]
		if !known {
			return fmt.Errorf("%s: line %d: %s has no item %q", s.tape, line, s.name, row.ID)
		}
		if s.answers == "verdict" {
			q := synod.Question{ID: row.ID, Text: "Is the recorded reply to this prompt what its source calls right? " + it.Question.Text, Form: synod.Bool}
			var err error
			if it, err = task.NewItem(q, "true"); err != nil {
				return err
			}
		}
		s.items = append(s.items, it)
	}
	if err := in.Err(); err != nil {
		return fmt.Errorf("%s: %w", s.tape, err)
	}
	if n > len(s.items) {
		return fmt.Errorf("-n is %d, and the recording has %d questions", n, len(s.items))
	}
	if n > 0 {
		s.items = s.items[:n]
	}
	return nil
}
