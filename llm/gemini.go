package llm

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"synod.dev/synod"
)

// gemini is the generateContent method of the Gemini API (ai.google.dev/api/generate-content).
var gemini = &maker{
	name: "gemini", api: "the Gemini API", base: "https://generativelanguage.googleapis.com", version: "v1beta",
	keyEnv: "GEMINI_API_KEY", anyJSON: true,
	headers: func(key Secret) http.Header {
		h := jsonHeaders()
		if !key.IsZero() {
			h.Set("X-Goog-Api-Key", key.Reveal()) // never in the query, where servers log it
		}
		return h
	},
	paths: func(base *url.URL, model string) (*url.URL, *url.URL) {
		at := base.JoinPath("models", url.PathEscape(strings.TrimPrefix(model, "models/")))
		ask := *at
		ask.Path, ask.RawPath = at.Path+":generateContent", ""
		if at.RawPath != "" {
			ask.RawPath = at.RawPath + ":generateContent"
		}
		return &ask, at
	},
	media:  geminiMedia,
	body:   geminiBody,
	read:   readGemini,
	errors: geminiError,
	names:  func(body []byte) string { return field(body, "name") },
	all:    geminiModels,
	most:   "pageSize=1000",
}

// The parts of a request to the Gemini API.
type (
	geminiRequest struct {
		System   *geminiTurn  `json:"systemInstruction,omitempty"`
		Contents []geminiTurn `json:"contents"`
		Config   geminiConfig `json:"generationConfig"`
	}
	geminiTurn struct {
		Role  string `json:"role,omitempty"`
		Parts []any  `json:"parts"` // geminiPart, or a block of another kind
	}
	geminiContent struct {
		Role  string       `json:"role,omitempty"`
		Parts []geminiPart `json:"parts"`
	}
	geminiPart struct {
		Text    string `json:"text"`
		Thought bool   `json:"thought,omitempty"`
	}
	geminiConfig struct {
		Temperature *float64        `json:"temperature,omitempty"`
		TopP        *float64        `json:"topP,omitempty"`
		MaxTokens   int             `json:"maxOutputTokens,omitempty"`
		Seed        *int64          `json:"seed,omitempty"`
		MIMEType    string          `json:"responseMimeType,omitempty"`
		Schema      json.RawMessage `json:"responseJsonSchema,omitempty"`
		Thinking    *geminiThinking `json:"thinkingConfig,omitempty"`
	}
	geminiThinking struct {
		Budget int `json:"thinkingBudget"`
	}
)

// geminiBody makes a request.
func geminiBody(c nativeConfig, d dialect, chat seededChat) any {
	system, turns := conversation(chat.System, &chat.Chat)
	b := geminiRequest{Contents: geminiTurns(turns), Config: geminiConfig{MaxTokens: c.tokens()}}
	for _, text := range system {
		if b.System == nil {
			b.System = &geminiTurn{}
		}
		b.System.Parts = append(b.System.Parts, geminiPart{Text: text})
	}
	if !d.noTemperature {
		b.Config.Temperature = c.Temperature
	}
	if !d.noTopP {
		b.Config.TopP = c.TopP
	}
	if !d.noSeed {
		b.Config.Seed = chat.seed
	}
	if c.Thinking != nil && !d.noThinking {
		b.Config.Thinking = &geminiThinking{*c.Thinking}
	}
	if chat.Schema != nil && d.form < formText {
		b.Config.MIMEType = "application/json"
		if d.form < formObject {
			b.Config.Schema = withoutBounds(chat.Schema)
		}
	}
	return b
}

// readGemini reads a response. Parts that are thoughts are no part of the answer; their
// tokens are counted as completion, as they are charged. promptTokenCount has the tokens
// from the cache in it.
func readGemini(body []byte) (r nativeReply, err error) {
	var g struct {
		Candidates []struct {
			Content      geminiContent `json:"content"`
			FinishReason string        `json:"finishReason"`
		} `json:"candidates"`
		Feedback struct {
			BlockReason string `json:"blockReason"`
		} `json:"promptFeedback"`
		Usage map[string]json.RawMessage `json:"usageMetadata"`
		Model json.RawMessage            `json:"modelVersion"`
	}
	if err := json.Unmarshal(body, &g); err != nil {
		return r, err
	}
	n, fault := counts(g.Usage, "promptTokenCount", "candidatesTokenCount", "thoughtsTokenCount",
		"cachedContentTokenCount", "toolUsePromptTokenCount")
	r.fault, r.model = fault, g.Model
	r.usage = synod.Usage{Prompt: synod.Sum(n[0], n[4]), Completion: synod.Sum(n[1], n[2]), Cached: n[3]}
	switch {
	case g.Feedback.BlockReason != "":
		r.refused = refusedFor("the provider's filter blocked the prompt", g.Feedback.BlockReason)
		return r, nil
	case len(g.Candidates) == 0:
		r.unusable = "JSON, but not a response of the Gemini API: it has no candidates"
		return r, nil
	}
	var text strings.Builder
	for _, p := range g.Candidates[0].Content.Parts {
		if p.Thought {
			r.thought = true
			continue
		}
		text.WriteString(p.Text)
	}
	r.text, r.thought = text.String(), r.thought || n[2] > 0
	switch reason := g.Candidates[0].FinishReason; reason {
	case "STOP", "", "FINISH_REASON_UNSPECIFIED":
	case "MAX_TOKENS":
		r.cut = true
	case "SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "LANGUAGE":
		r.refused = refusedFor("the provider's filter stopped the reply", reason)
	default:
		r.unusable = refusedFor("the reply ended early", reason)
	}
	return r, nil
}

