package collect

import (
	"context"
	"embed"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"path/filepath"

	"synod.dev/synod"
	"synod.dev/synod/bench/task"
	"synod.dev/synod/core/clean"
	"synod.dev/synod/internal/filelock"
	"synod.dev/synod/llm"
	"synod.dev/synod/llm/engine"
	"synod.dev/synod/llm/prompt"
	"synod.dev/synod/llm/read"
)

// Asker asks a model.
type Asker struct {
	Member   llm.Prober
	Seed     uint64                // of every call
	Progress func(done, total int) // called with the number of answered questions; may be nil
}

// templates ask a question in the same way as the templates of the protocols.
//
//go:embed answer.tmpl
var templates embed.FS

// Collect asks the questions that have no answer yet, in their order. The items must begin with
// those that have answers. It returns when all are answered, or with an error when ctx ends or a
// call fails; the answers so far are kept. It locks the folder against other processes.
func (f *Folder) Collect(ctx context.Context, items []task.Item, a Asker) (err error) {
	held, err := filelock.Lock(filepath.Join(f.Dir, "lock"))
	if err != nil {
		return fmt.Errorf("probing: %s: %w", f.Dir, err)
	}
	defer held.Close()
	if err := f.begin(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.end()) }()
	prompts, err := prompt.NewTemplates("probing", templates)
	if err != nil {
		return err
	}
	for i, l := range f.Lines {
		if i < len(items) && items[i].Question.ID != l.Question {
			return fmt.Errorf("probing: question %d of the folder is %q, but of the task %q: the folder was collected "+
				"from other data", i+1, l.Question, items[i].Question.ID)
		}
	}
	for i := len(f.Lines); i < len(items); i++ {
		if a.Progress != nil {
			a.Progress(i, len(items))
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := f.ask(ctx, prompts, items[i], a); err != nil {
			return fmt.Errorf("probing: question %s: %w", items[i].Question.ID, err)
		}
	}
	if a.Progress != nil {
		a.Progress(len(items), len(items))
	}
	return nil
}

// ask asks one question, grades the answer and stores it. A failed call is an error and not an
// answer.
func (f *Folder) ask(ctx context.Context, prompts *prompt.Templates, it task.Item, a Asker) error {
	q := it.Question
	p := &synod.Prompt{Template: "probing/answer", Purpose: synod.Answering, Question: &q, Seed: a.Seed}
	if f.Head.Stated {
		p.ConfidenceMode = synod.StatedConfidence
	}
	reply, states, err := a.Member.Probe(ctx, llm.Request{Prompt: p, Templates: prompts},
		engine.Capture{Layers: f.Head.Layers, Positions: f.Head.Positions})
	var failed *llm.Failure
	if errors.As(err, &failed) && failed.Status == synod.Unreadable {
		states, reply.Text, reply.Answer = nil, "", synod.None // the model answered, but not in a readable form
	} else if err != nil {
		return err
	}
	l := Line{Question: q.ID, Form: q.Form, Answer: clean.Line(reply.Text, 500), Verdict: task.Unreadable,
		Logprob: reply.Logprob}
	record := make([]byte, f.Head.record())
	if states != nil {
		l.Tokens = states.Tokens
		for i, x := range states.Data {
			binary.LittleEndian.PutUint32(record[4*i:], math.Float32bits(x))
		}
	}
	reply.Status = synod.OK
	read.SetVersion(&reply)
	if given, ok := read.ConfidentAnswer(&q, &reply, p.ConfidenceMode, false); ok && states != nil {
		l.Verdict, l.Stated = it.Grade(given.Answer).Verdict, given.Confidence
	}
	return f.add(l, record)
}
