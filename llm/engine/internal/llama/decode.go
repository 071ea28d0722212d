//go:build (linux || darwin) && (amd64 || arm64) && !noengine

package llama

import (
	"fmt"
	"runtime"
	"unsafe"
)

// buffers are the arrays of a llama_batch. They live in Go and are pinned,
// because C holds pointers to pointers into them during a decode call.
type buffers struct {
	token, pos, nSeq, seq []int32
	seqs                  []*int32
	logits                []int8
	pin                   *runtime.Pinner
}

func newBuffers(n int) buffers {
	b := buffers{
		token: make([]int32, n), pos: make([]int32, n), nSeq: make([]int32, n), seq: make([]int32, n),
		seqs: make([]*int32, n), logits: make([]int8, n), pin: new(runtime.Pinner),
	}
	for i := range b.seqs {
		b.seqs[i] = &b.seq[i]
		b.nSeq[i] = 1
	}
	b.pin.Pin(&b.token[0])
	b.pin.Pin(&b.pos[0])
	b.pin.Pin(&b.nSeq[0])
	b.pin.Pin(&b.seq[0])
	b.pin.Pin(&b.seqs[0])
	b.pin.Pin(&b.logits[0])
	return b
}

// Decode runs the entries through the model as one batch.
func (s *Session) Decode(entries []Entry) error {
	if len(entries) == 0 || len(entries) > len(s.batch.token) {
		return fmt.Errorf("llama: batch of %d tokens, want 1 to %d", len(entries), len(s.batch.token))
	}
	s.logits = s.logits[:0]
	if s.watch != nil {
		s.watch.expect(entries)
	}
	b := s.batch
	for i, e := range entries {
		b.token[i], b.pos[i], b.seq[i], b.logits[i] = e.Token, int32(e.Pos), int32(e.Seq), 0
		if e.Logits {
			b.logits[i] = 1
			s.logits = append(s.logits, int32(i))
		}
	}
	code := s.lib.decode(s.ctx, rawBatch{
		NTokens: int32(len(entries)), Token: &b.token[0], Pos: &b.pos[0],
		NSeqID: &b.nSeq[0], SeqID: &b.seqs[0], Logits: &b.logits[0],
	})
	switch {
	case code == 0:
		return nil
	case code == 1:
		return ErrFull
	}
	return fmt.Errorf("llama: decode failed with code %d", code)
}

// Logits returns the scores over the vocabulary after batch entry i of the
// last Decode. The slice is the library's and dies with the next Decode.
func (s *Session) Logits(i int) []float32 {
	p := s.lib.logitsIth(s.ctx, int32(i))
	if p == nil {
		return nil
	}
	return unsafe.Slice(p, s.nVocab)
}

// Keep drops everything of seq from position n on and reports whether the
// memory could do so; if not, the whole sequence is gone.
func (s *Session) Keep(seq, n int) bool {
	if n > 0 && !s.whole && s.lib.seqRemove(s.mem, int32(seq), int32(n), -1) {
		return true
	}
	s.lib.seqRemove(s.mem, int32(seq), -1, -1)
	return n == 0
}

// Copy makes dst share the first n positions of src. It costs no computation.
func (s *Session) Copy(src, dst, n int) bool {
	if s.whole {
		return false
	}
	s.lib.seqCopy(s.mem, int32(src), int32(dst), 0, int32(n))
	return true
}
