package council

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"synod.dev/synod"
)

// ReadMessages reads a conversation in the shape of OpenAI's chat completions: a JSON list of objects with
// role, content, tool_calls and tool_call_id. Content is a text or a list of parts: text, image_url,
// input_audio and file, with their data in the request. The caller puts the turns into a question with
// Converse.
func ReadMessages(b []byte) ([]synod.Turn, error) {
	var list []json.RawMessage
	if err := json.Unmarshal(b, &list); err != nil || len(list) == 0 {
		return nil, errors.New(`the messages must be a JSON list, such as [{"role": "user", "content": "Hello"}]`)
	}
	if len(list) > synod.MaxTurns {
		return nil, fmt.Errorf("there are %d messages; at most %d are accepted", len(list), synod.MaxTurns)
	}
	turns := make([]synod.Turn, len(list))
	for i, raw := range list {
		var err error
		if turns[i], err = readMessage(raw); err != nil {
			return nil, fmt.Errorf("message %d: %w", i+1, err)
		}
	}
	return turns, nil
}

// message is a message as an API writes it.
type message struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
	Name    string          `json:"name"`
	Calls   []struct {
		ID       string `json:"id"`
		Type     string `json:"type"`
		Function struct {
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
	Call    string          `json:"tool_call_id"`
	Refusal json.RawMessage `json:"refusal"`
}

func readMessage(raw json.RawMessage) (t synod.Turn, err error) {
	var m message
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(&m); err != nil {
		return t, fmt.Errorf("%w; it may have role, content, tool_calls and tool_call_id", err)
	}
	t = synod.Turn{Role: synod.Speaker(m.Role), Call: m.Call}
	if m.Role == "developer" {
		t.Role = synod.BySystem
	}
	if !slices.Contains(synod.Speakers(), t.Role) {
		return t, fmt.Errorf("role is %.40q; it must be one of %v", m.Role, synod.Speakers())
	}
	for _, c := range m.Calls {
		call := synod.Call{ID: c.ID, Name: c.Function.Name}
		if text := strings.TrimSpace(c.Function.Arguments); text != "" {
			if !json.Valid([]byte(text)) {
				return t, fmt.Errorf("the arguments of its call of %.40q are not JSON", call.Name)
			}
			call.Arguments = json.RawMessage(text)
		}
		t.Calls = append(t.Calls, call)
	}
	content := bytes.TrimSpace(m.Content)
	switch {
	case len(content) == 0 || string(content) == "null":
		return t, nil
	case content[0] == '"':
		return t, json.Unmarshal(content, &t.Text)
	}
	return t, readContent(content, &t)
}

// contentPart is a part of the content of a message.
type contentPart struct {
	Type  string `json:"type"`
	Text  string `json:"text"`
	Image struct {
		URL    string `json:"url"`
		Detail string `json:"detail"`
	} `json:"image_url"`
	Audio struct {
		Data   string `json:"data"`
		Format string `json:"format"`
	} `json:"input_audio"`
	File struct {
		Name string `json:"filename"`
		Data string `json:"file_data"`
	} `json:"file"`
}

func readContent(raw []byte, t *synod.Turn) error {
	var parts []contentPart
	if err := json.Unmarshal(raw, &parts); err != nil {
		return errors.New("content must be a text or a list of parts, each with a type")
	}
	var texts []string
	for i, c := range parts {
		var p synod.Part
		var err error
		switch c.Type {
		case "text":
			texts = append(texts, c.Text)
			continue
		case "image_url":
			p, err = fromDataURL(synod.Image, "", c.Image.URL)
		case "input_audio":
			media := "audio/" + strings.Replace(c.Audio.Format, "mp3", "mpeg", 1)
			p, err = fromBase64(synod.Audio, "", media, c.Audio.Data)
		case "file":
			p, err = fromDataURL(synod.File, c.File.Name, c.File.Data)
		default:
			err = fmt.Errorf("type is %.40q; it must be text, image_url, input_audio or file", c.Type)
		}
		if err != nil {
			return fmt.Errorf("part %d: %w", i+1, err)
		}
		t.Parts = append(t.Parts, p)
	}
	t.Text = strings.Join(texts, "\n")
	return nil
}

func fromDataURL(kind synod.PartKind, name, url string) (synod.Part, error) {
	rest, ok := strings.CutPrefix(url, "data:")
	media, data, base64 := strings.Cut(rest, ";base64,")
	if !ok || !base64 {
		return synod.Part{}, errors.New("it must contain its data, as data:image/png;base64,…: addresses are not " +
			"fetched")
	}
	return fromBase64(kind, name, media, data)
}

func fromBase64(kind synod.PartKind, name, media, data string) (synod.Part, error) {
	if len(data) > 2*synod.MaxParts {
		return synod.Part{}, fmt.Errorf("it has more than %d MB", synod.MaxParts>>20)
	}
	b, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		return synod.Part{}, errors.New("its data are not base64")
	}
	return synod.Part{Kind: kind, Name: name, Media: media, Data: b}, nil
}

// Converse puts a conversation into a question. If the question has no text, the last text of the user
// is the question; otherwise all turns come before it. Turns of the user that say nothing are left out, and pictures
// that follow the question without a text belong to it. It fails if there is no text.
func Converse(q *synod.Question, turns []synod.Turn) error {
	turns = slices.DeleteFunc(turns, func(t synod.Turn) bool {
		return t.Role == synod.ByUser && t.Text == "" && len(t.Parts) == 0
	})
	if q.Text != "" {
		q.Before = append(turns, q.Before...)
		return nil
	}
	for i := len(turns) - 1; i >= 0; i-- {
		if t := turns[i]; t.Role == synod.ByUser && t.Text != "" {
			q.Text, q.Parts, q.After = t.Text, append(t.Parts, q.Parts...), turns[i+1:]
			q.Before = append(turns[:i:i], q.Before...)
			for len(q.After) > 0 && q.After[0].Role == synod.ByUser {
				q.Parts, q.After = append(q.Parts, q.After[0].Parts...), q.After[1:]
			}
			return nil
		}
	}
	return errors.New("the conversation has no text of the user, and there is no question beside it")
}
