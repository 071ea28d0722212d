// Package probe estimates a model's confidence from its hidden states: the
// hidden-level confidence probe of CP-WBFT (Eq. 2 and 3; requirement CP-2). It only
// computes. Package llm/engine records the states, and package bench/collect collects
// graded answers.
//
// A probe is a PCA with at most 256 components, a z-score, and a logistic regression
// with L2 penalty, C = 1 and balanced classes. Its confidence is the sigmoid. The
// three are combined to one linear function of the state, which is saved.
//
// Train splits the answers by question, so that all answers to one question are in
// the same part. It chooses layer, position and number of components on the
// validation questions, fits again on training and validation questions together, and
// uses the test questions once. It differs from the paper in two points: the
// reference code chooses the training epoch on test data, Train does not; and Newton's
// method finds the optimum of the convex loss, instead of liblinear with early
// stopping. The loss is liblinear's, which penalises the intercept too.
//
// Every figure has the number of answers and a 95 % interval, a bootstrap over
// questions that is widened where it would be too narrow (see Figure).
//
//	report, p, err := probe.Train(data, probe.Defaults())
//	confidence := p.Confidence(state)
package probe

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"synod.dev/synod/internal/durable"
)

// Version is the format of probes and reports that this build reads and writes.
const Version = 1

// Subject describes the model whose hidden states a probe reads. With another model
// file, another release of the engine or another way of answering, the states have
// other values, and the probe is meaningless.
type Subject struct {
	Model   string `json:"model"`   // name, for people
	SHA256  string `json:"sha256"`  // of the model file
	Engine  string `json:"engine"`  // for example "llama.cpp 0.5.0"
	Layers  int    `json:"layers"`  // number of layers
	Width   int    `json:"width"`   // length of a state
	Answers string `json:"answers"` // way of answering: short or written
	Form    string `json:"form"`    // form of the answers, for example choice; "mixed" fits every form
}

// Probe is a fitted probe, in the form in which it is saved.
type Probe struct {
	Version    int       `json:"version"`
	Subject    Subject   `json:"subject"`
	Task       string    `json:"task"` // task of the training answers
	Seed       uint64    `json:"seed"` // of the split
	Layer      int       `json:"layer"`
	Position   string    `json:"position"`
	Components int       `json:"components"`
	Variance   float64   `json:"variance"` // share of the variance in the components
	C          float64   `json:"c"`
	Answers    int       `json:"answers"` // number of answers that it was fitted on
	Test       Metrics   `json:"test"`
	Bias       float64   `json:"bias"`
	Weights    []float64 `json:"weights"` // PCA, z-score and regression combined; length Subject.Width
}

// Confidence returns the confidence from 0 to 1 in the answer that a state belongs to
// (Eq. 3). The state must have Subject.Width numbers.
func (p *Probe) Confidence(state []float32) float64 { return confidence(p.Weights, p.Bias, state) }

func confidence(w []float64, bias float64, state []float32) float64 {
	sum := bias
	for i, x := range state {
		sum += w[i] * float64(x)
	}
	return sigmoid(sum)
}

// Encode returns the probe as JSON with a checksum.
func (p *Probe) Encode() ([]byte, error) {
	b, err := json.MarshalIndent(p, "", "  ")
	return durable.Seal(b), err
}

// Decode reads a saved probe. It returns an error for another version, unknown keys and
// invalid values.
func Decode(text []byte) (*Probe, error) {
	text, _, err := durable.Unseal(text)
	if err != nil {
		return nil, fmt.Errorf("probe: %w; train it again", err)
	}
	var head struct{ Version *int }
	if err := json.Unmarshal(text, &head); err != nil || head.Version == nil {
		return nil, errors.New("probe: this is not a saved probe; make one with: synod research probe train")
	}
	if *head.Version != Version {
		return nil, fmt.Errorf("probe: the file has version %d and this build reads version %d; train it again",
			*head.Version, Version)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	var p Probe
	if err := d.Decode(&p); err != nil {
		return nil, fmt.Errorf("probe: the file is not a probe: %s", strings.TrimPrefix(err.Error(), "json: "))
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("probe: the file has text after the probe")
	}
	return &p, p.check()
}

func (p *Probe) check() error {
	switch {
	case len(p.Weights) == 0 || len(p.Weights) != p.Subject.Width:
		return fmt.Errorf("probe: the file has %d weights for states of width %d", len(p.Weights), p.Subject.Width)
	case p.Layer < 0 || p.Layer >= p.Subject.Layers:
		return fmt.Errorf("probe: the file is for layer %d of a model with %d", p.Layer, p.Subject.Layers)
	case p.Position != "query" && p.Position != "last" && p.Position != "mean":
		return fmt.Errorf("probe: the file is for position %q; want query, last or mean", p.Position)
	}
	for _, w := range append([]float64{p.Bias}, p.Weights...) {
		if math.IsNaN(w) || math.Abs(w) > 1e100 {
			return errors.New("probe: the file has an invalid weight")
		}
	}
	return nil
}

// Fits returns ErrUnfit with the differences if the probe was trained on another subject
// than the member. Fields that the member leaves empty (layers and width before it has
// started) are not compared.
func (p *Probe) Fits(member Subject) error {
	var differ []string
	note := func(what, have, want string) {
		if have != want && have != "" && have != "0" {
			differ = append(differ, fmt.Sprintf("%s is %s, but that of the probe is %s", what, have, want))
		}
	}
	s := p.Subject
	if member.SHA256 != "" && member.SHA256 != s.SHA256 {
		note("the model", member.Model+" (sha256 "+short(member.SHA256)+")", s.Model+" (sha256 "+short(s.SHA256)+")")
	}
	note("the engine", member.Engine, s.Engine)
	note("the number of layers", fmt.Sprint(member.Layers), fmt.Sprint(s.Layers))
	note("the width of a state", fmt.Sprint(member.Width), fmt.Sprint(s.Width))
	note("the way of answering", member.Answers, s.Answers)
	if s.Form != Mixed {
		note("the form of the answer", member.Form, s.Form)
	}
	if len(differ) == 0 {
		return nil
	}
	return fmt.Errorf("%w: %s", ErrUnfit, strings.Join(differ, "; "))
}

// Mixed is the form of a subject whose answers have several forms.
const Mixed = "mixed"

// ErrUnfit means that a probe was trained on another model or way of answering.
var ErrUnfit = errors.New("the probe does not fit this member")

func short(digest string) string { return digest[:min(12, len(digest))] + "…" }
