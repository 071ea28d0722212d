package prompt

import (
	"maps"
	"strings"

	"synod.dev/synod"
)

// Rendering is a prompt with its text, from which the texts of prompts that ask the same are made.
type Rendering struct {
	prompt synod.Prompt
	chat   Chat
	nonce  uint64
	fenced bool // the text has borders
}

// Alike reports whether two prompts of one run have the same text but for the borders of fences: they ask the same
// of two seats, by a template of this program. Prompts with a Detail, which may show more than it compares, have not.
func (t *Templates) Alike(p, q *synod.Prompt) bool {
	return p.Same(q) && p.Question == q.Question && p.Detail == nil && q.Detail == nil && !t.guarded[p.Template] &&
		p.Unread == "" && q.Unread == "" && p.Plain == q.Plain && p.Unfenced == q.Unfenced && p.Raw == q.Raw &&
		maps.Equal(p.Spelling, q.Spelling)
}

// Keep renders a prompt as Render does, for Like.
func (t *Templates) Keep(p *synod.Prompt) (*Rendering, error) {
	c, err := t.Render(p)
	if err != nil {
		return nil, err
	}
	r := &Rendering{prompt: *p, chat: c, nonce: fenceNonce(p)}
	for _, border := range borders(r.nonce) {
		r.fenced = r.fenced || strings.Contains(c.System, border) || strings.Contains(c.User, border) ||
			strings.Contains(c.Completion, border)
	}
	return r, nil
}

// Like returns what Render returns for a prompt, which must be Alike to the one that was kept. Borders are put in place
// of borders: those of the first text cannot stand in what it shows, since nobody knew them when that was written.
func (t *Templates) Like(p *synod.Prompt, r *Rendering) Chat {
	c := r.chat
	if !r.fenced {
		return c
	}
	before, after := borders(r.nonce), borders(fenceNonce(p))
	swap := strings.NewReplacer(before[0], after[0], before[1], after[1])
	c.System, c.User, c.Completion = swap.Replace(c.System), swap.Replace(c.User), swap.Replace(c.Completion)
	return c
}

// borders are those of fences and of the council's own text.
func borders(nonce uint64) [2]string {
	return [2]string{(&view{Nonce: nonce}).border(), councilBorder(nonce)}
}
