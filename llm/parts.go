package llm

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	"synod.dev/synod"
	"synod.dev/synod/llm/prompt"
)

// media are the media types that an API takes, by kind of part.
type media map[synod.PartKind][]string

// takes reports why an API does not take a part. accepts, of a model's settings, may name fewer kinds; nil: all.
func (k media) takes(p *synod.Part, accepts []string) error {
	types := k[p.Kind]
	switch {
	case accepts != nil && !slices.Contains(accepts, string(p.Kind)):
		return fmt.Errorf("its settings say accepts: [%s]", strings.Join(accepts, ", "))
	case len(types) == 0:
		return fmt.Errorf("its API takes no %s", p.Kind)
	case !slices.Contains(types, p.Media):
		return fmt.Errorf("its API takes a part of the kind %s as %s, and this one is %s", p.Kind,
			strings.Join(types, ", "), p.Media)
	}
	return nil
}

// checkAccepts refuses an unknown kind in a model's settings.
func checkAccepts(accepts []string) error {
	for _, a := range accepts {
		if !slices.Contains(synod.PartKinds(), synod.PartKind(a)) {
			return fmt.Errorf("accepts: %q is no kind of part%s; use some of %v, or [] for text only", a,
				synod.Hint(a, []string{"image", "file", "audio"}), synod.PartKinds())
		}
	}
	return nil
}

func base64Of(p *synod.Part) string { return base64.StdEncoding.EncodeToString(p.Data) }

func dataURL(p *synod.Part) string { return "data:" + p.Media + ";base64," + base64Of(p) }

// conversation returns the system texts of a chat and all its other turns in order: the conversation of the question,
// the council's own text, and what follows it.
func conversation(council string, c *prompt.Chat) (system []string, turns []synod.Turn) {
	system, turns = split(council, c.Turns)
	return system, append(append(turns, synod.Turn{Role: synod.ByUser, Text: c.User}), c.Then...)
}

// split returns the system texts of a conversation, the council's first, and its other turns.
func split(council string, turns []synod.Turn) (system []string, rest []synod.Turn) {
	if council != "" {
		system = append(system, council)
	}
	for _, t := range turns {
		if t.Role == synod.BySystem {
			system = append(system, t.Text)
		} else {
			rest = append(rest, t)
		}
	}
	return system, rest
}

// The parts of a request with a conversation to an OpenAI-compatible API.
type (
	openAICall struct {
		ID       string         `json:"id"`
		Type     string         `json:"type"`
		Function openAIFunction `json:"function"`
	}
	openAIFunction struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	}
)

// block is a piece of the content of a message, as its API writes it.
type block = map[string]any

// arguments returns the arguments of a call, {} if it has none.
func arguments(c *synod.Call) []byte {
	if len(c.Arguments) == 0 {
		return []byte("{}")
	}
	return c.Arguments
}
