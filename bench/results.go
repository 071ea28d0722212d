package bench

import (
	"errors"
	"fmt"
	"iter"
	"runtime"
	"slices"
	"sync"

	"synod.dev/synod"
	"synod.dev/synod/bench/metrics"
	"synod.dev/synod/bench/report"
	"synod.dev/synod/bench/store"
	"synod.dev/synod/bench/task"
	"synod.dev/synod/core/journal"
	"synod.dev/synod/core/sim"
	"synod.dev/synod/council"
	"synod.dev/synod/council/outcome"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/llm"
	"synod.dev/synod/protocol"
)

// result is a finished question, graded.
type result struct {
	metrics.GradedQuestion
	row     *store.Result
	body    store.Body
	sum     *journal.Summary // of body
	noted   []journal.Noted  // of sum
	outcome outcome.Outcome
	took    synod.Tick     // when the last honest voting seat had decided, in virtual time
	elapsed int            // the same by the clock, in milliseconds; 0: the time was virtual
	ranked  []task.Verdict // verdicts of the answers in the order of a panel, best first
	calls   report.Calls
	tokens  report.Tokens
	uses    []llm.Use  // by seat
	times   [][]int    // by seat: Record.Took
	names   [][]string // by seat: Record.Reported
	digest  string
}

// errMoved is returned for a journal that was recorded under the id of another one.
var errMoved = errors.New("the journal belongs to another question")

// Damaged reports whether an error means that a journal was changed or replaced after
// the run wrote it.
func Damaged(err error) bool { return errors.Is(err, journal.ErrChanged) || errors.Is(err, errMoved) }

// roles returns the seats for package metrics.
func (m *RunManifest) roles() []metrics.SeatFacts {
	seats := make([]metrics.SeatFacts, len(m.Seats))
	for i, s := range m.Seats {
		seats[i] = metrics.SeatFacts{Group: s.Group, Adversary: s.Adversary != "", Unasked: s.Unasked}
	}
	return seats
}

// reader reads and grades the journals of a run.
type reader struct {
	*Run
	plan   *plan.Plan
	ending protocol.Ending // nil: the protocol has no named endings
	store  *store.Store
	replay sync.Mutex       // of played
	played *council.Council // see council; nil: nothing was played again
}

// read opens the store of the run. The caller closes the reader.
func (r *Run) read() (*reader, error) {
	s, err := openStore(r.dir)
	if err != nil {
		return nil, err
	}
	x, err := readFrom(r, s)
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return x, nil
}

// readFrom returns a reader of a run in an open store.
func readFrom(r *Run, s *store.Store) (*reader, error) {
	spec, err := r.Spec()
	if err != nil {
		return nil, err
	}
	run := *r
	x := &reader{Run: &run, store: s}
	if x.plan, err = plan.Read(spec); err != nil {
		return nil, fmt.Errorf("bench: the run's council: %w", err)
	}
	planned := x.plan.Seats()
	if n := len(planned); n != len(r.Seats) {
		return nil, fmt.Errorf("bench: %s: the manifest lists %d seats and its council has %d: it was changed", r.dir,
			len(r.Seats), n)
	}
	x.Seats = slices.Clone(r.Seats)
	for i := range x.Seats {
		x.Seats[i].Unasked = planned[i].Unasked
	}
	x.ending, _ = x.plan.Protocol().(protocol.Ending)
	return x, nil
}

func (r *reader) close() error {
	var err error
	if r.played != nil {
		err = r.played.Close()
	}
	return errors.Join(err, r.store.Close())
}

// graded reads and grades the journal of a finished job.
func (r *reader) graded(j job, row *store.Result) (*result, error) {
	b, err := r.body(j, row)
	if err != nil {
		return nil, err
	}
	res, err := r.judged(j, b)
	if err != nil {
		return nil, err
	}
	res.row = row
	return res, nil
}

// judged reads and grades a journal.
func (r *reader) judged(j job, b store.Body) (*result, error) {
	run, err := r.summary(j, b)
	if err != nil {
		return nil, err
	}
	if run.Head.Question.ID != r.id(j) || run.Head.Seed != r.seed(j) {
		return nil, fmt.Errorf("bench: %s: question %s: %w: it is one of question %s", r.dir, r.id(j), errMoved,
			run.Head.Question.ID)
	}
	item, err := r.Items[j.item].Item()
	if err != nil {
		return nil, fmt.Errorf("bench: question %s: %w", r.id(j), err)
	}
	res := &result{body: b, sum: run, noted: run.Noted, digest: run.End.Digest, calls: report.Calls{Planned: r.Planned}}
	res.Question, res.Ungraded = r.id(j), r.Items[j.item].Ungraded
	res.Rounds, res.Confidences = metrics.AnswersByRound(run.Noted, len(r.Seats)),
		metrics.FirstConfidences(run.Noted, len(r.Seats))
	res.Verdicts = grade(item, res.Rounds)
	if res.Replies, err = r.extracted(j, b, &item); err != nil {
		return nil, err
	}
	res.took = r.took(run.Noted)
	res.ranked = r.ranked(item, run.Noted)
	res.Ending, res.Stop = r.ended(run.Noted)
	records := outcome.RecordsOfParts(r.plan, run)
	res.outcome = outcome.Judge(r.plan, plan.Instance{Question: run.Head.Question, Seed: run.Head.Seed}, records)
	if d := res.outcome.Decision; d != synod.None && res.Verdicts[d] == "" { // no member gave it: it was merged
		res.Verdicts[d] = item.Grade(d).Verdict
	}
	res.Agreed, res.Decision, res.Withstands = res.outcome.Answered(), res.outcome.Decision, res.outcome.Withstands
	res.Asked = r.asked(res.outcome.Asked)
	res.Live = (res.outcome.Answered() || res.outcome.Status != outcome.Degraded) && res.outcome.Stopped != sim.Stalled
	res.calls.Made, res.calls.Reused = res.outcome.Calls.Made, res.outcome.Calls.Reused
	res.tokens.Prompt, res.tokens.Completion = res.outcome.Tokens.Prompt, res.outcome.Tokens.Completion
	res.uses = make([]llm.Use, len(records))
	res.elapsed = r.elapsed(records)
	for i := range records {
		res.uses[i] = records[i].Use
		res.times, res.names = append(res.times, records[i].Took), append(res.names, records[i].Reported)
	}
	return res, nil
}

