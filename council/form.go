package council

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"

	"synod.dev/synod"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/internal/durable"
)

// Shape is the form of the answers to some questions, with what the form needs. The zero Shape is that of
// questions whose forms are guessed.
type Shape struct {
	Form   synod.Form
	Schema json.RawMessage // of the form json
	Tools  []synod.Tool    // of the form action
}

// Shaped says which form is asked for, and which files have its schema and its tools.
type Shaped struct{ Form, Schema, Tools string }

// ShapeOf reads the shape that is asked for, or else that of the council file: its keys form, schema and tools. A
// schema without a form asks for json, tools for action. The error names what is missing.
func ShapeOf(s *plan.Spec, ask Shaped) (Shape, error) {
	switch {
	case ask.Schema != "" && ask.Tools != "":
		return Shape{}, errors.New("a schema is for the form json, and tools are for the form action: give one of them")
	case ask.Form == "" && ask.Schema != "":
		ask.Form = string(synod.JSON)
	case ask.Form == "" && ask.Tools != "":
		ask.Form = string(synod.Action)
	}
	shape := Shape{Form: synod.Form(cmp.Or(ask.Form, string(s.Form)))}
	if err := plan.KnownForm(shape.Form); err != nil {
		return Shape{}, err
	}
	schema, tools := ask.Schema, ask.Tools
	var err error
	switch shape.Form {
	case synod.JSON:
		if schema = cmp.Or(schema, s.Schema); schema == "" {
			return Shape{}, &plan.HelpError{Err: errors.New("the form json needs a schema"), Help: plan.HelpSchema}
		}
		shape.Schema, err = readSchema(schema)
		schema = ""
	case synod.Action:
		if tools = cmp.Or(tools, s.Tools); tools == "" {
			return Shape{}, &plan.HelpError{Err: errors.New("the form action needs tools"), Help: plan.HelpTools}
		}
		shape.Tools, err = readTools(tools)
		tools = ""
	}
	switch {
	case err != nil:
		return Shape{}, err
	case schema != "":
		return Shape{}, fmt.Errorf("a schema is for the form json, and the form is %s", shape.Form)
	case tools != "":
		return Shape{}, fmt.Errorf("tools are for the form action, and the form is %s", shape.Form)
	}
	return shape, nil
}

// readSchema reads a JSON schema from a file, and checks it.
func readSchema(path string) (json.RawMessage, error) {
	b, err := durable.ReadFile(path, synod.MaxConversation)
	if err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	q := synod.Question{Form: synod.JSON, Schema: b}
	if err := q.Check(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return b, nil
}

// readTools reads a list of tools from a file: as OpenAI's API takes them, {"type": "function", "function":
// {…}}, or plain objects with name, description and parameters (or input_schema).
func readTools(path string) ([]synod.Tool, error) {
	b, err := durable.ReadFile(path, synod.MaxConversation)
	if err != nil {
		return nil, fmt.Errorf("tools: %w", err)
	}
	tools, err := parseTools(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	q := synod.Question{Form: synod.Action, Tools: tools}
	if err := q.Check(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return tools, nil
}

func parseTools(b []byte) (tools []synod.Tool, err error) {
	const example = `[{"name": "weather", "description": "…", "parameters": {"type": "object", …}}]`
	var list []json.RawMessage
	if json.Unmarshal(b, &list) != nil {
		return nil, fmt.Errorf("tools must be a JSON list, such as %s", example)
	}
	for i, raw := range list {
		var t struct {
			synod.Tool
			Type     string          `json:"type"`
			Function *synod.Tool     `json:"function"`
			Input    json.RawMessage `json:"input_schema"`
			Strict   bool            `json:"strict"`
		}
		if err := json.Unmarshal(raw, &t); err != nil {
			return nil, fmt.Errorf("tool %d of the list is not an object, such as %s", i+1, example)
		}
		if t.Type != "" && t.Type != "function" && t.Type != "custom" {
			return nil, fmt.Errorf("tool %d of the list has the type %q; only functions can be called", i+1, t.Type)
		}
		if t.Function != nil {
			t.Tool = *t.Function
		}
		if len(t.Parameters) == 0 {
			t.Parameters = t.Input
		}
		tools = append(tools, t.Tool)
	}
	return tools, nil
}

// Put gives a question the shape. text is what was asked, from which the form is read if there is none.
func (x Shape) Put(q *synod.Question, text string) error {
	if x.Form == "" {
		return nil
	}
	as, err := ReadQuestion(text, x.Form)
	if err != nil {
		return err
	}
	q.Text, q.Form, q.Options, q.Guessed = as.Text, as.Form, as.Options, false
	q.Schema, q.Tools = x.Schema, x.Tools
	return nil
}
