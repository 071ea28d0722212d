package manifest

import (
	"fmt"
	"maps"
	"slices"

	"synod.dev/synod/bench/task"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/internal/durable"
	"synod.dev/synod/llm/probe"
)

// maxProbe is the largest file of a probe in bytes.
const maxProbe = 64 << 20

// unprobed returns why the models of a council have no hidden confidence; "" if they have.
func unprobed(spec *plan.Spec) string {
	for _, s := range spec.Seats {
		m := spec.Models[s.Model]
		if m["provider"] != "simulated" && m["provider"] != "recorded" && m["probe"] == nil {
			return fmt.Sprintf("model %s has no probe for hidden confidence: train one (synod research probe "+
				"train) and use --members FILE with that model, {provider: embedded or hidden, probe: FILE}", s.Model)
		}
	}
	return ""
}

// unfit returns why the probe of a model gives no confidence in the answers to some questions: it was trained on
// answers of another form, which a member refuses at every question. "" if all fit. A file that cannot be read is
// reported when the model is opened.
func unfit(spec *plan.Spec, name string, items []task.Item) string {
	for _, model := range slices.Sorted(maps.Keys(spec.Models)) {
		path, ok := spec.Models[model]["probe"].(string)
		if !ok || !slices.ContainsFunc(spec.Seats, func(s plan.SeatSpec) bool { return s.Model == model }) {
			continue
		}
		text, err := durable.ReadFile(path, maxProbe)
		if err != nil {
			continue
		}
		p, err := probe.Decode(text)
		if err != nil || p.Subject.Form == probe.Mixed {
			continue
		}
		for _, it := range items {
			if form := string(it.Question.Form); form != p.Subject.Form {
				return fmt.Sprintf("the probe of model %s was trained on answers of the form %s, and question %s has "+
					"the form %s: train one on such questions (synod research probe train DIR --collect %s), and give "+
					"it to the model of this cell in --members FILE", model, p.Subject.Form, it.Question.ID, form, name)
			}
		}
	}
	return ""
}
