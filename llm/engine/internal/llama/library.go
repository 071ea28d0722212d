//go:build (linux || darwin) && (amd64 || arm64) && !noengine

package llama

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sort"
	"strings"
	"unsafe"

	"github.com/ebitengine/purego"
)

// Library is a set of loaded shared libraries. A process can load only one.
type Library struct {
	Version string // llama.cpp's own version, such as 0.5.0
	Ggml    string // version and commit of ggml
	Dir     string

	calls
}

// Open loads the libraries in dir, binds all symbols and checks the struct layouts. It does
// not load the compute backends: see LoadBackends.
func Open(dir string) (*Library, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	lib := &Library{Dir: abs}
	handles := map[string]uintptr{}
	for _, name := range []string{"ggml-base", "ggml", "llama"} { // each needs the ones before it
		path, err := find(abs, name)
		if err != nil {
			return nil, err
		}
		h, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_GLOBAL)
		if err != nil {
			return nil, fmt.Errorf("%s: %w%s", filepath.Base(path), err, hint(err.Error()))
		}
		handles[name] = h
	}
	if err := lib.bind(handles); err != nil {
		return nil, err
	}
	lib.Version = strings.TrimPrefix(lib.llamaVersion(), "v")
	lib.Ggml = strings.TrimSpace(lib.ggmlVersion() + " " + lib.ggmlCommit())
	return lib, lib.checkLayout()
}

// find returns the file of a library: the one with the plain name or, because packages omit
// the link with that name, one with a versioned name.
func find(dir, name string) (string, error) {
	ext := ".so"
	if runtime.GOOS == "darwin" {
		ext = ".dylib"
	}
	plain := filepath.Join(dir, "lib"+name+ext)
	if _, err := os.Stat(plain); err == nil {
		return plain, nil
	}
	var found []string
	for _, pattern := range []string{".v*" + ext, ext + ".*", ".[0-9]*" + ext} {
		m, _ := filepath.Glob(filepath.Join(dir, "lib"+name+pattern)) // the patterns are constant: no error
		found = append(found, m...)
	}
	sort.Strings(found)
	if len(found) == 0 {
		return "", fmt.Errorf("no lib%s%s in %s", name, ext, dir)
	}
	return found[0], nil
}

// hint returns the Debian package of a system library that the loader did not find.
func hint(message string) string {
	for lib, pkg := range map[string]string{
		"libstdc++.so.6": "libstdc++6", "libgcc_s.so.1": "libgcc-s1", "libgomp.so.1": "libgomp1",
		"libffi.so.8": "libffi8", "GLIBC_": "a newer libc6 (2.34 or later)", "libm.so.6": "libc6",
	} {
		if strings.Contains(message, lib) && (lib != "GLIBC_" || strings.Contains(message, "not found")) {
			return " (on Debian: package " + pkg + ")"
		}
	}
	return ""
}

// checkLayout compares fields of both structs with their known defaults. If one differs, the
// library was built from another llama.h.
func (l *Library) checkLayout() error {
	m, c := l.modelDefaults(), l.contextDefaults()
	ok := m.Tail == [4]uint64{} && c.Tail == [4]uint64{} &&
		m.UseExtraBufts <= 1 && m.LoadMTP <= 1 && m.SplitMode == 1 && m.TensorSplit == nil && m.VocabOnly == 0 &&
		c.NCtx == 512 && c.NBatch == 2048 && c.NUbatch == 512 && c.NSeqMax == 1 && c.NThreads == 4 &&
		c.NThreadsBatch == 4 &&
		c.RopeScalingType == -1 && c.PoolingType == -1 && c.AttentionType == -1 && c.FlashAttentionType == -1 &&
		c.YarnExtFactor == -1 && c.TypeK == 1 && c.TypeV == 1 && c.OffloadKQV == 1 && c.NSamplers == 0 &&
		c.CtxOther == 0
	if !ok {
		return fmt.Errorf("%w: version %s: its parameter structs have another layout", ErrLayout, l.Version)
	}
	return nil
}

const logWarn = 3 // GGML_LOG_LEVEL_WARN; 4 is an error, 5 continues a line

// quiet makes llama.cpp write only warnings and errors to stderr; otherwise it writes
// hundreds of lines for each load.
func (l *Library) quiet() {
	last := int32(0)
	l.logSet(purego.NewCallback(func(level int32, text *byte, _ uintptr) uintptr {
		if level <= 4 {
			last = level
		}
		if last >= logWarn && text != nil {
			n := 0
			for *(*byte)(unsafe.Add(unsafe.Pointer(text), n)) != 0 {
				n++
			}
			os.Stderr.Write(unsafe.Slice(text, n))
		}
		return 0
	}), 0)
}

