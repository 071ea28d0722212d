// Package llama binds the functions of llama.cpp's C interface that Synod needs, without
// cgo and without libffi.
//
// The tables of the interface follow yzma, but yzma is not imported: it uses
// github.com/jupiterrider/ffi, which opens libffi.so.8 in an init function and panics if the
// library is missing. A binary that imports it would not start on such a machine, even for
// commands that need no model, and `synod doctor` could not report the missing library.
// purego passes C structs by value on amd64 and arm64 without libffi, and nothing in this
// package runs before [Open] is called. The struct layouts are therefore defined here and
// checked in two ways:
//
//   - [Open] reads the library's default parameters and compares those whose defaults are
//     known, so that a library with another layout is rejected;
//   - the tests compare each field of each struct with yzma's.
//
// The layouts are those of llama.cpp v0.5.0 and of yzma v1.27.0.
//
// The package is safe for concurrent use only where llama.cpp is; the engine calls it from
// one goroutine of the child process. C exceptions and failed assertions end the process;
// therefore it runs in a child process.
package llama

import (
	"errors"
)

// ErrFull means that the key-value cache has no room for the batch.
var ErrFull = errors.New("llama: no room in the key-value cache")

// ErrLayout means that the library was built from an unsupported version of llama.h.
var ErrLayout = errors.New("not a version that this build supports")

// ErrTemplate means that llama.cpp does not recognise a chat template.
var ErrTemplate = errors.New("llama: chat template not recognised")

// ErrGrammar means that the grammar text is not valid GBNF.
var ErrGrammar = errors.New("llama: grammar cannot be parsed")

// Token is the index of an entry of a model's vocabulary.
type Token = int32

// Handles of C objects; 0 is null.
type (
	Model   uintptr
	Context uintptr
	Vocab   uintptr
	Memory  uintptr
	Sampler uintptr
)

// ModelParams is struct llama_model_params of llama.cpp v0.5.0.
type ModelParams struct {
	Devices                  uintptr
	TensorBuftOverrides      uintptr
	NGpuLayers               int32
	SplitMode                int32
	LoadMode                 int32
	LazyMode                 int32
	MainGpu                  int32
	TensorSplit              *float32
	ProgressCallback         uintptr
	ProgressCallbackUserData uintptr
	KvOverrides              uintptr
	VocabOnly                uint8
	CheckTensors             uint8
	UseExtraBufts            uint8
	NoHost                   uint8
	NoAlloc                  uint8
	LoadMTP                  uint8
}

// ContextParams is struct llama_context_params of llama.cpp v0.5.0.
type ContextParams struct {
	NCtx               uint32
	NBatch             uint32
	NUbatch            uint32
	NSeqMax            uint32
	NRsSeq             uint32
	NOutputsMax        uint32
	NOutputsMaxPerSeq  uint32
	NThreads           int32
	NThreadsBatch      int32
	CtxType            int32
	RopeScalingType    int32
	PoolingType        int32
	AttentionType      int32
	FlashAttentionType int32
	RopeFreqBase       float32
	RopeFreqScale      float32
	YarnExtFactor      float32
	YarnAttnFactor     float32
	YarnBetaFast       float32
	YarnBetaSlow       float32
	YarnOrigCtx        uint32
	DefragThold        float32
	CbEval             uintptr
	CbEvalUserData     uintptr
	TypeK              int32
	TypeV              int32
	AbortCallback      uintptr
	AbortCallbackData  uintptr
	Embeddings         uint8
	OffloadKQV         uint8
	NoPerf             uint8
	OpOffload          uint8
	SwaFull            uint8
	KVUnified          uint8
	Samplers           uintptr
	NSamplers          uint64
	CtxOther           Context
}

// The canary structs are passed to the library instead of the plain ones. A library whose
// struct is longer writes into the tail, which Open detects. Passing a longer struct by value
// is harmless, because C reads only the part that it knows.
type (
	modelParamsCanary struct {
		ModelParams
		Tail [4]uint64
	}
	contextParamsCanary struct {
		ContextParams
		Tail [4]uint64
	}
)

// rawBatch is struct llama_batch.
type rawBatch struct {
	NTokens int32
	Token   *Token
	Embd    *float32
	Pos     *int32
	NSeqID  *int32
	SeqID   **int32
	Logits  *int8
}

// TokenData is struct llama_token_data: a candidate for the next token.
type TokenData struct {
	ID    Token
	Logit float32
	P     float32
}

// tokenDataArray is struct llama_token_data_array.
type tokenDataArray struct {
	Data     *TokenData
	Size     uint64
	Selected int64
	Sorted   uint8
}

// chatMessage is struct llama_chat_message.
type chatMessage struct {
	Role    *byte
	Content *byte
}

// Entry is one token to decode.
type Entry struct {
	Token  Token
	Pos    int   // position in the sequence
	Seq    int   // number of the sequence
	Logits bool  // keep the logits after the token
	Layers []int // keep the outputs of these layers; needs Logits
}