// geminiError reads {"error":{"code":…,"message":…,"status":…,"details":[…]}}: the reason
// of an invalid key, the time until the next try, and quotas of a day.
func geminiError(body []byte) serverError {
	var b struct {
		Error struct {
			Message string `json:"message"`
			Status  string `json:"status"`
			Details []struct {
				Reason     string `json:"reason"`     // of google.rpc.ErrorInfo
				RetryDelay string `json:"retryDelay"` // of google.rpc.RetryInfo, such as 34.07s
				Violations []struct {
					QuotaID string `json:"quotaId"`
				} `json:"violations"` // of google.rpc.QuotaFailure
			} `json:"details"`
		} `json:"error"`
	}
	if json.Unmarshal(body, &b) != nil {
		return serverError{}
	}
	e := serverError{message: b.Error.Message, code: b.Error.Status}
	for _, d := range b.Error.Details {
		if d.Reason == "API_KEY_INVALID" || d.Reason == "API_KEY_EXPIRED" {
			return serverError{code: codeKey}
		}
		if wait, err := time.ParseDuration(d.RetryDelay); err == nil {
			e.wait = min(max(wait, 0), maxRetryAfter)
		}
		for _, v := range d.Violations {
			if strings.Contains(v.QuotaID, "PerDay") {
				e.code = codeQuota
			}
		}
	}
	return e
}

// The media types that the APIs take, by their documents.
var (
	geminiMedia = media{
		synod.Image: {"image/png", "image/jpeg", "image/webp", "image/heic", "image/heif"},
		synod.File:  {"application/pdf", "text/plain"},
		synod.Audio: {"audio/wav", "audio/mpeg", "audio/aiff", "audio/aac", "audio/ogg", "audio/flac"},
	}
)

// geminiTurns returns the contents of a request to the Gemini API.
func geminiTurns(turns []synod.Turn) (all []geminiTurn) {
	add := func(role string, more []any) {
		if last := len(all) - 1; last >= 0 && all[last].Role == role {
			all[last].Parts = append(all[last].Parts, more...)
			return
		}
		all = append(all, geminiTurn{role, more})
	}
	names := map[string]string{} // of the tools, by id of the call
	for _, t := range turns {
		var parts []any
		for i := range t.Parts {
			p := &t.Parts[i]
			parts = append(parts, block{"inlineData": block{"mimeType": p.Media, "data": base64Of(p)}})
		}
		if t.Text != "" && t.Role != synod.ByTool {
			parts = append(parts, geminiPart{Text: t.Text})
		}
		switch t.Role {
		case synod.ByUser:
			add("user", parts)
		case synod.ByTool:
			add("user", []any{block{"functionResponse": block{"name": names[t.Call],
				"response": block{"result": t.Text}}}})
		default:
			for _, c := range t.Calls {
				names[c.ID] = c.Name
				parts = append(parts, block{"functionCall": block{"name": c.Name,
					"args": json.RawMessage(arguments(&c))}})
			}
			add("model", parts)
		}
	}
	return all
}

// geminiModels reads the models of the Gemini API that generate text.
func geminiModels(body []byte) (names []string) {
	var list struct {
		Models []struct {
			Name    string   `json:"name"`
			Methods []string `json:"supportedGenerationMethods"`
		} `json:"models"`
	}
	if json.Unmarshal(body, &list) != nil {
		return nil
	}
	for _, m := range list.Models {
		if len(m.Methods) == 0 || slices.Contains(m.Methods, "generateContent") {
			names = append(names, strings.TrimPrefix(m.Name, "models/"))
		}
	}
	return names
}