// calls are the bound C functions, in the order of llama.h.
type calls struct {
	ggmlVersion, ggmlCommit, llamaVersion, systemInfo func() string

	logSet func(callback, data uintptr)

	backendLoadAll func(dir string)
	backendInit    func()

	modelDefaults   func() modelParamsCanary
	contextDefaults func() contextParamsCanary
	modelLoad       func(path string, p modelParamsCanary) Model
	modelFree       func(Model)
	contextInit     func(Model, contextParamsCanary) Context
	contextFree     func(Context)

	modelVocab     func(Model) Vocab
	modelTemplate  func(Model, *byte) string
	modelDesc      func(Model, *byte, uint64) int32
	modelMeta      func(Model, string, *byte, uint64) int32
	modelSize      func(Model) uint64
	modelParams    func(Model) uint64
	modelCtxTrain  func(Model) int32
	modelEncoder   func(Model) bool
	modelDecoder   func(Model) bool
	modelRecurrent func(Model) bool
	modelHybrid    func(Model) bool
	modelDiffusion func(Model) bool
	modelLayers    func(Model) int32
	modelWidth     func(Model) int32

	tensorName  func(unsafe.Pointer) unsafe.Pointer
	tensorRows  func(unsafe.Pointer) int64
	tensorBytes func(unsafe.Pointer) uint64
	tensorGet   func(t unsafe.Pointer, into *float32, offset, size uint64)

	memory    func(Context) Memory
	seqRemove func(m Memory, seq, p0, p1 int32) bool
	seqCopy   func(m Memory, src, dst, p0, p1 int32)

	decode    func(Context, rawBatch) int32
	logitsIth func(Context, int32) *float32

	vocabSize   func(Vocab) int32
	vocabEOG    func(Vocab, Token) bool
	vocabAddBOS func(Vocab) bool
	vocabBOS    func(Vocab) Token
	tokenize    func(v Vocab, text *byte, n int32, out *Token, max int32, addSpecial, parseSpecial bool) int32
	tokenPiece  func(v Vocab, t Token, buf *byte, n, lstrip int32, special bool) int32
	template    func(tmpl *byte, chat *chatMessage, n uint64, addAssistant bool, buf *byte, size int32) int32

	grammarInit  func(v Vocab, grammar, root string) Sampler
	samplerApply func(Sampler, *tokenDataArray)
	samplerTake  func(Sampler, Token)
	samplerFree  func(Sampler)
}

// bind looks up all symbols. It returns an error that names the first missing one.
func (l *Library) bind(h map[string]uintptr) error {
	for _, s := range l.symbols() {
		addr, err := purego.Dlsym(h[s.lib], s.name)
		if err != nil || addr == 0 {
			return fmt.Errorf("%w: lib%s has no %s", ErrLayout, s.lib, s.name)
		}
		purego.RegisterFunc(s.fn, addr)
	}
	return nil
}

type symbol struct {
	fn        any
	lib, name string
}

func (l *Library) symbols() []symbol {
	return append(l.modelSymbols(), []symbol{
		{&l.ggmlVersion, "ggml-base", "ggml_version"},
		{&l.ggmlCommit, "ggml-base", "ggml_commit"},
		{&l.backendLoadAll, "ggml", "ggml_backend_load_all_from_path"},
		{&l.llamaVersion, "llama", "llama_version"},
		{&l.logSet, "llama", "llama_log_set"},
		{&l.systemInfo, "llama", "llama_print_system_info"},
		{&l.backendInit, "llama", "llama_backend_init"},
		{&l.contextDefaults, "llama", "llama_context_default_params"},
		{&l.contextInit, "llama", "llama_init_from_model"},
		{&l.contextFree, "llama", "llama_free"},
		{&l.tensorName, "ggml-base", "ggml_get_name"},
		{&l.tensorRows, "ggml-base", "ggml_nrows"},
		{&l.tensorBytes, "ggml-base", "ggml_nbytes"},
		{&l.tensorGet, "ggml-base", "ggml_backend_tensor_get"},
		{&l.memory, "llama", "llama_get_memory"},
		{&l.seqRemove, "llama", "llama_memory_seq_rm"},
		{&l.seqCopy, "llama", "llama_memory_seq_cp"},
		{&l.decode, "llama", "llama_decode"},
		{&l.logitsIth, "llama", "llama_get_logits_ith"},
		{&l.vocabSize, "llama", "llama_vocab_n_tokens"},
		{&l.vocabEOG, "llama", "llama_vocab_is_eog"},
		{&l.vocabAddBOS, "llama", "llama_vocab_get_add_bos"},
		{&l.vocabBOS, "llama", "llama_vocab_bos"},
		{&l.tokenize, "llama", "llama_tokenize"},
		{&l.tokenPiece, "llama", "llama_token_to_piece"},
		{&l.template, "llama", "llama_chat_apply_template"},
		{&l.grammarInit, "llama", "llama_sampler_init_grammar"},
		{&l.samplerApply, "llama", "llama_sampler_apply"},
		{&l.samplerTake, "llama", "llama_sampler_accept"},
		{&l.samplerFree, "llama", "llama_sampler_free"},
	}...)
}

// modelSymbols are the functions about models.
func (l *Library) modelSymbols() []symbol {
	return []symbol{
		{&l.modelDefaults, "llama", "llama_model_default_params"},
		{&l.modelLoad, "llama", "llama_model_load_from_file"},
		{&l.modelFree, "llama", "llama_model_free"},
		{&l.modelVocab, "llama", "llama_model_get_vocab"},
		{&l.modelTemplate, "llama", "llama_model_chat_template"},
		{&l.modelDesc, "llama", "llama_model_desc"},
		{&l.modelMeta, "llama", "llama_model_meta_val_str"},
		{&l.modelSize, "llama", "llama_model_size"},
		{&l.modelParams, "llama", "llama_model_n_params"},
		{&l.modelCtxTrain, "llama", "llama_model_n_ctx_train"},
		{&l.modelEncoder, "llama", "llama_model_has_encoder"},
		{&l.modelDecoder, "llama", "llama_model_has_decoder"},
		{&l.modelRecurrent, "llama", "llama_model_is_recurrent"},
		{&l.modelHybrid, "llama", "llama_model_is_hybrid"},
		{&l.modelDiffusion, "llama", "llama_model_is_diffusion"},
		{&l.modelLayers, "llama", "llama_model_n_layer"},
		{&l.modelWidth, "llama", "llama_model_n_embd"},
	}
}
