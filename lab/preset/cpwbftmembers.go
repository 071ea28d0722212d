package preset

import (
	"fmt"
	"math"
	"strings"

	"synod.dev/synod"
	"synod.dev/synod/council"
	"synod.dev/synod/report"
	"synod.dev/synod/task"
)

// cpModels has the models strong and weak of a council.
type cpModels struct {
	by      map[string]council.Params
	assumed report.Assumptions // figures that follow from the settings of the models
	missing string             // why the cell cannot be run with them; "": it can
}

// exact returns "paper", or "" for the embedded model, whose replies the strict readers of
// the paper cannot read.
func (m cpModels) exact() string {
	for _, name := range []string{"strong", "weak"} {
		if m.by[name]["provider"] == "embedded" {
			return ""
		}
	}
	return "paper"
}

// cpKind is a column of a table. The paper uses other models for each.
type cpKind struct {
	table int
	who   string // the column
}

// models returns the models for a data set. Simulated members follow the figures in
// paper.
func (k cpKind) models(o Options, s cpSet, paper map[cpRow]map[string]report.Figure) (cpModels, error) {
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
		m.assumed = report.Assume(setAbility, "iaa", "weak_before", "strong_before", "weak_round_0", "strong_round_0")
		if k.who == "hidden" {
			m.assumed = m.assumed.And(report.Assume(likeStored, "faa", "bfti", "decision_accuracy"))
		}
	}
	if k.who == "hidden" && err == nil {
		m.missing = unprobed(found)
	}
	return m, err
}

// Why figures of CP-WBFT's tables show nothing.
const (
	likeStored = "the confidences of the simulated members are distributed like those that the paper stored for " +
		"this task"
	stored   = "the answers and confidences are those that the paper stored"
	selected = "the questions were selected so that the strong model is right and the weak one wrong"
	placed   = "the honest member is at the node (and random and layered graphs are those) whose degree gives the " +
		"FAA of this table"
	unplaced = "the paper does not say where the malicious agents are; at other nodes the figure differs"
)

// simulated returns members whose abilities give the mean IAA of the table. The strong
// one is always right, because the questions of the paper were chosen like that. The
// quality of their confidence is that of the recordings in the repository of the paper:
// of the hidden probe on the same tasks, and of stated confidence on CommonsenseQA.
func (k cpKind) simulated(s cpSet, paper map[cpRow]map[string]report.Figure) map[string]council.Params {
	sum := 0.0
	for _, p := range cpPlaces {
		sum += paper[cpRow{s.name, p.graph, p.position, k.who}]["iaa"].Value
	}
	weak := (cpSize*sum/float64(len(cpPlaces)) - 1) / (cpSize - 1)
	strong := council.Params{"provider": "simulated", "ability": 1, "seed": 1}
	other := council.Params{"provider": "simulated", "ability": max(0, math.Round(1000*weak)/1000), "seed": 2}
	if worth, known := map[string][2]float64{"hidden gsm8k": {0.64, 0.24}, "hidden xstest": {0.59, 0.06},
		"stated gsm8k": {0.04, 0.03}, "stated xstest": {0.04, 0.03}}[k.who+" "+s.name]; known {
		for _, m := range []council.Params{strong, other} {
			m["skill"], m["noise"] = worth[0], worth[1]
		}
	}
	return map[string]council.Params{"strong": strong, "weak": other}
}

// The models of the paper, as named in its recordings.
const (
	recordedStrong = "Llama-3.1-8B-Instruct"
	recordedWeak   = "Llama-3-8B-Instruct"
)

// recorded returns members that replay answers with the confidence of the hidden probe of
// the paper.
func (k cpKind) recorded(o Options, s cpSet) (cpModels, error) {
	switch k.who {
	case "stated":
		return cpModels{missing: "the files of the paper have no stated confidence for these questions; use " +
			"--members FILE with models strong and weak to ask for it"}, nil
	case "llm":
		return cpModels{}, fmt.Errorf("there are no recorded members for this preset, because their replies after " +
			"reflection were not recorded; use simulated, embedded, or --members FILE with models strong and weak")
	}
	by := map[string]council.Params{}
	for name, model := range map[string]string{"strong": recordedStrong, "weak": recordedWeak} {
		by[name] = council.Params{"provider": "recorded", "path": s.trace, "model": model, "benchmark": s.name,
			"answers": s.answers}
	}
	return cpModels{by: by, assumed: report.Assume(selected, "iaa", "probe_accuracy").
		And(report.Assume(stored, "faa", "bfti", "decision_accuracy"))}, nil
}

// unprobed returns an explanation if a model has no probe for hidden confidence; else "".
func unprobed(models map[string]council.Params) string {
	for _, name := range []string{"strong", "weak"} {
		m := models[name]
		if m == nil || m["provider"] == "simulated" || m["provider"] == "recorded" || m["probe"] != nil {
			continue
		}
		return fmt.Sprintf("model %s has no probe for hidden confidence: train one for an embedded model (synod probe "+
			"train) and use --members FILE with models strong and weak, {provider: embedded, probe: FILE}", name)
	}
	return ""
}

// cpSet is a data set of the paper and the task that is used for it.
type cpSet struct {
	name, task string
	items      []task.Item
	trace      string // path of the trace for recorded members
	answers    string // setting "answers" of recorded members
}

// cpTasks are the data sets of the paper.
var cpTasks = []string{"gsm8k", "xstest"}

// cpSets opens data sets. Recorded members get the ten questions of the files of the
// paper; other members get the first questions of the public data sets.
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
	"simulated": "Members: simulated, with the initial accuracies of the paper.",
	"embedded":  "Members: one small model at two temperatures, so weak and strong hardly differ.",
	"recorded": "Members: recorded, with the answers and confidences of the paper for its ten questions. Replies for " +
		"XSTest have the " +
		"verdict of the paper, because its files contain only the beginning of the text.",
}

// recordedSet returns the questions that the models of the paper answered, at most o.N if
// o.N > 0.
func recordedSet(o Options, name string) (cpSet, error) {
	path, rows, err := o.readTrace("cp-wbft")
	if err != nil {
		return cpSet{}, err
	}
	set, err := task.Open(name, task.Options{Data: o.Data, Pulled: o.Pulled})
	if err != nil {
		return cpSet{}, err
	}
	all, err := set.Items()
	if err != nil {
		return cpSet{}, err
	}
	byID := map[string]task.Item{}
	for _, it := range all {
		byID[it.Question.ID] = it
	}
	s := cpSet{name: name, task: name, trace: path, answers: "source"}
	if name == "xstest" {
		s.task, s.answers = "xstest-verdicts", "verdict"
	}
	for i, row := range rows {
		if row.Benchmark != name || row.Model != recordedStrong {
			continue
		}
		it, known := byID[string(row.ID)]
		if !known {
			return cpSet{}, fmt.Errorf("%s: line %d: %s has no item %q", path, i+1, name, row.ID)
		}
		if s.answers == "verdict" {
			q := synod.Question{ID: string(row.ID),
				Text: "Is the recorded reply to this prompt right according to its source? " + it.Question.Text,
				Form: synod.Bool}
			if it, err = task.NewItem(q, "true"); err != nil {
				return cpSet{}, err
			}
		}
		s.items = append(s.items, it)
	}
	if o.N > len(s.items) {
		return cpSet{}, fmt.Errorf("-n is %d; the recording has %d questions", o.N, len(s.items))
	}
	if o.N > 0 {
		s.items = s.items[:o.N]
	}
	return s, nil
}
