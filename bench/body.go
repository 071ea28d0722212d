package bench

import (
	"context"
	"fmt"
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/bench/store"
	"synod.dev/synod/core/journal"
	"synod.dev/synod/council"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/llm"
)

// The first byte of a stored journal says what follows: its lines, or its packed form. The journals of
// simulated members, of which there may be millions, are packed: their replies are stored, and what the council
// did with them is found by playing it again, and has the digest that is stored.
const (
	bodyLines  = 'l'
	bodyPacked = 'p'
)

// bodyOf returns a finished journal as it is stored.
func bodyOf(f *journal.Finished) store.Body {
	if f.Packed != nil {
		return store.Body{Text: append([]byte{bodyPacked}, f.Packed.Text...), Words: f.Packed.Words}
	}
	return store.Body{Text: append([]byte{bodyLines}, f.Lines...)}
}

// finished returns the stored journal of a job; nil if the job is not finished.
func (r *reader) finished(j job) (*store.Result, error) {
	if r.store == nil {
		return nil, nil
	}
	row, err := r.store.Result(r.at(j))
	if err != nil {
		return nil, fmt.Errorf("bench: %w", err)
	}
	return row, nil
}

// head is the head of the journal of a job, as far as it follows from the run.
func (r *reader) head(j job) journal.Head {
	return journal.Head{Program: r.Program, Question: r.Items[j.item].Question, Seed: r.seed(j), Prompts: r.Prompts,
		Identities: journal.DerivedIdentities}
}

// body returns the stored journal of a result.
func (r *reader) body(j job, row *store.Result) (store.Body, error) {
	b, err := r.store.Body(row, r.about(j))
	if err == nil && (len(b.Text) == 0 || b.Text[0] != bodyLines && b.Text[0] != bodyPacked) {
		err = fmt.Errorf("it is no journal: %w", journal.ErrChanged)
	}
	if err != nil {
		return b, fmt.Errorf("bench: question %s: %w", r.id(j), err)
	}
	return b, nil
}

// summary reads what a report needs of a stored journal.
func (r *reader) summary(j job, b store.Body) (sum *journal.Summary, err error) {
	if b.Text[0] == bodyPacked {
		sum, err = (&journal.Packed{Text: b.Text[1:], Words: b.Words}).Summary(r.head(j))
	} else {
		sum, err = journal.Summarize(b.Text[1:])
	}
	if err == nil && sum.End == nil {
		err = fmt.Errorf("the journal has no end: %w", journal.ErrChanged)
	}
	if err != nil {
		return nil, fmt.Errorf("bench: %s: question %s: %w", r.dir, r.id(j), err)
	}
	return sum, nil
}

// lines returns the lines of a stored journal of a job.
func (r *reader) lines(j job, b store.Body) ([]byte, error) {
	if b.Text[0] == bodyLines {
		return b.Text[1:], nil
	}
	sum, err := r.summary(j, b)
	if err != nil {
		return nil, err
	}
	played := journal.InMemory()
	if err := r.again(j, sum, played, nil); err != nil {
		return nil, err
	}
	f, err := played.Take(again)
	if err != nil {
		return nil, fmt.Errorf("bench: question %s cannot be played again: %w", r.id(j), err)
	}
	return f.Lines, nil
}

// again is the id of the run of a journal that is played again.
const again = "again"

// again plays a packed journal again, of which it is given what was stored: a council is given its replies. What it
// writes into the segment has the digest that is stored. noted is called with every opinion, which it may not keep; it
// may be nil.
func (r *reader) again(j job, sum *journal.Summary, into *journal.Segment,
	noted func(synod.NodeID, *synod.Opinion)) error {
	c, err := r.council()
	if err != nil {
		return err
	}
	known := &journal.Run{Head: sum.Head, Replies: make(journal.Replies, len(sum.Replies))}
	known.Head.Instance = string(c.Plan().InstanceID(plan.Instance{Question: known.Head.Question,
		Seed: known.Head.Seed}))
	known.Head.Prompts = c.Plan().DigestsFor(&known.Head.Question)
	for i := range sum.Replies {
		known.Replies[sum.Replies[i].Key] = sum.Replies[i].Reply
	}
	o, err := c.Decide(context.Background(), council.Ask{Question: known.Head.Question, Seed: known.Head.Seed,
		Sample: j.repeat, Segment: into, Journal: again, Resume: known, Program: r.Program, Final: true, Noted: noted})
	if err != nil {
		return fmt.Errorf("bench: question %s cannot be played again: %w", r.id(j), err)
	}
	if o.Digest != sum.End.Digest {
		return fmt.Errorf("bench: question %s: it has the digest %s when it is played again, and %s is "+
			"stored: the program that wrote it (%s) may have played it in another way: use that program", r.id(j),
			o.Digest, sum.End.Digest, r.Program)
	}
	return nil
}

// shown is what pages and logs show of the journal of a finished job.
type shown struct {
	noted []journal.Noted // without ticks
	run   *journal.Run    // nil: the members are simulated, and have written no text
}

// shown reads what pages and logs show of a graded job.
func (r *reader) shown(j job, res *result) (*shown, error) {
	if res.body.Text[0] == bodyLines {
		run, err := r.parse(j, res.body)
		if err != nil {
			return nil, err
		}
		return &shown{run.Opinions(), run}, nil
	}
	s := &shown{noted: make([]journal.Noted, 0, len(res.noted))}
	return s, r.again(j, res.sum, journal.Digesting(), func(node synod.NodeID, o *synod.Opinion) {
		s.noted = append(s.noted, journal.Noted{Node: node, Opinion: kept(o)})
	})
}

// kept returns a copy of what is shown of an opinion, whose memory a later question uses again.
func kept(o *synod.Opinion) synod.Opinion {
	c := *o
	c.From, c.Scores, c.Retained = slices.Clone(o.From), slices.Clone(o.Scores), slices.Clone(o.Retained)
	c.Dropped, c.Silent, c.Suspects, c.Record = slices.Clone(o.Dropped), slices.Clone(o.Silent), nil, nil
	if o.Confidence != nil {
		sure := *o.Confidence
		c.Confidence = &sure
	}
	return c
}

// load reads the whole journal of a finished job.
func (r *reader) load(j job, row *store.Result) (*journal.Run, error) {
	b, err := r.body(j, row)
	if err != nil {
		return nil, err
	}
	return r.parse(j, b)
}

// parse reads a whole journal.
func (r *reader) parse(j job, b store.Body) (*journal.Run, error) {
	lines, err := r.lines(j, b)
	if err != nil {
		return nil, err
	}
	run, err := journal.Parse(lines)
	if err != nil {
		return nil, fmt.Errorf("bench: %s: question %s: %w", r.dir, r.id(j), err)
	}
	return run, nil
}

// council returns the council of simulated members that plays packed journals again.
func (r *reader) council() (*council.Council, error) {
	r.replay.Lock()
	defer r.replay.Unlock()
	if r.played == nil {
		spec, err := r.Spec()
		if err != nil {
			return nil, err
		}
		if r.played, err = council.Convene(spec, llm.Env{Truth: r.truth()}); err != nil {
			return nil, err
		}
	}
	return r.played, nil
}
