//go:build (linux || darwin) && (amd64 || arm64) && !noengine

package llama

import (
	"fmt"
	"unsafe"

	"github.com/ebitengine/purego"
)

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
	ctxSize   func(Context) uint32

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

// bind looks every symbol up, so that a library which lacks one is refused
// at once and by name.
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
	return []symbol{
		{&l.ggmlVersion, "ggml-base", "ggml_version"},
		{&l.ggmlCommit, "ggml-base", "ggml_commit"},
		{&l.backendLoadAll, "ggml", "ggml_backend_load_all_from_path"},
		{&l.llamaVersion, "llama", "llama_version"},
		{&l.logSet, "llama", "llama_log_set"},
		{&l.systemInfo, "llama", "llama_print_system_info"},
		{&l.backendInit, "llama", "llama_backend_init"},
		{&l.modelDefaults, "llama", "llama_model_default_params"},
		{&l.contextDefaults, "llama", "llama_context_default_params"},
		{&l.modelLoad, "llama", "llama_model_load_from_file"},
		{&l.modelFree, "llama", "llama_model_free"},
		{&l.contextInit, "llama", "llama_init_from_model"},
		{&l.contextFree, "llama", "llama_free"},
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
		{&l.tensorName, "ggml-base", "ggml_get_name"},
		{&l.tensorRows, "ggml-base", "ggml_nrows"},
		{&l.tensorBytes, "ggml-base", "ggml_nbytes"},
		{&l.tensorGet, "ggml-base", "ggml_backend_tensor_get"},
		{&l.memory, "llama", "llama_get_memory"},
		{&l.seqRemove, "llama", "llama_memory_seq_rm"},
		{&l.seqCopy, "llama", "llama_memory_seq_cp"},
		{&l.decode, "llama", "llama_decode"},
		{&l.logitsIth, "llama", "llama_get_logits_ith"},
		{&l.ctxSize, "llama", "llama_n_ctx"},
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
	}
}
