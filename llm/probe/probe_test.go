package probe

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"synod.dev/synod/internal/damage"
	"synod.dev/synod/internal/durable"
)

func saved(t testing.TB) *Probe {
	t.Helper()
	_, p, err := Train(planted(120, 2, 7), Defaults())
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestSavedProbe(t *testing.T) {
	p := saved(t)
	text, err := p.Encode()
	if err != nil {
		t.Fatal(err)
	}
	back, err := Decode(text)
	if err != nil || fmt.Sprint(back.Weights) != fmt.Sprint(p.Weights) || back.Subject != p.Subject {
		t.Fatalf("%+v, %v", back, err)
	}
	path := filepath.Join(t.TempDir(), "probe.json")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	damage.Check(t, path, 300, durable.Bare, func() (string, error) {
		text, err := os.ReadFile(path)
		if err != nil {
			return "", err
		}
		p, err := Decode(text)
		if err != nil {
			return "", err
		}
		text, err = p.Encode()
		return string(text), err
	})
	text = durable.Bare(text)
	for from, c := range map[string]struct{ to, want string }{
		`"version": 1`:       {`"version": 2`, "version 2 and this build reads version 1"},
		`"layer": 1`:         {`"layer": 3`, "layer 3 of a model with 3"},
		`"position": "mean"`: {`"position": "first"`, `position "first"`},
		`"width": 12`:        {`"width": 11`, "12 weights for states of width 11"},
		`"bias"`:             {`"biass"`, `unknown field "biass"`},
		"{":                  {"[{", "not a saved probe"},
	} {
		if !strings.Contains(string(text), from) {
			t.Fatalf("%s is not in the file", from)
		}
		if _, err := Decode([]byte(strings.Replace(string(text), from, c.to, 1))); err == nil ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.to, err)
		}
	}
	if _, err := Decode(append(text, "{}"...)); err == nil {
		t.Error("text after the probe was accepted")
	}
}

// The error of a probe that does not fit lists the differences. [CP-2]
func TestFits(t *testing.T) {
	p := &Probe{Subject: Subject{Model: "small", SHA256: "aaaaaaaaaaaaaaaa", Engine: "llama.cpp 0.5.0", Layers: 30,
		Width: 576, Answers: "short", Form: "choice"}}
	if err := p.Fits(p.Subject); err != nil {
		t.Error(err)
	}
	if err := p.Fits(Subject{Model: "small", SHA256: p.Subject.SHA256, Engine: "llama.cpp 0.5.0",
		Answers: "short"}); err != nil {
		t.Error("a member that has not started:", err)
	}
	for want, change := range map[string]func(*Subject){
		"the model is large (sha256 bbbb…)": func(s *Subject) { s.Model, s.SHA256 = "large", "bbbb" },
		"the engine is llama.cpp 0.6.0":     func(s *Subject) { s.Engine = "llama.cpp 0.6.0" },
		"number of layers is 12, but":       func(s *Subject) { s.Layers = 12 },
		"width of a state is 64, but":       func(s *Subject) { s.Width = 64 },
		"way of answering is written":       func(s *Subject) { s.Answers = "written" },
		"form of the answer is number":      func(s *Subject) { s.Form = "number" },
	} {
		s := p.Subject
		change(&s)
		if err := p.Fits(s); !errors.Is(err, ErrUnfit) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	p.Subject.Form = Mixed
	if err := p.Fits(Subject{Form: "number"}); err != nil {
		t.Error(err)
	}
}

// A decoded probe can be encoded again and gives confidences in [0,1].
func FuzzDecode(f *testing.F) {
	text, err := saved(f).Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add([]byte(`{"version":1}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		p, err := Decode(text)
		if err != nil {
			return
		}
		if c := p.Confidence(make([]float32, p.Subject.Width)); !(c >= 0 && c <= 1) {
			t.Fatal(c)
		}
		b, err := p.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Decode(b); err != nil {
			t.Fatal(err)
		}
	})
}
