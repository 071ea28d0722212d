package llm

import (
	"sync"

	"synod.dev/synod"
	"synod.dev/synod/llm/prompt"
)

// Renderings are the texts of the last prompts of a run. Prompts that ask the same of several seats are rendered once.
// The zero value is ready for use, and safe for concurrent use.
type Renderings struct {
	mu  sync.Mutex
	all []*sharing // the oldest first
}

// sharing is a text that several seats get.
type sharing struct {
	first synod.Prompt
	once  sync.Once
	made  *prompt.Rendering
	err   error
}

// mostRenderings bounds how many texts a run keeps.
const mostRenderings = 64

// chat renders a prompt.
func (r *Renderings) chat(t *prompt.Templates, p *synod.Prompt) (prompt.Chat, error) {
	s := r.of(t, p)
	s.once.Do(func() { s.made, s.err = t.Keep(&s.first) })
	if s.err != nil {
		return t.Render(p)
	}
	return t.Like(p, s.made), nil
}

// of returns the text of a prompt, which may not have been rendered.
func (r *Renderings) of(t *prompt.Templates, p *synod.Prompt) *sharing {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.all {
		if t.Alike(p, &s.first) {
			return s
		}
	}
	s := &sharing{first: *p}
	if len(r.all) == mostRenderings {
		r.all = r.all[1:]
	}
	r.all = append(r.all, s)
	return s
}
