package synod

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"synod.dev/synod/structured"
)

// Speaker is who wrote a turn of a conversation. It is not the Role of a seat.
type Speaker string

// The speakers.
const (
	BySystem    Speaker = "system" // the instructions of the program that asks
	ByUser      Speaker = "user"
	ByAssistant Speaker = "assistant"
	ByTool      Speaker = "tool" // the result of a call of a tool
)

// Speakers returns every Speaker.
func Speakers() []Speaker { return []Speaker{BySystem, ByUser, ByAssistant, ByTool} }

// Turn is one message of a conversation.
type Turn struct {
	Role  Speaker `json:"role"`
	Text  string  `json:"text,omitempty"`
	Parts []Part  `json:"parts,omitempty"` // only of the user
	Calls []Call  `json:"calls,omitempty"` // only of the assistant: the tools that it called
	Call  string  `json:"call,omitempty"`  // only of a tool: the ID of the Call whose result Text is
}

// PartKind is the kind of a Part.
type PartKind string

// The kinds of parts.
const (
	Image PartKind = "image"
	File  PartKind = "file" // a document, such as a PDF
	Audio PartKind = "audio"
)

// PartKinds returns every PartKind.
func PartKinds() []PartKind { return []PartKind{Image, File, Audio} }

// Part is content of a message that is not text. Members get it unchanged.
type Part struct {
	Kind  PartKind `json:"kind"`
	Name  string   `json:"name,omitempty"` // of the file, without its folder
	Media string   `json:"media"`          // its media type, such as image/png
	Data  []byte   `json:"data"`
}

// Tool is a function that an Action may call.
type Tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters,omitempty"` // JSON schema of the arguments, an object; none: no arguments
}

// Call is a call of a tool.
type Call struct {
	ID        string          `json:"id,omitempty"` // unique in a conversation
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments,omitempty"` // a JSON object
}

// The limits of what a question contains beside Text.
const (
	MaxTurns        = 1000
	MaxConversation = 4 << 20  // bytes of all turns, tools and schemas together, and of the question's text
	MaxParts        = 15 << 20 // bytes of all parts together
	maxTools        = 128
	maxNames        = 200 // bytes of a name or an ID
)

// Turns returns the whole conversation in order: Before, Text with its parts, After.
func (q *Question) Turns() []Turn {
	return slices.Concat(q.Before, []Turn{{Role: ByUser, Text: q.Text, Parts: q.Parts}}, q.After)
}

// Plain reports whether the question is a text with options at most: no conversation, no parts, no
// schema and no tools.
func (q *Question) Plain() bool {
	return len(q.Before)+len(q.After)+len(q.Parts)+len(q.Schema)+len(q.Tools) == 0
}

// Attached returns the parts of the whole conversation in order.
func (q *Question) Attached() (all []Part) {
	for _, t := range q.Before {
		all = append(all, t.Parts...)
	}
	return append(all, q.Parts...)
}

// Check reports what is wrong with the parts of a question beside Text and Options; nil if nothing is.
func (q *Question) Check() error {
	if err := q.checkForm(); err != nil {
		return err
	}
	size, calls := len(q.Schema), map[string]bool{}
	if len(q.Before)+len(q.After) > MaxTurns {
		return fmt.Errorf("the conversation has %d messages; at most %d are accepted", len(q.Before)+len(q.After),
			MaxTurns)
	}
	for i, t := range slices.Concat(q.Before, q.After) {
		after := i >= len(q.Before)
		if err := t.check(calls, after); err != nil {
			if after {
				i++ // Text is a message too
			}
			return fmt.Errorf("message %d of the conversation: %w", i+1, err)
		}
		size += t.size()
	}
	for i := range q.Tools {
		size += len(q.Tools[i].Name) + len(q.Tools[i].Description) + len(q.Tools[i].Parameters)
	}
	if size > MaxConversation {
		return fmt.Errorf("the conversation, its tools and its schema have %d bytes; at most %d (%d KB) are accepted: "+
			"leave out its first messages", size, MaxConversation, MaxConversation>>10)
	}
	return checkParts(q.Attached())
}

