package llm

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"synod.dev/synod"
	"synod.dev/synod/llm/engine"
	"synod.dev/synod/llm/models"
	"synod.dev/synod/llm/probe"
)

// states returns the length of each line as its states at every layer and position.
func (l *lines) states(list []string, want *engine.Capture) (all []*engine.States) {
	if want == nil {
		return nil
	}
	for _, s := range list {
		st := &engine.States{Capture: *want, Width: 1, Tokens: 1}
		for range len(want.Layers) * len(want.Positions) {
			st.Data = append(st.Data, float32(len(strings.TrimSpace(s))))
		}
		all = append(all, st)
	}
	return all
}

// The states and the log-probability of a reply are those of its answer, in every
// way of answering. [CP-2]
func TestStatesAreTheAnswers(t *testing.T) {
	cold := embeddedDefaults()
	cold.Temperature = 0
	want := &engine.Capture{Layers: []int{3}, Positions: []engine.Position{engine.Mean}}
	likely := map[string]float64{" apple": -1, " Oslo": -0.5, " Reykjavik": -0.1}
	written := engine.Result{Text: " Rome", Finish: "stop", Logprobs: []float64{-1, -2},
		States: &engine.States{Capture: *want, Width: 1, Tokens: 1, Data: []float32{4}}}
	for name, c := range map[string]struct {
		p       synod.Prompt
		answer  synod.Answer
		state   float32
		logprob float64
	}{
		"options": {synod.Prompt{Purpose: synod.Answering, Question: fruit}, "B", 5, -1},
		"a line":  {synod.Prompt{Purpose: synod.Answering, Question: capital}, "Rome", 4, -1.5},
		"choosing": {synod.Prompt{Purpose: synod.Refining, Question: capital, Own: "oslo",
			Peers:    []synod.Rated{{Answer: "reykjavik"}},
			Spelling: map[synod.Answer]string{"oslo": "Oslo", "reykjavik": "Reykjavik"}}, "reykjavik", 9, -0.1},
		"choosing of one": {synod.Prompt{Purpose: synod.Refining, Question: capital, Own: "oslo",
			Spelling: map[synod.Answer]string{"oslo": "Oslo"}}, "oslo", 4, -0.5},
	} {
		c.p.Template = "box/answer"
		chat, err := boxTemplates(t).Render(&c.p)
		if err != nil {
			t.Fatal(err)
		}
		x := &exchange{completer: &lines{likely: likely, written: written}, prompt: &c.p, want: want}
		r, err := (&embedded{cfg: cold.Speech}).reply(t.Context(), x, chat)
		if err != nil || r.Answer != c.answer || x.states == nil || x.states.At(3, engine.Mean)[0] != c.state ||
			r.Logprob == nil || math.Abs(*r.Logprob-c.logprob) > 1e-12 {
			t.Errorf("%s: %+v, %+v, %v", name, r, x.states, err)
		}
	}
}

// Layers do not hide the optional interfaces.
func TestLayersShowProbers(t *testing.T) {
	m := standard(&embedded{probe: &probe.Probe{}}, testLayers{})
	if _, ok := AsProber(m); !ok || !m.(ConfidenceModel).GivesHiddenConfidence() {
		t.Error("the layers hide the prober")
	}
	plain := standard(&embedded{}, testLayers{})
	if plain.(ConfidenceModel).GivesHiddenConfidence() {
		t.Error("a member without a probe reports hidden confidences")
	}
	member, err := newSimulated(NewSimulatedConfig(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := AsProber(standard(member, testLayers{})); ok ||
		!standard(member, testLayers{}).(ConfidenceModel).GivesHiddenConfidence() {
		t.Error("a simulated member has confidences and no states")
	}
	_, err = (&embedded{}).Complete(t.Context(), Request{Prompt: &synod.Prompt{Purpose: synod.Answering,
		ConfidenceMode: synod.HiddenConfidence}})
	var f *Failure
	if !errors.As(err, &f) || f.Status != synod.Unavailable || !strings.Contains(err.Error(), "probe: FILE") {
		t.Error(err)
	}
}

func openBox(t *testing.T, settings string) (Model, error) {
	t.Helper()
	if _, err := (models.Store{Dir: models.DefaultDir()}).Resolve(models.Default); err != nil {
		t.Skip("NEEDS THE MODEL: synod models pull")
	}
	m, err := new(Pool).Open("embedded", func(into any) error {
		return yaml.UnmarshalWithOptions([]byte(settings), into, yaml.Strict())
	}, Options{Env: Env{Models: models.DefaultDir(), Hidden: true}})
	if err == nil {
		t.Cleanup(func() { _ = m.(Closer).Close() })
	}
	return m, err
}

// A model with a probe replies with its confidence. A probe of another model is
// refused when the model is opened, one for another form of answer in the call.
func TestMemberWithProbe(t *testing.T) {
	bare, err := openBox(t, "model: "+models.Default)
	if err != nil {
		t.Fatal(err)
	}
	prober, ok := AsProber(bare)
	if !ok {
		t.Fatal("the model in the box shows no hidden states")
	}
	subject, err := prober.Subject(t.Context())
	if err != nil || subject.Layers == 0 || subject.SHA256 == "" {
		t.Fatalf("%+v, %v", subject, err)
	}
	subject.Form = "choice"
	p := probe.Probe{Version: probe.Version, Subject: subject, Layer: 2, Position: "last", Bias: math.Log(3),
		Weights: make([]float64, subject.Width)}
	file := filepath.Join(t.TempDir(), "probe.json")
	save := func() {
		text, err := p.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	save()
	m, err := openBox(t, "model: "+models.Default+"\nprobe: "+file)
	if err != nil {
		t.Fatal(err)
	}
	if !m.(ConfidenceModel).GivesHiddenConfidence() || m.Info().Identity == bare.Info().Identity {
		t.Errorf("it gives no hidden confidences, or has the identity of one without a probe: %s", m.Info().Identity)
	}
	ask := func(q *synod.Question) (synod.Reply, error) {
		return m.Complete(t.Context(), Request{Prompt: &synod.Prompt{Template: "box/answer", Purpose: synod.Answering,
			Question: q, ConfidenceMode: synod.HiddenConfidence}, Templates: boxTemplates(t)})
	}
	r, err := ask(fruit)
	if err != nil || r.Confidence == nil || math.Abs(*r.Confidence-0.75) > 1e-9 {
		t.Errorf("%+v, %v", r, err)
	}
	if r, err := ask(capital); r.Status == synod.OK || !strings.Contains(r.Detail, "form of the answer is text") {
		t.Errorf("a probe for choices is used for text answers: %+v, %v", r, err)
	}
	p.Subject.SHA256 = strings.Repeat("0", 64)
	save()
	if _, err := openBox(t, "model: "+models.Default+"\nprobe: "+file); !errors.Is(err, probe.ErrUnfit) ||
		!strings.Contains(err.Error(), "the model is") {
		t.Error(err)
	}
}
