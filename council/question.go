package council

import (
	"fmt"
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/llm/read"
)

// ReadQuestion makes a question of a text that a person typed. form determines how the answer
// is read; "" guesses it from the text (Guess). Listed options, as in lines that begin
// with A) and B), become the options of a Choice question. An unknown form is an error, and
// so is a text that is empty, too long or not UTF-8.
func ReadQuestion(text string, form synod.Form) (synod.Question, error) {
	if err := plan.CheckText(text); err != nil {
		return synod.Question{}, err
	}
	q := synod.Question{Text: text, Form: form}
	switch {
	case form == "":
		Guess(&q)
	case !slices.Contains(synod.Forms(), form):
		return q, fmt.Errorf("form is %q; it must be one of %v", form, synod.Forms())
	case form == synod.Choice:
		q.Text, q.Options = read.Choices(text)
	}
	return q, nil
}

// Guess guesses the form of a question from its text and the conversation before it. The text stays whole.
func Guess(q *synod.Question) {
	q.Form, q.Options = read.GuessIn(q.Before, q.Text)
	q.Guessed = q.Form != synod.Prose
}

// Briefly makes a question whose form was guessed one for members that write nothing worth reading: a short answer is
// asked for, and nothing beside it.
func Briefly(q *synod.Question) {
	switch {
	case q.Form == synod.Prose:
		q.Form = synod.Text
	case q.Form == synod.Choice:
		q.Text, q.Options = read.Choices(q.Text)
	}
	q.Guessed = false
}
