package page

import (
	"fmt"
	"net/http"
	"strings"

	"synod.dev/synod/council/plan"
	"synod.dev/synod/graph"
	"synod.dev/synod/graph/format"
	"synod.dev/synod/graph/robustness"
)

// starter is a text that a new council begins with.
type starter struct{ Name, About, models, seats string }

// starters are the texts that can be picked. %d is the number of seats.
var starters = []starter{
	{"openai", "seven seats of two models behind OpenAI's API",
		`models:
  one: {provider: openai, model: gpt-4o-mini}
  two: {provider: openai, model: gpt-4.1-mini}`,
		`seats:
  - {id: a, model: one, count: %d}
  - {id: b, model: two, count: %d}`},
	{"server", "seven seats behind your own servers with OpenAI's API: vLLM, llama.cpp, LiteLLM",
		`models:
  one: {provider: openai, url: "http://127.0.0.1:8000/v1", model: NAME}
  two: {provider: openai, url: "http://127.0.0.1:8001/v1", model: NAME}`,
		`seats:
  - {id: a, model: one, count: %d}
  - {id: b, model: two, count: %d}`},
	{"ollama", "seven seats of two models in a local Ollama",
		`models:
  one: {provider: ollama, model: "llama3.2:3b"}
  two: {provider: ollama, model: "qwen2.5:3b"}`,
		`seats:
  - {id: a, model: one, count: %d}
  - {id: b, model: two, count: %d}`},
	{"simulated", "seven simulated members, to try what a council does; no model is asked",
		`models:
  one: {provider: simulated, ability: 0.8}`,
		`seats:
  - {id: a, model: one, count: %d}`},
}

// text is a council file of the starter, on a graph or on the sparse default.
func (s starter) text(g *format.File) string {
	n, f, section := 7, 3, "graph: {family: merg}"
	if g != nil {
		res := robustness.Find(g.Graph, until(doctorTime))
		n, f, section = g.Graph.N(), max(0, graph.FSAC(res.Lower)), graphYAML(*g)
	}
	seats := strings.Replace(s.seats, "%d", fmt.Sprint(n), 1)
	if strings.Contains(seats, "%d") {
		seats = fmt.Sprintf(s.seats, n-n/2, n/2)
	}
	return fmt.Sprintf("# %s\nprotocol: %s\n%s\nf: %d\n%s\n%s\n", s.About,
		plan.ProposedProtocol("rounds: 4"), section, f, s.models,
		seats)
}

// newCouncil shows the editor with a text to begin with: a starter, a copy, or one on a graph of the doctor.
func newCouncil(v *visit) error {
	if err := v.mayEdit(); err != nil {
		return err
	}
	q := v.R.URL.Query()
	e := &editPage{}
	if id := q.Get("copy"); id != "" {
		if !editable(id) {
			return problemf(http.StatusNotFound, "There is no council file %s to copy.", clip(id))
		}
		file, err := readCouncil(v.p.o.Councils.Dir(), id)
		if err != nil {
			return problemf(http.StatusNotFound, "There is no council file %s to copy: %v", id, err)
		}
		e.Text = file.Text
	} else {
		s := starters[len(starters)-1]
		for _, other := range starters {
			if other.Name == q.Get("from") {
				s = other
			}
		}
		var g *format.File
		if text := q.Get("graph"); text != "" {
			file, err := readGraph(text)
			if err != nil {
				return problemf(http.StatusUnprocessableEntity, "The graph cannot be read: %v", err)
			}
			g = &file
		}
		e.Text = s.text(g)
	}
	e.Check = v.p.check(v.R.Context(), "", e.Text)
	return v.edit(http.StatusOK, e)
}

// createCouncil saves a new council file.
func createCouncil(v *visit) error {
	if err := v.mayEdit(); err != nil {
		return err
	}
	e := &editPage{Name: strings.TrimSpace(v.R.PostFormValue("name")), Text: unix(v.R.PostFormValue("text"))}
	e.Check = v.p.check(v.R.Context(), "", e.Text)
	if v.R.PostFormValue("do") != "save" {
		return v.edit(http.StatusOK, e)
	}
	if !editable(e.Name) {
		e.Problem = fmt.Sprintf("The name is %q. It must have 1 to 64 of a–z, 0–9 and -, and begin with a letter "+
			"or digit. It was not saved.", e.Name)
		return v.edit(http.StatusUnprocessableEntity, e)
	}
	return v.save(e.Name, e)
}
