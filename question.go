package synod

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
)

// Forms returns every Form in the order of the documentation.
func Forms() []Form { return []Form{Number, Choice, Bool, Math, Text, Stance} }

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

// Question is what a council is asked. It never contains the right answer, so no
// prompt can leak it.
type Question struct {
	ID      string   `json:"id,omitempty"` // the item in its data set; "" for any other question
	Text    string   `json:"text"`
	Form    Form     `json:"form"`
	Options []Option `json:"options,omitempty"` // only for Choice
}

// Answer is an answer in canonical form: two answers are equal if and only if their
// strings are. Package read makes canonical answers of what models write.
type Answer string

// None is the absent answer: silence, or a reply that could not be read.
const None Answer = ""
