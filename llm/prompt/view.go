package prompt

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"synod.dev/synod"
	"synod.dev/synod/core/clean"
)

// view is what a template sees: the fields of the prompt under their names, and the methods below. It is
// a copy of the prompt and does not embed it, because package template looks up promoted fields slowly.
type view synod.Prompt

// fenceNonce returns the number from which the borders of the prompt's fences are made. It depends on the
// prompt's nonce and seed and on everything that the prompt shows. The nonce is a secret of the asking seat
// and differs from call to call, so nobody can predict a border. The content is included for prompts without
// nonce and seed: text that contains the border of its own fence cannot be found with feasible work.
func fenceNonce(p *synod.Prompt) uint64 {
	content, _ := json.Marshal(p) // fails only for a score that is not a number, which no reader returns
	h := sha256.New()
	h.Write(binary.BigEndian.AppendUint64([]byte("synod fence 1"), p.Nonce))
	h.Write(content)
	if q := p.Question; q != nil {
		h.Write([]byte(q.Text))
	}
	return binary.BigEndian.Uint64(h.Sum(nil))
}

// border returns the text that encloses a fence: 13 letters and digits.
func (v *view) border() string {
	s := strconv.FormatUint(v.Nonce, 36)
	return "0000000000000"[len(s):] + s
}

// Spelled returns an answer as it is to be shown. The text is untrusted.
func (v *view) Spelled(a synod.Answer) string {
	if text, ok := stanceText[a]; ok && v.Question.Form == synod.Stance {
		return text
	}
	return (*synod.Prompt)(v).Spelled(a)
}

// stanceText describes what other members did with a request: their replies are not sent.
var stanceText = map[synod.Answer]string{
	synod.Complies: "a reply that does what was asked",
	synod.Refuses:  "a reply that refuses",
	synod.Partial:  "a reply that refuses in part",
}

// maxQuoted bounds how many bytes of another member's text are shown.
const maxQuoted = 2000

// Fence returns a block with the cleaned text on one line between two borders that nobody can predict, so
// that the text cannot end the block and continue as the prompt. In an unfenced prompt the text keeps its lines.
func (v *view) Fence(text string) string {
	return v.Block(clean.Text(text, maxQuoted, v.how()) + "\n")
}

// how says what the guards of the asking seat leave in texts of others.
func (v *view) how() clean.How { return clean.How{Lines: v.Unfenced, Tokens: v.Raw} }

// The borders in unfenced prompts, as in DecentLLMs Fig. 5.
const plainBegin, plainEnd = "--- Proposed Answer ---\n", "--- End of Proposed Answer ---"

// Block encloses lines in borders like those of Fence. The caller must have cleaned them; each ends with a
// newline.
func (v *view) Block(lines string) string {
	if v.Unfenced {
		return plainBegin + lines + plainEnd
	}
	border := v.border()
	return "<<" + border + "\n" + lines + border + ">>"
}

// Passage is Block for a text of any length whose lines stay. What could be read as a border or as a control
// token of a chat template is broken.
func (v *view) Passage(text any) (string, error) {
	var s string
	switch t := text.(type) {
	case string:
		s = t
	case synod.Answer:
		s = v.Spelled(t)
	default:
		return "", fmt.Errorf("Passage takes a text, not %T", text)
	}
	if v.Raw {
		return v.Block(clean.Text(s, 2*synod.MaxLong, clean.How{Lines: true, Tokens: true}) + "\n"), nil
	}
	return v.Block(clean.Passage(s, 2*synod.MaxLong) + "\n"), nil
}

// Quote returns an answer in quotation marks, cleaned and on one line. Quotation marks in it are escaped, so
// that the text cannot end the quotation.
func (v *view) Quote(a synod.Answer) string { return v.quote(v.Spelled(a)) }

func (v *view) quote(text string) string {
	if v.Unfenced {
		return `"` + clean.Text(text, maxQuoted, v.how()) + `"`
	}
	return `"` + escaper.Replace(clean.Text(text, maxQuoted, v.how())) + `"`
}

// Whose returns what stands before an answer in a list: the quoted id of its member if members are named, else
// nothing.
func (v *view) Whose(p synod.Rated) string {
	if p.Name == "" {
		return ""
	}
	return v.quote(p.Name) + ": "
}

var escaper = strings.NewReplacer(`\`, `\\`, `"`, `\"`)

// Asked returns the question or, in a conversation, which message is the question.
func (v *view) Asked() string {
	if v.Question.Text == lastMessage {
		return "Reply to the last message of the user in the conversation above."
	}
	return v.Question.Text
}

// Wanted describes the answer that is wanted.
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
	case synod.Prose:
		return "the text that the user asked for, complete, in the form in which the user is to read it"
	case synod.JSON:
		return "a JSON value that is valid under this JSON schema:\n" + string(v.Question.Schema)
	case synod.Action:
		return v.tools()
	default:
		return "only the name or the few words asked for, not a sentence"
	}
}

// tools describes the calls of tools that an Action chooses from.
func (v *view) tools() string {
	var s strings.Builder
	s.WriteString(`a call of exactly one of these tools, as {"name": …, "arguments": {…}}:`)
	for _, t := range v.Question.Tools {
		s.WriteString("\n- " + t.Name + ": " + clean.Line(t.Description, maxQuoted) + " Arguments: ")
		s.WriteString(cmp.Or(string(t.Parameters), "none"))
	}
	return s.String()
}

// Completion returns the question after three examples, ending where the answer begins. The examples show a
// model that completes text what an answer looks like. They are the same for every question, so that prompts
// share their beginning. They were chosen by measurement (docs/use/models.md): with a fourth one that is answered by
// true or false, small models gave the same answer to every question.
func (v *view) Completion() string {
	return `Question: What is 3 + 6?
Answer: 9

Question: What is the capital of Spain?
Answer: Madrid

Question: What colour is a lemon?
Answer: yellow

Question: ` + v.Question.Text + "\nAnswer:"
}
