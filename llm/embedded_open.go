package llm

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"path/filepath"

	"synod.dev/synod"
	"synod.dev/synod/llm/engine"
	"synod.dev/synod/llm/models"
)

var embeddedProvider = Provider{
	Entry: synod.Entry{Name: "embedded", Summary: "the model in the box: llama.cpp on this machine, no key and no server"},
	About: `model        a name from "synod models list"
path         a GGUF file instead
library      a folder with llama.cpp's libraries instead of the fetched one
temperature  0 is greedy
top_p, max_tokens
answers      short: the model continues a few examples by one line, and what has options it
             answers by their likelihood; written: as JSON with reasoning (better for a large model)
refine       choose: the likeliest of the answers on the table; written: as JSON with reasoning
context      tokens of prompt and reply together
threads      of the engine; more than one rarely helps a small model
seqs         requests decoded at once
probe        a file from "synod probe train", for protocols that want a confidence read off hidden
             states; it must have been trained on this model, engine and way of answering` + commonAbout,
	Settings: func() any { return &embeddedSettings{} },
	Open:     openEmbedded,
}

// embeddedSettings are the keys of a model in the box.
type embeddedSettings struct {
	Common         `yaml:",inline"`
	EmbeddedConfig `yaml:",inline"`
}

func openEmbedded(o Opening) (Opened, error) {
	s := embeddedSettings{Common{Timeout: embeddedTimeout}, embeddedDefaults()}
	if o.Exact {
		s.Temperature, s.TopP, s.EmbeddedConfig.MaxTokens = paperTemperature, paperTopP, paperTokens
		s.Answers, s.Refine = written, written
	}
	if err := o.Decode(&s); err != nil {
		return Opened{}, err
	}
	if err := s.validate(); err != nil {
		return Opened{}, err
	}
	store := models.Store{Dir: o.Env.Models, LibDir: s.Library}
	if store.Dir == "" {
		store.Dir = models.DefaultDir()
	}
	at, err := store.Resolve(cmp.Or(s.Path, s.Model))
	if err != nil {
		return Opened{}, err
	}
	m := &embedded{cfg: s.EmbeddedConfig, timeout: s.Timeout}
	name := cmp.Or(s.Model, filepath.Base(s.Path))
	m.info = Info{Kind: Embedded, Name: name, Identity: fmt.Sprintf("embedded %s sha256:%s llama.cpp %s temperature=%v top_p=%v max_tokens=%d answers=%s refine=%s seqs=%d threads=%d context=%d",
		name, at.SHA256, engine.LibraryVersion, s.Temperature, s.TopP, s.EmbeddedConfig.MaxTokens, s.Answers, s.Refine, s.Seqs, s.Threads, s.Context)}
	if s.Probe != "" || o.Env.Hidden {
		if err := m.introduce(name, at); err != nil {
			return Opened{}, err
		}
	}
	if m.probe != nil {
		m.info.Identity += fmt.Sprintf(" probe=%d/%s/%v/%x", m.probe.Layer, m.probe.Position, m.probe.Bias, sha256.Sum256(fmt.Append(nil, m.probe.Weights)))
	}
	m.engine = share(engine.Config{
		LibDir: at.LibDir, ModelPath: at.Model, AnyLibrary: at.AnyLibrary,
		Context: s.Context, Seqs: s.Seqs, Threads: s.Threads, Hidden: m.probe != nil || o.Env.Hidden,
	})
	return Opened{Model: m, Common: s.Common, Account: at.Model, MaxTokens: s.EmbeddedConfig.MaxTokens}, nil
}
