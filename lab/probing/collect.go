package probing

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"testing/fstest"

	"synod.dev/synod"
	"synod.dev/synod/lab"
	"synod.dev/synod/llm"
	"synod.dev/synod/llm/engine"
	"synod.dev/synod/prompt"
	"synod.dev/synod/task"
)

// Asker is whom a collection asks.
type Asker struct {
	Member llm.Prober
	// Stated answers when asked how sure it is of the member's answer: the same model,
	// greedy and short. Nil: it is not asked.
	Stated   llm.Model
	Seed     uint64
	Progress func(done, total int) // may be nil
}

// The page "answer" asks a question as the protocols' do. "sure" asks for a confidence
// in an answer that has been given (Eq. 1, with the answer held fixed, so that what is
// stated and what is hidden are about the same answer). A member that continues text
// sees three examples, one of them wrong; its number is held to a number's grammar,
// and is still unreadable where it is above 1.
var pages = fstest.MapFS{
	"answer.tmpl": {Data: []byte(`{{define "system"}}You answer questions. The answer is as short as possible.{{end}}
{{define "user"}}{{.Question.Text}}
{{- range .Question.Options}}
({{.Label}}) {{.Text}}
{{- end}}

Reply as JSON: first "reasoning", kept short; then "answer", which is {{.Wanted}}.{{end}}
{{define "completion"}}{{.Completion}}{{end}}`)},
	"sure.tmpl": {Data: []byte(`{{define "system"}}You say honestly how sure you are. You reply with one line and nothing else.{{end}}
{{define "user"}}Question: {{.Question.Text}}
{{- range .Question.Options}}
({{.Label}}) {{.Text}}
{{- end}}

Your answer was: {{.Quote .Candidate}}

How likely is it that this answer is right? Reply in this form:
Confidence: <a number from 0.00, certainly wrong, to 1.00, certainly right>{{end}}
{{define "completion"}}How likely is each answer to be right, from 0.00 (certainly wrong) to 1.00 (certainly right)?

Question: What is 3 + 6?
Answer: 9
Confidence: 0.97

Question: What is the capital of Spain?
Answer: Oslo
Confidence: 0.04

Question: What colour is a lemon?
Answer: yellow
Confidence: 0.92

Question: {{.Question.Text}}
Answer: {{.Spelled .Candidate}}
Confidence:{{end}}`)},
}

// Collect asks the questions that have not been answered yet, in their order. It
// returns when all are done, when ctx ends or when a call fails; what was answered is
// kept. The questions must begin with those that have been answered.
func (f *Folder) Collect(ctx context.Context, items []task.Item, a Asker) (err error) {
	held, err := lab.Lock(f.Dir)
	if err != nil {
		return err
	}
	defer held.Close()
	if err := f.begin(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.end()) }()
	book, err := prompt.NewBook("probing", pages)
	if err != nil {
		return err
	}
	for i, l := range f.Lines {
		if i < len(items) && items[i].Question.ID != l.Question {
			return fmt.Errorf("probing: question %d of the folder is %q, and of the task %q: it was collected from other data", i+1, l.Question, items[i].Question.ID)
		}
	}
	for i := len(f.Lines); i < len(items); i++ {
		if a.Progress != nil {
			a.Progress(i, len(items))
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := f.one(ctx, book, items[i], a); err != nil {
			return fmt.Errorf("probing: question %s: %w", items[i].Question.ID, err)
		}
	}
	if a.Progress != nil {
		a.Progress(len(items), len(items))
	}
	return nil
}

// one asks one question, grades the answer and keeps both. A call that fails is no
// answer: it ends the collection.
func (f *Folder) one(ctx context.Context, book *prompt.Book, it task.Item, a Asker) error {
	q := it.Question
	p := &synod.Prompt{Template: "probing/answer", Purpose: synod.Answering, Question: &q, Seed: a.Seed}
	reply, states, err := a.Member.Probe(ctx, llm.Request{Prompt: p, Book: book}, engine.Capture{Layers: f.Head.Layers, Positions: f.Head.Positions})
	var failed *llm.Failure
	if errors.As(err, &failed) && failed.Status == synod.Unreadable {
		states, reply.Text, reply.Answer = nil, "", synod.None // it answered, and not in a form that can be used
	} else if err != nil {
		return err
	}
	l := Line{Question: q.ID, Form: q.Form, Answer: prompt.Clean(reply.Text, 500), Verdict: task.Unreadable, Logprob: reply.Logprob}
	record := make([]byte, f.Head.record())
	if states != nil {
		l.Tokens = states.Tokens
		for i, x := range states.Data {
			binary.LittleEndian.PutUint32(record[4*i:], math.Float32bits(x))
		}
	}
	reply.Status = synod.OK
	if answer, _, ok := prompt.AnswerOf(&q, &reply, false); ok && states != nil {
		l.Verdict = it.Grade(answer).Verdict
		if err := f.confess(ctx, book, &q, answer, a, &l); err != nil {
			return err
		}
	}
	return f.keep(l, record)
}

// confess asks for a stated confidence in the answer.
func (f *Folder) confess(ctx context.Context, book *prompt.Book, q *synod.Question, answer synod.Answer, a Asker, l *Line) error {
	if a.Stated == nil {
		return nil
	}
	sure := *q
	sure.Form = synod.Number
	written := f.Head.Subject.Answers == "written"
	p := &synod.Prompt{Template: "probing/sure", Purpose: synod.Answering, Question: &sure, Candidate: answer, Exact: written, Seed: a.Seed, Spelling: map[synod.Answer]string{answer: l.Answer}}
	for _, o := range q.Options {
		if o.Label == string(answer) {
			p.Spelling[answer] = o.Text
		}
	}
	reply, err := a.Stated.Complete(ctx, llm.Request{Prompt: p, Book: book})
	if err != nil {
		return err
	}
	l.Confess, l.Said = synod.OK, prompt.Clean(reply.Text, 200)
	text := reply.Text
	if reply.Typed { // it went on where the page ends
		text = "Confidence: " + text
	}
	if c, ok := prompt.ReadConfidence(text); ok {
		l.Stated = &c
	}
	return nil
}
