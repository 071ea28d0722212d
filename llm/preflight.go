package llm

import (
	"encoding/json"
	"errors"
	"strings"

	"synod.dev/synod"
)

// maxModelList is the longest list of models that is read, in bytes.
const maxModelList = 4 << 20

// modelNames reads a list of models. It is empty if the body is none.
func modelNames(body []byte) (names []string) {
	var list struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	if json.Unmarshal(body, &list) != nil {
		return nil
	}
	for _, m := range list.Data {
		names = append(names, m.ID)
	}
	return names
}

// Settings are those of a model that are written in a council file: its name and keys.
type Settings struct {
	Name string
	Keys map[string]any
}

// places are where a setting comes from if a model has no key for it, by provider.
var places = map[string]map[string]string{
	"url": {"openai": "OPENAI_BASE_URL", "ollama": "OLLAMA_HOST"},
	"key_env": {"openai": "OPENAI_API_KEY", "openrouter": "OPENROUTER_API_KEY", "anthropic": "ANTHROPIC_API_KEY",
		"gemini": "GEMINI_API_KEY"},
}

// at names where a setting is written, or else the environment variable that has it.
func (s Settings) at(key string) string {
	path := "models." + s.Name + "." + key
	provider, _ := s.Keys["provider"].(string)
	if _, written := s.Keys[key]; written || s.Keys == nil || places[key] == nil {
		return path
	}
	if variable := places[key][provider]; variable != "" {
		return variable
	}
	return path
}

// Advice says what the owner of a council can do about a failure of a model that does not pass by itself; "" if there
// is nothing. server is the model's server, "" if it is not known, and why the reason of the failure.
func Advice(status synod.Status, s Settings, server, why string) string {
	missing := strings.Contains(why, "HTTP 404") || strings.Contains(why, "knows no model") ||
		strings.Contains(why, "no such path")
	switch {
	case status == synod.Auth && strings.Contains(why, "is not set") && s.Keys != nil && s.Keys["key_env"] == nil:
		return "set the variable"
	case status == synod.Auth && strings.Contains(why, "is not set"):
		return "set the variable, or name another one as models." + s.Name + ".key_env"
	case status == synod.Auth:
		return "check the key in " + strings.Replace(s.at("key_env"), "models.", "the variable of models.", 1) +
			", and what it may use"
	case status == synod.Unavailable && missing:
		return "correct " + s.at("model") + " or " + s.at("url")
	case status == synod.Unavailable && strings.Contains(why, "cannot be resolved"):
		return "correct the name of the server in " + s.at("url") + ", or check the network"
	case status == synod.Unavailable && server != "":
		return "start the server at " + server + ", or correct " + s.at("url")
	case status == synod.Unavailable:
		return "start the server, or correct " + s.at("url")
	case status == synod.RateLimited:
		return "wait, or set models." + s.Name + ".per_minute"
	case status == synod.Timeout && strings.Contains(why, ErrLate.Error()):
		return "wait for every member with patience: {spare: 0}"
	case status == synod.Timeout && strings.Contains(why, ErrSlow.Error()):
		return "give calls more time with pace.think"
	case status == synod.Timeout:
		return "give it more time with models." + s.Name + ".timeout"
	}
	return ""
}

// AsPreflight reports whether an error of Preflight means that calls would fail too. A server
// that is slow or out of order now may be well in a moment.
func AsPreflight(err error) (*Failure, bool) {
	f, ok := errors.AsType[*Failure](err)
	return f, ok && (f.Status == synod.Auth || f.Status == synod.Unavailable)
}
