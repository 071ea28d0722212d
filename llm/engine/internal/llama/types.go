package llama

// Token is an entry of a model's vocabulary.
type Token = int32

// Handles of objects that live in C. Zero is none.
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

// The canary structs are handed to the library in place of the bare ones: a
// library whose struct has grown writes into the tail, and Open sees it. A
// longer struct passed by value is harmless: C reads the part it knows.
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

// Entry is one token to decode: what, where, for which sequence, whether the
// distribution after it is wanted and, with it, of which layers the output.
type Entry struct {
	Token  Token
	Pos    int
	Seq    int
	Logits bool
	Layers []int
}
