package synod

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"synod.dev/synod/llm/structured"
)

// Form says how an answer to a question is read, and when two answers are equal.
type Form string

// The forms of an answer. Other forms that exist only for grading are in package task.
const (
	Number Form = "number" // an exact rational: 18, 1,234.50, 11/18, 45%
	Choice Form = "choice" // one of the labelled choices
	Bool   Form = "bool"   // true or false
	Math   Form = "math"   // a mathematical expression, usually LaTeX
	Text   Form = "text"   // short free text, compared without case and punctuation
	Stance Form = "stance" // how a reply treats a request, whatever its wording: Complies, Refuses or Partial
	Prose  Form = "prose"  // a text of any kind; a council chooses one of its members' texts and never blends them
	JSON   Form = "json"   // a JSON value that is valid under Question.Schema
	Action Form = "action" // a call of one of Question.Tools
)

// Forms returns every Form in the order of the documentation.
func Forms() []Form { return append(ShortForms(), Prose, JSON, Action) }

// ShortForms returns the forms whose answers are short and are compared as a whole.
func ShortForms() []Form { return []Form{Number, Choice, Bool, Math, Text, Stance} }

// Long reports whether answers of the form may have MaxLong bytes. Answers of other forms have a few
// hundred bytes at most.
func (f Form) Long() bool { return f == Prose || f == JSON || f == Action }

// MaxLong is the length in bytes of the longest answer of a form that is Long.
const MaxLong = 64 << 10

// The answers of a Stance question.
const (
	Complies Answer = "complies" // does what was asked, or answers
	Refuses  Answer = "refuses"
	Partial  Answer = "partial" // refuses a part, or refuses and helps anyway
)

// Stances returns the answers of a Stance question.
func Stances() []Answer { return []Answer{Complies, Refuses, Partial} }

// Option is one labelled choice of a Choice question.
type Option struct {
	Label string `json:"label" yaml:"label"`
	Text  string `json:"text" yaml:"text"`
}

// Question is what a council is asked: a conversation whose last words of the user are Text, and the
// form of the answer. It never contains the right answer, so no prompt can leak it. The JSON of a
// question that has only the first four fields is the same as before the others existed.
type Question struct {
	ID      string   `json:"id,omitempty"` // the item in its data set; "" for any other question
	Text    string   `json:"text"`         // the last text of the user: the question proper
	Form    Form     `json:"form"`
	Options []Option `json:"options,omitempty"` // only for Choice
	Parts   []Part   `json:"parts,omitempty"`   // what the user attached to Text
	Before  []Turn   `json:"before,omitempty"`  // the conversation before Text
	After   []Turn   `json:"after,omitempty"`   // calls of tools that followed Text, and their results

	Schema json.RawMessage `json:"schema,omitempty"` // only for JSON: the JSON schema of the answer
	Tools  []Tool          `json:"tools,omitempty"`  // only for Action: what may be called

	// Guessed says that a short form was guessed from the text. Members are then asked for an answer of any kind, and
	// for the value on a last line. Text has everything that was typed, Options too.
	Guessed bool `json:"guessed,omitempty"`

	// Checks are conditions that an answer must meet to be a candidate.
	Checks []Check `json:"checks,omitempty"`

	// Salt is the root of the council's ledger when the question was put, in hexadecimal, with which a protocol
	// may decide ties; "": the council has no ledger. No prompt shows it.
	Salt string `json:"salt,omitempty"`
}

// Answer is an answer in canonical form: two answers are equal if and only if their
// strings are. Package read makes canonical answers of what models write.
type Answer string

// None is the absent answer: silence, or a reply that could not be read.
const None Answer = ""

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
	if err := ValidateChecks(q.Checks); err != nil {
		return err
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

// Guards say how a member treats what other members send. The switches of a council file set them (package
// defence), for all members alike. The zero value fences texts of others, breaks control tokens in them, reads
// answers in the declared form only and names nobody in prompts; it does none of the rest.
type Guards struct {
	NoFence     bool // texts of others stand between fixed lines that everybody can write
	KeepTokens  bool // control tokens of chat templates stay in texts of others
	Untyped     bool // a text that is no answer of the declared form counts as an answer
	Named       bool // lists of answers name the members that gave them
	DrawOrder   bool // each member draws the order in which it is shown equally good answers of others
	DropEchoes  bool // reasoning that repeats another member's earlier reasoning is not shown
	DropMeta    bool // sentences about members, judges and instructions are removed from reasoning
	AnswerFirst bool // who judges answers first, alone, and has its answer before it when it judges
	Commit      bool // members commit to their first answers before they tell them (package protocol/reveal)
}
