package prompt

import (
	"encoding/json"
	"fmt"

	"synod.dev/synod"
	"synod.dev/synod/llm/structured"
)

// The longest strings, in characters, of a reply. Engines that generate by a grammar enforce them,
// which keeps small models from writing without end.
const (
	maxReasoning = 600
	maxAnswer    = 120
)

// schemaFor returns the JSON schema of the reply to p: first the reasoning, so that a model thinks
// before it commits, then the fields that are read. It returns nil if free text is wanted.
func schemaFor(p *synod.Prompt) json.RawMessage {
	switch p.Purpose {
	case synod.Answering, synod.Refining:
		if p.ConfidenceMode == synod.StatedConfidence {
			return Object(ReasoningField, Field{"answer", answerSchema(p.Question)}, confidenceField)
		}
		switch p.Question.Form {
		case synod.Prose:
			return nil // a long text in a JSON string loses its layout with many models
		case synod.Choice, synod.JSON, synod.Action:
			return Object(ReasoningField, Field{"answer", answerSchema(p.Question)})
		case synod.Bool:
			return boolSchema
		case synod.Stance:
			return stanceSchema
		default:
			return textSchema
		}
	case synod.Scoring:
		return scoreSchema
	default:
		if d, ok := p.Detail.(WithSchema); ok {
			return d.Schema(p)
		}
		return nil
	}
}

// ReasoningField is the first field of most schemas: models think before they commit.
var ReasoningField = Field{"reasoning", map[string]any{"type": "string", "maxLength": maxReasoning}}

// confidenceField has no bounds, because some servers reject them; the reader checks the range.
var confidenceField = Field{"confidence", map[string]any{"type": "number"}}

// Schemas that are the same for every question are made once. They must not be changed.
var (
	scoreSchema  = Object(ReasoningField, Field{"score", map[string]any{"type": "number"}})
	boolSchema   = Object(ReasoningField, Field{"answer", answerSchema(&synod.Question{Form: synod.Bool})})
	textSchema   = Object(ReasoningField, Field{"answer", answerSchema(&synod.Question{Form: synod.Text})})
	stanceSchema = Object(ReasoningField, Field{"answer", answerSchema(&synod.Question{Form: synod.Stance})})
)

func answerSchema(q *synod.Question) any {
	switch q.Form {
	case synod.JSON:
		return structured.Embed(q.Schema, "/properties/answer")
	case synod.Action:
		return actionSchema(q.Tools)
	case synod.Choice:
		labels := make([]string, len(q.Options))
		for i, o := range q.Options {
			labels[i] = o.Label
		}
		return map[string]any{"type": "string", "enum": labels}
	case synod.Bool:
		return map[string]any{"type": "string", "enum": []string{"true", "false"}}
	case synod.Stance: // a whole reply
		return map[string]any{"type": "string", "maxLength": maxReasoning}
	default:
		return map[string]any{"type": "string", "maxLength": maxAnswer}
	}
}

// actionSchema is the JSON schema of a call of one of some tools.
func actionSchema(tools []synod.Tool) any {
	calls := make([]json.RawMessage, len(tools))
	for i, t := range tools {
		at := "/properties/answer/properties/arguments"
		if len(tools) > 1 {
			at = fmt.Sprintf("/properties/answer/anyOf/%d/properties/arguments", i)
		}
		arguments := structured.Embed(t.Parameters, at)
		if len(arguments) == 0 {
			arguments = json.RawMessage(`{"type":"object","properties":{},"required":[],"additionalProperties":false}`)
		}
		calls[i] = Object(Field{"name", map[string]any{"type": "string", "enum": []string{t.Name}}},
			Field{"arguments", arguments})
	}
	if len(calls) == 1 {
		return calls[0]
	}
	return map[string]any{"anyOf": calls}
}

// WithSchema is implemented by the Detail of a prompt whose protocol asks for its own kind of JSON object.
type WithSchema interface {
	// Schema returns the JSON schema of the reply.
	Schema(p *synod.Prompt) json.RawMessage
}

// Field is a property of an object.
type Field struct {
	Name   string
	Schema any // its JSON schema; must be encodable as JSON
}

// Object returns the JSON schema of an object with exactly these properties, all of them required. It keeps
// their order, which encoding/json would not: models fill in a schema from first to last.
func Object(fields ...Field) json.RawMessage {
	b := []byte(`{"type":"object","properties":{`)
	required := make([]string, len(fields))
	for i, f := range fields {
		if i > 0 {
			b = append(b, ',')
		}
		name, _ := json.Marshal(f.Name)
		shape, _ := json.Marshal(f.Schema)
		b = append(append(append(b, name...), ':'), shape...)
		required[i] = f.Name
	}
	names, _ := json.Marshal(required)
	b = append(append(b, `},"required":`...), names...)
	return append(b, `,"additionalProperties":false}`...)
}
