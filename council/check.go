package council

import (
	"context"
	"fmt"
	"sync"
	"time"

	"synod.dev/synod"
	"synod.dev/synod/core/sim"
	"synod.dev/synod/internal/sandbox"
	"synod.dev/synod/llm/read"
)

// verdicts are those of the commands on the answers of a run. Each command runs once for an answer, so that all
// members that give it get the same verdict.
type verdicts struct {
	sync.Mutex
	of map[checked]func() string
}

// checked is a check and the text that it is about.
type checked struct{ check, text string }

// check sets which check the answer of a reply fails. A reply that was cut off while its answer was checked is
// dropped, and a resumed run asks again.
func (s *session) check(call *sim.Call, r *synod.Reply) {
	q := &s.ask.Question
	if len(q.Checks) == 0 || r.Status != synod.OK {
		return
	}
	answer, failed := read.FailedReply(call.Prompt, r)
	for i := range q.Checks {
		c := &q.Checks[i]
		if text, applies := read.Checked(q, c, answer); answer != synod.None && failed == nil && applies &&
			len(c.Command) > 0 {
			if why := s.verdict(c, text); why != "" {
				failed = read.Failure(c, why)
			}
		}
	}
	r.Failed = failed
	if failed != nil && s.ctx.Err() != nil {
		r.Status, r.Failed = synod.Dropped, nil
	}
}

// verdict returns why a text fails a command; "": it passes.
func (s *session) verdict(c *synod.Check, text string) string {
	key := checked{c.Name, text}
	s.verdicts.Lock()
	run, ok := s.verdicts.of[key]
	if !ok {
		if s.verdicts.of == nil {
			s.verdicts.of = map[checked]func() string{}
		}
		run = sync.OnceValue(func() string { return execute(s.ctx, c, s.ask.Question.Text, text) })
		s.verdicts.of[key] = run
	}
	s.verdicts.Unlock()
	return run()
}

// execute runs a command on a text; see verdict.
func execute(ctx context.Context, c *synod.Check, question, text string) string {
	got, err := sandbox.Run(ctx, sandbox.Command{Argv: c.Command, Mount: c.Mount, Memory: c.Memory,
		Within:   time.Duration(c.Seconds) * time.Second,
		Question: question, Input: text})
	switch {
	case err != nil:
		return fmt.Sprintf("the program %s", err)
	case got.Passed:
		return ""
	}
	return got.Line
}
