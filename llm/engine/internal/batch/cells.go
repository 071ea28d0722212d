package batch

import "synod.dev/synod/llm/engine/internal/llama"

// slot is one sequence of the key-value cache: which tokens it has decoded and
// who is using it. A slot without a task is a cache of what it decoded last.
type slot struct {
	seq    int
	tokens []llama.Token
	cells  []*int // one a token: how many slots share that cell
	used   int    // clock of the last use
	task   *task
}

// pool counts the cells in use, each once however many slots share it.
type pool struct{ inUse int }

func (p *pool) add(s *slot, tokens ...llama.Token) {
	for _, t := range tokens {
		one := 1
		s.tokens, s.cells = append(s.tokens, t), append(s.cells, &one)
		p.inUse++
	}
}

func (p *pool) truncate(s *slot, n int) {
	for _, c := range s.cells[n:] {
		if *c--; *c == 0 {
			p.inUse--
		}
	}
	s.tokens, s.cells = s.tokens[:n], s.cells[:n]
}

func (p *pool) share(dst, src *slot, n int) {
	dst.tokens = append(dst.tokens[:0], src.tokens[:n]...)
	dst.cells = append(dst.cells[:0], src.cells[:n]...)
	for _, c := range dst.cells {
		*c++
	}
}

// common is the length of the longest common prefix.
func common(a, b []llama.Token) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}
