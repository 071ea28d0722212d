package a2aserver

import (
	"encoding/base64"
	"encoding/json"
	"strings"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"

	"synod.dev/synod/cmd/synod-serve/internal/wire"
)

// question makes the body of a chat completion of a task's messages, which the gateway reads and checks.
// metadata.synod of the message, else of the request, has the council and the options.
func question(ec *a2asrv.ExecutorContext, certified bool) (council string, body []byte, e *wire.Error) {
	options := map[string]any{}
	for _, meta := range []map[string]any{ec.Metadata, ec.Message.Metadata} {
		given, there := meta["synod"]
		if !there {
			continue
		}
		var ok bool
		if options, ok = given.(map[string]any); !ok {
			return "", nil, wire.Invalid("metadata.synod",
				`metadata.synod must be an object, such as {"council": "seven", `+
					`"deadline": "30s"}`)
		}
	}
	all := map[string]any{}
	rest := map[string]any{}
	for key, v := range options {
		switch key {
		case "council":
			council, _ = v.(string)
		case "schema":
			all["response_format"] = map[string]any{"type": "json_schema",
				"json_schema": map[string]any{"name": "answer",
					"schema": v}}
		default:
			rest[key] = v
		}
	}
	if certified {
		rest["certificate"] = true
	}
	messages := []*a2a.Message{ec.Message}
	if ec.StoredTask != nil {
		messages = ec.StoredTask.History // ends with the message
	}
	var turns []map[string]any
	for _, m := range messages {
		turn, e := turnOf(m)
		if e != nil {
			return "", nil, e
		}
		turns = append(turns, turn)
	}
	all["model"], all["messages"], all["synod"] = council, turns, rest
	body, err := json.Marshal(all)
	if err != nil {
		return "", nil, wire.Invalid("message", "the message cannot be read: %v", err)
	}
	return council, body, nil
}

// turnOf is a message as a turn of a conversation.
func turnOf(m *a2a.Message) (map[string]any, *wire.Error) {
	role := "user"
	if m.Role == a2a.MessageRoleAgent {
		role = "assistant"
	}
	parts := []any{}
	for _, p := range m.Parts {
		switch content := p.Content.(type) {
		case a2a.Text:
			parts = append(parts, map[string]any{"type": "text", "text": string(content)})
		case a2a.Data:
			b, err := json.Marshal(content.Value)
			if err != nil {
				return nil, wire.Invalid("message.parts", "a data part cannot be read: %v", err)
			}
			parts = append(parts, map[string]any{"type": "text", "text": string(b)})
		case a2a.Raw:
			parts = append(parts, filePart(p,
				"data:"+p.MediaType+";base64,"+base64.StdEncoding.EncodeToString(content)))
		default:
			return nil, wire.Invalid("message.parts", "addresses are not fetched; send the data of the file in raw")
		}
	}
	return map[string]any{"role": role, "content": parts}, nil
}

func filePart(p *a2a.Part, data string) map[string]any {
	if strings.HasPrefix(p.MediaType, "image/") {
		return map[string]any{"type": "image_url", "image_url": map[string]any{"url": data}}
	}
	return map[string]any{"type": "file", "file": map[string]any{"filename": p.Filename, "file_data": data}}
}
