package outcome

import (
	"fmt"

	"synod.dev/synod"
	"synod.dev/synod/core/clean"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/llm"
	"synod.dev/synod/llm/read"
)

// Unread is what is known of a member's replies that could not be read, also after a second request.
type Unread struct {
	Replies int `json:"replies"`
	Cut     int `json:"cut,omitempty"`        // of them: ended by max_tokens
	Other   int `json:"other_form,omitempty"` // of them: an answer that is none of the wanted form
	// Failed is the check that the answer of the last of them that has one fails; nil: none has an answer.
	Failed *synod.Failure `json:"failed_check,omitempty"`
	End    string         `json:"end"`  // the end of one of them, cleaned: the member's own words
	Help   string         `json:"help"` // what helps, for people

	call   synod.ConsultID // that End is about
	failed synod.ConsultID // the call that Failed is about
}

// maxEnd is how many characters of a reply are shown.
const maxEnd = 200

// unread counts a reply that came and cannot be read. Replies of simulated members are typed, or made to be read.
func (r *Record) unread(kind llm.Kind, p *synod.Prompt, id synod.ConsultID, reply *synod.Reply) {
	if reply.Failed == nil && (kind == llm.Simulated || reply.Status != synod.OK || reply.Typed || reply.Text == "" ||
		read.Readable(p, reply)) {
		return
	}
	u := &r.Unread
	if reply.Failed != nil && (u.Failed == nil || id >= u.failed) { // the last
		u.Failed, u.failed = reply.Failed, id
	}
	if u.Replies == 0 || id < u.call { // the first: the order in which calls return does not matter
		u.End, u.call = endOf(reply.Text), id
	}
	if u.Replies++; reply.Failed != nil {
		return
	}
	if reply.Cut {
		u.Cut++
		return
	}
	asText := *p.Question
	asText.Form, asText.Options = synod.Text, nil
	asked := p.Purpose == synod.Answering || p.Purpose == synod.Refining
	announced := *reply
	announced.Text = ".\n" + reply.Text // no short line that is an answer as a whole
	if _, _, ok := read.Answer(&asText, &announced, false); ok && asked && p.Question.Form != synod.Text {
		u.Other++
	}
}

// endOf returns the last characters of a text, cleaned and on one line.
func endOf(text string) string {
	all := []rune(clean.Line(clean.Tail(text, 8*maxEnd), 8*maxEnd))
	if len(all) > maxEnd {
		all = all[len(all)-maxEnd:]
	}
	return string(all)
}

// OfOtherForm reports whether most of the replies have an answer that is none of the wanted form.
func (u *Unread) OfOtherForm() bool { return 2*u.Cut < u.Replies && 2*u.Other >= u.Replies }

// help says what most of the replies that could not be read lack. model is the name in the council.
func (u *Unread) help(model string, given plan.Params, form synod.Form) string {
	switch {
	case u.Failed != nil:
		return fmt.Sprintf("failed check %s: %s", u.Failed.Check, u.Failed.Reason)
	case 2*u.Cut >= u.Replies:
		now := "the server's default"
		if n, ok := given["max_tokens"]; ok {
			now = fmt.Sprint(n)
		}
		return fmt.Sprintf("max_tokens was reached: raise it for the model %s (now %s)", model, now)
	case u.OfOtherForm():
		return fmt.Sprintf("its answer is there and is no %s: check the form", form)
	}
	return fmt.Sprintf("the model %s writes something else than was asked for: use a server that enforces a schema, "+
		"or another model", model)
}
