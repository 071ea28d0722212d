//go:build (linux || darwin) && (amd64 || arm64) && !noengine

package llama

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"unsafe"
)

// Session is a loaded model with one context: a key-value cache for all sequences, and the
// buffers of a decode call.
type Session struct {
	lib   *Library
	model Model
	ctx   Context
	mem   Memory
	vocab Vocab

	nVocab  int
	whole   bool // a sequence can only be dropped as a whole (recurrent memory)
	batch   buffers
	logits  []int32 // batch indexes that asked for logits, for bounds checks
	pieces  map[Token][]byte
	addsBOS bool
	watch   *watch // nil: hidden states cannot be captured
}

// SessionConfig has the sizes of a session.
type SessionConfig struct {
	Cells   int // tokens in the key-value cache, of all sequences together
	Seqs    int // number of sequences
	Batch   int // largest number of tokens in one decode call
	Threads int
	Hidden  bool // allow State; its callback makes each decode call slower
}

// LoadBackends loads the compute backends from the folder of the library; ggml selects the
// variant for this CPU. It must be called before Load.
func (l *Library) LoadBackends() {
	l.quiet()
	l.backendLoadAll(l.Dir)
	l.backendInit()
}

// CPUVariant returns the name of the selected CPU backend (such as "zen4"), or "" if it is
// not known.
func (l *Library) CPUVariant() string {
	f, err := os.Open("/proc/self/maps")
	if err != nil {
		return ""
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		if _, name, ok := strings.Cut(filepath.Base(s.Text()), "libggml-cpu-"); ok {
			return strings.TrimSuffix(name, ".so")
		}
	}
	return ""
}

// SystemInfo returns llama.cpp's line about instruction sets and threads.
func (l *Library) SystemInfo() string { return strings.TrimSpace(l.systemInfo()) }

// Load loads a GGUF file and makes a context for it.
func (l *Library) Load(path string, cfg SessionConfig) (*Session, error) {
	mp := l.modelDefaults()
	mp.CheckTensors = 1 // report NaN in the weights as an error
	model := l.modelLoad(path, mp)
	if model == 0 {
		return nil, fmt.Errorf("%s cannot be loaded", path)
	}
	s := &Session{lib: l, model: model, vocab: l.modelVocab(model), pieces: map[Token][]byte{}}
	if err := s.supported(); err != nil {
		l.modelFree(model)
		return nil, err
	}
	if err := s.open(cfg); err != nil {
		l.modelFree(model)
		return nil, err
	}
	return s, nil
}

func (s *Session) supported() error {
	switch {
	case s.lib.modelEncoder(s.model) || !s.lib.modelDecoder(s.model):
		return fmt.Errorf("%s is not a plain decoder", s.Meta("general.architecture"))
	case s.lib.modelDiffusion(s.model):
		return fmt.Errorf("%s is a diffusion model", s.Meta("general.architecture"))
	case s.lib.vocabSize(s.vocab) <= 0:
		return errors.New("the model has no vocabulary")
	}
	return nil
}

func (s *Session) open(cfg SessionConfig) error {
	cp := s.lib.contextDefaults()
	cp.NCtx, cp.NBatch, cp.NUbatch = uint32(cfg.Cells), uint32(cfg.Batch), uint32(cfg.Batch)
	cp.NSeqMax, cp.KVUnified, cp.SwaFull = uint32(cfg.Seqs), 1, 1
	cp.NThreads, cp.NThreadsBatch = int32(cfg.Threads), int32(cfg.Threads)
	cp.NoPerf = 1
	if cfg.Hidden {
		s.watch = &watch{lib: s.lib, width: s.Width()}
		cp.CbEval = s.watch.callback()
	}
	if s.ctx = s.lib.contextInit(s.model, cp); s.ctx == 0 {
		return fmt.Errorf("cannot make a context of %d tokens (too little memory?)", cfg.Cells)
	}
	s.mem = s.lib.memory(s.ctx)
	s.nVocab = int(s.lib.vocabSize(s.vocab))
	s.whole = s.lib.modelRecurrent(s.model) || s.lib.modelHybrid(s.model)
	s.addsBOS = s.lib.vocabAddBOS(s.vocab)
	s.batch = newBuffers(cfg.Batch)
	return nil
}

// Close frees the context and the model.
func (s *Session) Close() {
	s.lib.contextFree(s.ctx)
	s.lib.modelFree(s.model)
}

// buffers are the arrays of a llama_batch. They are Go memory and are pinned, because C has
// pointers to pointers into them during a decode call.
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

// Decode decodes the entries as one batch. It returns ErrFull if the cache has no room.
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

// Logits returns the logits of the vocabulary after batch entry i of the last Decode. The
// slice belongs to the library and is valid until the next Decode.
func (s *Session) Logits(i int) []float32 {
	p := s.lib.logitsIth(s.ctx, int32(i))
	if p == nil {
		return nil
	}
	return unsafe.Slice(p, s.nVocab)
}

// Keep removes the tokens of seq from position n on. It returns false if the memory cannot
// remove a part; then the whole sequence has been removed.
func (s *Session) Keep(seq, n int) bool {
	if n > 0 && !s.whole && s.lib.seqRemove(s.mem, int32(seq), int32(n), -1) {
		return true
	}
	s.lib.seqRemove(s.mem, int32(seq), -1, -1)
	return n == 0
}

// Copy makes dst share the first n positions of src, without computation. It returns false
// if the memory cannot share them.
func (s *Session) Copy(src, dst, n int) bool {
	if s.whole {
		return false
	}
	s.lib.seqCopy(s.mem, int32(src), int32(dst), 0, int32(n))
	return true
}
