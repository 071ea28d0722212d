package llm

import (
	"bytes"
	"encoding/json"
	"math"
	"net/http"
	"strconv"

	"synod.dev/synod"
)

// maxBilled bounds what a server may say that one reply costs, in USD.
const maxBilled = 1000

// billed adds to a usage what the server says that the reply costs:
//
//	"cost": 0.0012                        OpenRouter; with a key of the user's own, what the provider charges too
//	"cost": {"total_cost": 0.0012}        Perplexity
//	"estimated_cost": 0.0012              DeepInfra
//	x-litellm-response-cost: 0.0012       the header of LiteLLM's proxy, and of synod serve
//
// A number that is no cost is ignored, and so is the cost of a reply that does not count its tokens: it is charged by
// its length.
func billed(u synod.Usage, raw json.RawMessage, h http.Header) synod.Usage {
	if u.Total() == 0 || !bytes.Contains(raw, []byte("cost")) && h.Get("x-litellm-response-cost") == "" {
		return u
	}
	var says struct {
		Cost      json.RawMessage `json:"cost"`
		Estimated json.RawMessage `json:"estimated_cost"`
		OwnKey    bool            `json:"is_byok"`
		Details   struct {
			Upstream float64 `json:"upstream_inference_cost"`
		} `json:"cost_details"`
	}
	_ = json.Unmarshal(raw, &says) // what could be read counts
	var parts struct {
		Total json.RawMessage `json:"total_cost"`
	}
	_ = json.Unmarshal(says.Cost, &parts)
	for _, written := range []string{string(says.Cost), string(parts.Total), string(says.Estimated),
		h.Get("x-litellm-response-cost")} {
		usd, err := strconv.ParseFloat(written, 64)
		if says.OwnKey && written == string(says.Cost) {
			usd += says.Details.Upstream
		}
		if err == nil && usd >= 0 && usd <= maxBilled {
			u.Billed, u.Bills = int(math.Round(usd*1e9)), 1
			return u
		}
	}
	return u
}