// checkForm checks the fields that belong to one form.
func (q *Question) checkForm() error {
	switch {
	case len(q.Schema) > 0 && q.Form != JSON:
		return fmt.Errorf("a schema belongs to the form %s, and the question has the form %s", JSON, q.Form)
	case q.Form == JSON && len(q.Schema) == 0:
		return fmt.Errorf("the form %s needs a schema, such as {\"type\": \"object\", …}", JSON)
	case len(q.Tools) > 0 && q.Form != Action:
		return fmt.Errorf("tools belong to the form %s, and the question has the form %s", Action, q.Form)
	case q.Form == Action && len(q.Tools) == 0:
		return fmt.Errorf("the form %s needs tools: a list of objects with name, description and parameters", Action)
	case len(q.Tools) > maxTools:
		return fmt.Errorf("there are %d tools; at most %d are accepted", len(q.Tools), maxTools)
	}
	if len(q.Schema) > 0 {
		if _, err := structured.Compile(q.Schema, nil); err != nil {
			return errors.New(strings.TrimPrefix(err.Error(), "structured: "))
		}
	}
	for i, t := range q.Tools {
		switch {
		case !plainName(t.Name):
			return fmt.Errorf("tool %d: the name %.40q is empty or not plain: use at most 64 letters, digits, _ and -",
				i+1, t.Name)
		case slices.ContainsFunc(q.Tools[:i], func(u Tool) bool { return u.Name == t.Name }):
			return fmt.Errorf("two tools are called %s", t.Name)
		case !utf8.ValidString(t.Description):
			return fmt.Errorf("tool %s: the description is not UTF-8", t.Name)
		case len(t.Parameters) > 0 && !isObject(t.Parameters):
			return fmt.Errorf("tool %s: parameters must be a JSON schema: an object", t.Name)
		}
		if len(t.Parameters) == 0 {
			continue
		}
		if _, err := structured.Compile(t.Parameters, nil); err != nil {
			return fmt.Errorf("tool %s: parameters: %s", t.Name, strings.TrimPrefix(err.Error(), "structured: "))
		}
	}
	return nil
}

// check checks a turn. calls are the IDs of the calls of tools so far; after says that the turn follows
// the question.
func (t *Turn) check(calls map[string]bool, after bool) error {
	switch {
	case !slices.Contains(Speakers(), t.Role):
		return fmt.Errorf("role is %.40q; it must be one of %v", t.Role, Speakers())
	case after && t.Role != ByAssistant && t.Role != ByTool:
		return fmt.Errorf("a message of the %s follows the last one of the user", t.Role)
	case !utf8.ValidString(t.Text):
		return errors.New("the text is not UTF-8")
	case len(t.Parts) > 0 && t.Role != ByUser:
		return fmt.Errorf("a message of the %s has an image, a file or a sound; only the user's may", t.Role)
	case len(t.Calls) > 0 && t.Role != ByAssistant:
		return fmt.Errorf("a message of the %s calls a tool; only the assistant's may", t.Role)
	case t.Role == ByTool && !calls[t.Call]:
		return fmt.Errorf("it is the result of the call %.40q, which no message before it makes", t.Call)
	case t.Role != ByTool && t.Call != "":
		return fmt.Errorf("a message of the %s is the result of a call; only a tool's may be", t.Role)
	case t.Text == "" && len(t.Parts) == 0 && len(t.Calls) == 0 && t.Role != ByTool:
		return errors.New("it is empty")
	}
	for _, c := range t.Calls {
		switch {
		case !plainName(c.Name):
			return fmt.Errorf("it calls the tool %.40q: a name has letters, digits, _ and - only", c.Name)
		case c.ID == "" || len(c.ID) > maxNames || !utf8.ValidString(c.ID) || calls[c.ID]:
			return fmt.Errorf("the id %.40q of its call of %s is empty, too long or used before", c.ID, c.Name)
		case len(c.Arguments) > 0 && !isObject(c.Arguments):
			return fmt.Errorf("the arguments of its call of %s are not a JSON object", c.Name)
		}
		calls[c.ID] = true
	}
	return nil
}

func (t *Turn) size() int {
	n := len(t.Text) + len(t.Call)
	for _, c := range t.Calls {
		n += len(c.ID) + len(c.Name) + len(c.Arguments)
	}
	return n
}

func checkParts(parts []Part) error {
	size := 0
	for i, p := range parts {
		switch size += len(p.Data); {
		case !slices.Contains(PartKinds(), p.Kind):
			return fmt.Errorf("part %d: kind is %.40q; it must be one of %v", i+1, p.Kind, PartKinds())
		case !plainMedia(p.Media):
			return fmt.Errorf("part %d: media is %.40q; it must be a media type, such as image/png", i+1, p.Media)
		case len(p.Data) == 0:
			return fmt.Errorf("part %d (%s) is empty", i+1, p.Media)
		case len(p.Name) > maxNames || !utf8.ValidString(p.Name):
			return fmt.Errorf("part %d: the name is longer than %d bytes or not UTF-8", i+1, maxNames)
		case size > MaxParts:
			return fmt.Errorf("images, files and sounds have more than %d MB together: make them smaller", MaxParts>>20)
		}
	}
	return nil
}

// plainName reports whether a name is one that the APIs of models accept for a tool.
func plainName(s string) bool {
	for _, c := range []byte(s) {
		if !letter(c) && c != '_' && c != '-' {
			return false
		}
	}
	return s != "" && len(s) <= 64
}

func letter(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

// plainMedia reports whether a text is a media type without parameters.
func plainMedia(s string) bool {
	slash := 0
	for i, c := range []byte(s) {
		switch {
		case c == '/' && i > 0 && i < len(s)-1:
			slash++
		case !letter(c) && c != '.' && c != '+' && c != '-':
			return false
		}
	}
	return slash == 1 && len(s) <= 100
}

func isObject(raw json.RawMessage) bool {
	var o map[string]json.RawMessage
	return json.Unmarshal(raw, &o) == nil && o != nil
}