// asked returns which seats were asked, from the names of those that a protocol in stages has asked; nil for others.
func (r *reader) asked(names []string) []bool {
	if _, staged := r.plan.Protocol().(protocol.Staged); !staged {
		return nil
	}
	asked := make([]bool, len(r.Seats))
	for i, s := range r.Seats {
		asked[i] = slices.Contains(names, s.ID)
	}
	return asked
}

// results reads all journals, one on each processor, and calls take for every job, with nil for a job that is not
// finished: question by question, the repeats of each one after the other, as package metrics needs them.
func (r *reader) results(take func(job, *result)) error {
	read := func(j job, row *store.Result) (*result, error) {
		if row == nil {
			return nil, nil
		}
		return r.graded(j, row)
	}
	for next := range eachJob(r, r.store.Results(r.cell), r.byQuestion, read) {
		if next.err != nil {
			return next.err
		}
		take(next.job, next.made)
	}
	return nil
}

// made is what was made of a job.
type made[T any] struct {
	job  job
	made T
	err  error
}

// eachJob calls read for every job of the run, one on each processor, and yields what was made of them in order. rows
// are the results in that order; read gets nil for a job that is not finished. Iteration ends after an error.
func eachJob[T any](r *reader, rows iter.Seq2[store.Result, error], order func(k int) job,
	read func(job, *store.Result) (T, error)) iter.Seq[made[T]] {
	return func(yield func(made[T]) bool) {
		var running sync.WaitGroup
		defer running.Wait() // the caller closes what read uses
		next, stop := iter.Pull2(rows)
		defer stop()
		row, failed, more := next()
		coming := make([]chan made[T], runtime.GOMAXPROCS(0))
		begin := func(k int) {
			c := make(chan made[T], 1) // buffered, because nobody receives after an error
			coming[k%len(coming)] = c
			m := made[T]{job: order(k)}
			var of *store.Result
			switch {
			case failed != nil:
				m.err = fmt.Errorf("bench: %w", failed)
				c <- m
				return
			case more && row.Key == r.at(m.job):
				found := row
				of = &found
				row, failed, more = next()
			}
			running.Go(func() {
				m.made, m.err = read(m.job, of)
				c <- m
			})
		}
		for k := range min(len(coming), r.total()) {
			begin(k)
		}
		for k := range r.total() {
			got := <-coming[k%len(coming)]
			if next := k + len(coming); got.err == nil && next < r.total() {
				begin(next)
			}
			if !yield(got) || got.err != nil {
				return
			}
		}
		if more {
			yield(made[T]{err: fmt.Errorf("bench: %s: a result is of question %d, repeat %d, which the run does not "+
				"have: %w", r.dir, row.Question, row.Repeat, journal.ErrChanged)})
		}
	}
}

// byQuestion returns the job with number k where the repeats of a question follow one another.
func (m *RunManifest) byQuestion(k int) job { return job{k / m.Repeat, k % m.Repeat} }

// grade grades every answer that a seat held in any round.
func grade(item task.Item, rounds [][]synod.Answer) map[synod.Answer]task.Verdict {
	verdicts := map[synod.Answer]task.Verdict{}
	for _, held := range rounds {
		for _, a := range held {
			if _, done := verdicts[a]; !done && a != synod.None {
				verdicts[a] = item.Grade(a).Verdict
			}
		}
	}
	return verdicts
}

// ended returns the ending and the stop round; "" if the protocol has no endings.
func (r *reader) ended(noted []journal.Noted) (string, int) {
	if r.ending == nil {
		return "", 0
	}
	notes, honest := make([][]*synod.Opinion, len(r.Seats)), make([]bool, len(r.Seats))
	for i, s := range r.Seats {
		honest[i] = s.Adversary == ""
	}
	for i := range noted {
		if n := &noted[i]; in(n.Node, len(notes)) {
			notes[n.Node] = append(notes[n.Node], &n.Opinion)
		}
	}
	return r.ending.Ended(notes, honest)
}

// extracted grades the first reply of every honest seat from its text, by both readers.
// Simulated members write no text and have none.
func (r *reader) extracted(j job, b store.Body, item *task.Item) ([]task.Grade, error) {
	if !r.writes() || item.Record().Ungraded {
		return nil, nil
	}
	lines, err := r.lines(j, b)
	if err != nil {
		return nil, err
	}
	replies, err := journal.Answers(lines)
	if err != nil {
		return nil, fmt.Errorf("bench: %s: question %s: %w", r.dir, r.id(j), err)
	}
	var grades []task.Grade
	seen := make([]bool, len(r.Seats))
	for _, reply := range replies {
		if !in(reply.Node, len(seen)) || seen[reply.Node] || r.Seats[reply.Node].Adversary != "" ||
			reply.Status != synod.OK || reply.Text == "" {
			continue
		}
		seen[reply.Node] = true
		grades = append(grades, item.GradeReply(reply.Text))
	}
	return grades, nil
}

// writes reports whether any member writes text.
func (m *RunManifest) writes() bool {
	for _, s := range m.Seats {
		if s.Kind != llm.Simulated {
			return true
		}
	}
	return false
}
