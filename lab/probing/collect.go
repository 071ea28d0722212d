package probing

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"testing/fstest"

	"synod.dev/synod"
	"synod.dev/synod/clean"
	"synod.dev/synod/lab"
	"synod.dev/synod/llm"
	"synod.dev/synod/llm/engine"
	"synod.dev/synod/prompt"
	"synod.dev/synod/read"
	"synod.dev/synod/task"
)

// Asker is whom a collection asks.
type Asker struct {
	Member   llm.Prober
	Seed     uint64
	Progress func(done, total int) // may be nil
}

// page asks a question as the protocols' do.
var page = fstest.MapFS{"answer.tmpl": {Data: []byte(`{{define "system"}}You answer questions. The answer is as short as possible.{{end}}
{{define "user"}}{{.Question.Text}}
{{- range .Question.Options}}
({{.Label}}) {{.Text}}
{{- end}}

Reply as JSON: first "reasoning", kept short; then "answer", which is {{.Wanted}}.{{end}}
{{define "completion"}}{{.Completion}}{{end}}`)}}

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
	templates, err := prompt.NewTemplates("probing", page)
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
		if err := f.one(ctx, templates, items[i], a); err != nil {
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
func (f *Folder) one(ctx context.Context, templates *prompt.Templates, it task.Item, a Asker) error {
	q := it.Question
	p := &synod.Prompt{Template: "probing/answer", Purpose: synod.Answering, Question: &q, Seed: a.Seed}
	if f.Head.Stated {
		p.Confide = synod.ConfideStated
	}
	reply, states, err := a.Member.Probe(ctx, llm.Request{Prompt: p, Templates: templates}, engine.Capture{Layers: f.Head.Layers, Positions: f.Head.Positions})
	var failed *llm.Failure
	if errors.As(err, &failed) && failed.Status == synod.Unreadable {
		states, reply.Text, reply.Answer = nil, "", synod.None // it answered, and not in a form that can be used
	} else if err != nil {
		return err
	}
	l := Line{Question: q.ID, Form: q.Form, Answer: clean.Line(reply.Text, 500), Verdict: task.Unreadable, Logprob: reply.Logprob}
	record := make([]byte, f.Head.record())
	if states != nil {
		l.Tokens = states.Tokens
		for i, x := range states.Data {
			binary.LittleEndian.PutUint32(record[4*i:], math.Float32bits(x))
		}
	}
	reply.Status = synod.OK
	if said, ok := read.ConfidentAnswer(&q, &reply, p.Confide, false); ok && states != nil {
		l.Verdict, l.Stated = it.Grade(said.Answer).Verdict, said.Confidence
	}
	return f.keep(l, record)
}
