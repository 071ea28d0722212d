package synod

import "encoding/json"

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

	// Salt is the root of the council's ledger when the question was put, in hexadecimal, with which a protocol
	// may decide ties; "": the council has no ledger. No prompt shows it.
	Salt string `json:"salt,omitempty"`
}

// Answer is an answer in canonical form: two answers are equal if and only if their
// strings are. Package read makes canonical answers of what models write.
type Answer string

// None is the absent answer: silence, or a reply that could not be read.
const None Answer = ""
