package llm

import (
	"synod.dev/synod"
)

// Providers lists every provider.
var Providers = synod.NewCatalogue("provider",
	embeddedProvider,
	anthropicProvider,
	hiddenProvider,
	geminiProvider,
	endpoint("openai", "any OpenAI-compatible server: OpenAI, vLLM, llama.cpp's server, gateways",
		"https://api.openai.com/v1", "OPENAI_BASE_URL", "OPENAI_API_KEY"),
	endpoint("ollama", "a local Ollama", "http://127.0.0.1:11434", "OLLAMA_HOST", ""),
	recordedProvider,
	simulatedProvider,
	endpoint("openrouter", "models of many makers through OpenRouter",
		"https://openrouter.ai/api/v1", "", "OPENROUTER_API_KEY"),
)
