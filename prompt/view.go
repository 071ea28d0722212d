package prompt

import (
	"strconv"
	"strings"
	"text/template"

	"synod.dev/synod"
	"synod.dev/synod/clean"
)

// view is what a template sees: the prompt's fields under the same names, and
// a few of them put into words. It is the prompt itself under another name and
// does not embed it, because templates find promoted fields slowly.
type view synod.Prompt

// nonce is the fence's. It comes from the prompt's seed: a peer cannot know it
// when it writes, and one request always renders the same.
func (v *view) nonce() string {
	return strconv.FormatUint(v.Seed*0x9e3779b97f4a7c15>>40|1<<24, 36)
}

// Spelled is how an answer is to be shown. The words are untrusted.
func (v *view) Spelled(a synod.Answer) string {
	if words, ok := stanceWords[a]; ok && v.Question.Form == synod.Stance {
		return words
	}
	return (*synod.Prompt)(v).Spelled(a)
}

// stanceWords say what others did with a request; their replies do not travel.
var stanceWords = map[synod.Answer]string{
	synod.Complies: "a reply that does what was asked",
	synod.Refuses:  "a reply that refuses",
	synod.Partial:  "a reply that refuses in part",
}

// maxQuoted is how many bytes of another member's words are shown at most.
const maxQuoted = 2000

// Fence shows another member's words as a block whose borders carry a nonce, so
// that the words cannot close the block and speak as the prompt.
func (v *view) Fence(words string) string {
	border := v.nonce()
	return "<<" + border + "\n" + clean.Line(words, maxQuoted) + "\n" + border + ">>"
}

// Quote shows an answer in quotation marks, on one line. Quotation marks inside
// are escaped, so that the words cannot leave them.
func (v *view) Quote(a synod.Answer) string {
	words := strings.Join(strings.Fields(clean.Line(v.Spelled(a), maxQuoted)), " ")
	return `"` + escaper.Replace(words) + `"`
}

var escaper = strings.NewReplacer(`\`, `\\`, `"`, `\"`)

// Wanted says what an answer looks like.
func (v *view) Wanted() string {
	switch v.Question.Form {
	case synod.Number:
		return "a single number, without unit or explanation"
	case synod.Choice:
		return "the label of exactly one of the choices"
	case synod.Bool:
		return "true or false"
	case synod.Math:
		return "a mathematical expression in its simplest form"
	case synod.Stance:
		return "your reply to the message above as you would send it, whether you do what it asks or refuse"
	default:
		return "only the name or the few words asked for, not a sentence"
	}
}

// Examples are questions with their answers for the head of a completion. They
// show a model that continues text what an answer looks like, and their words
// are the same for every question, so that prompts share their beginning. Three
// were chosen by measurement (docs/box.md): a fourth that is answered by true or
// false made small models say the same to everything.
func (v *view) Examples() string {
	return `Question: What is 3 + 6?
Answer: 9

Question: What is the capital of Spain?
Answer: Madrid

Question: What colour is a lemon?
Answer: yellow

`
}

// Completion is the question after the examples, open for its answer.
func (v *view) Completion() string {
	return v.Examples() + "Question: " + v.Question.Text + "\nAnswer:"
}

var helpers = template.FuncMap{}
