package llm

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// liteServers are the servers of LiteLLM's providers, as patterns. Providers without an address of their own, such as
// those whose customers each have a server, are not read, and neither are those that Synod has no client for.
var liteServers = map[string]string{
	"ai21": "api.ai21.com", "anthropic": "api.anthropic.com", "azure": "*.openai.azure.com",
	"cerebras": "api.cerebras.ai", "cohere": "api.cohere.*", "cohere_chat": "api.cohere.*",
	"dashscope": "dashscope*.aliyuncs.com", "deepinfra": "api.deepinfra.com", "deepseek": "api.deepseek.com",
	"fireworks_ai": "api.fireworks.ai", "gemini": "generativelanguage.googleapis.com", "groq": "api.groq.com",
	"hyperbolic": "api.hyperbolic.xyz", "minimax": "api.minimax*", "mistral": "api.mistral.ai",
	"moonshot": "api.moonshot.*", "novita": "api.novita.ai", "openai": "api.openai.com", "openrouter": "openrouter.ai",
	"perplexity": "api.perplexity.ai", "sambanova": "api.sambanova.ai", "together_ai": "api.together.*",
	"vercel_ai_gateway": "ai-gateway.vercel.sh", "xai": "api.x.ai", "zai": "api.z.ai",
}

// liteRow is the part of a model in LiteLLM's file that is read, in USD per token.
type liteRow struct {
	Provider   string   `json:"litellm_provider"`
	Prompt     *float64 `json:"input_cost_per_token"`
	Completion *float64 `json:"output_cost_per_token"`
	Cached     float64  `json:"cache_read_input_token_cost"`
	Stored     float64  `json:"cache_creation_input_token_cost"`
}

// isLiteLLM reports whether a price file is LiteLLM's: a JSON object by model.
func isLiteLLM(b []byte) bool {
	var file map[string]json.RawMessage
	if !bytes.HasPrefix(bytes.TrimSpace(b), []byte("{")) || json.Unmarshal(b, &file) != nil {
		return false
	}
	_, own := file["prices"]
	return !own
}

// parseLiteLLM reads LiteLLM's price file. A model stands under its provider's name, as "mistral/mistral-small", or
// under its own. Models without prices per token, and providers without a server, are left out. The file has no date.
func parseLiteLLM(b []byte) (table Prices, err error) {
	var file map[string]json.RawMessage
	if err := json.Unmarshal(b, &file); err != nil {
		return nil, err
	}
	var last Prices // names without the provider's give way to those with it
	for _, key := range slices.Sorted(maps.Keys(file)) {
		var m liteRow
		if json.Unmarshal(file[key], &m) != nil { // the sample row, which explains the keys
			continue
		}
		server := liteServers[m.Provider]
		if server == "" || m.Prompt == nil || m.Completion == nil {
			continue
		}
		name, prefixed := strings.CutPrefix(key, m.Provider+"/")
		row := priceRow{Server: server, Model: literally(name), Prompt: million(*m.Prompt),
			Completion: million(*m.Completion), Cached: *million(m.Cached), Stored: *million(m.Stored)}
		t, err := row.tariff()
		switch {
		case err != nil:
			return nil, fmt.Errorf("%s: %w", key, err)
		case prefixed:
			table = append(table, t)
		default:
			last = append(last, t)
		}
	}
	if table = append(table, last...); len(table) == 0 {
		return nil, errors.New("it is a JSON object, but has no model with litellm_provider, input_cost_per_token " +
			"and output_cost_per_token")
	}
	return table, nil
}

// million returns the price of a million tokens, without the noise of a decimal fraction in binary.
func million(token float64) *float64 { return new(math.Round(token*1e15) / 1e9) }

// literally returns the pattern that matches only a name.
func literally(name string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(name)
}
