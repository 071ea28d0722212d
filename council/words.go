package council

import (
	"maps"

	"synod.dev/synod"
	"synod.dev/synod/llm"
)

// sayings are the different prompts of a tick. Members judge the same few answers,
// so most of a tick's prompts have been put in words already.
type sayings struct {
	prompts []*synod.Prompt
	words   []*llm.Words
}

// mostSayings bounds the search: of more prompts, some are rendered twice.
const mostSayings = 64

// of is the words of a prompt, shared with those that say the same. Seeds are not
// in them.
func (s *sayings) of(p *synod.Prompt) *llm.Words {
	for i, q := range s.prompts {
		if q.Question == p.Question && q.Same(p) && maps.Equal(q.Spelling, p.Spelling) {
			return s.words[i]
		}
	}
	w := &llm.Words{}
	if len(s.prompts) < mostSayings {
		s.prompts, s.words = append(s.prompts, p), append(s.words, w)
	}
	return w
}
