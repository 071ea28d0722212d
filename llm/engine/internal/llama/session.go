//go:build (linux || darwin) && (amd64 || arm64) && !noengine

package llama

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Session is a loaded model with one context: a key-value cache shared by all
// sequences, and the buffers a decode call needs.
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
	watch   *watch // nil: hidden states are not looked at
}

// SessionConfig sizes a session.
type SessionConfig struct {
	Cells   int // tokens the key-value cache holds, over all sequences
	Seqs    int // sequences
	Batch   int // most tokens in one decode call
	Threads int
	Hidden  bool // make State possible; the callback for it costs every decode call some time
}

// LoadBackends loads the compute backends beside the library; ggml picks the
// variant for this CPU. It must run before a model is loaded.
func (l *Library) LoadBackends() {
	l.quiet()
	l.backendLoadAll(l.Dir)
	l.backendInit()
}

// CPUVariant names the CPU backend that was picked (such as "zen4"), or "" if
// the system does not tell.
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

// SystemInfo is llama.cpp's line about instruction sets and threads.
func (l *Library) SystemInfo() string { return strings.TrimSpace(l.systemInfo()) }

// Load opens a GGUF file and makes a context for it.
func (l *Library) Load(path string, cfg SessionConfig) (*Session, error) {
	mp := l.modelDefaults()
	mp.CheckTensors = 1 // a NaN in the weights should be an error here, not rubbish later
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
		return errors.New("it has no vocabulary")
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
		return fmt.Errorf("no context of %d tokens for it (memory?)", cfg.Cells)
	}
	s.mem = s.lib.memory(s.ctx)
	s.nVocab = int(s.lib.vocabSize(s.vocab))
	s.whole = s.lib.modelRecurrent(s.model) || s.lib.modelHybrid(s.model)
	s.addsBOS = s.lib.vocabAddBOS(s.vocab)
	s.batch = newBuffers(cfg.Batch)
	return nil
}

// Close frees the model.
func (s *Session) Close() {
	s.lib.contextFree(s.ctx)
	s.lib.modelFree(s.model)
}
