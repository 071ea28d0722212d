package llm

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"

	"synod.dev/synod"
	"synod.dev/synod/read"
)

var recordedProvider = Provider{
	Entry: synod.Entry{Name: "recorded", Summary: "real replies from a trace file, replayed by item, model and trial; always labelled as such"},
	About: `path       a JSONL file: benchmark, item_id, model, trial, response, perhaps question, answer, confidence
model      whose replies, by the name in the file
benchmark  only rows of this benchmark
answers    response (read from the reply) or source (the row's answer, where it has one)

The file has first answers and nothing else: asked to refine, the member keeps its answer; asked to
score, it gives 1 to its own answer and 0 to every other.`,
	Settings: func() any { return &RecordedConfig{} },
	Open: func(o Opening) (Opened, error) {
		var c RecordedConfig
		if err := o.Decode(&c); err != nil {
			return Opened{}, err
		}
		m, err := newRecorded(c)
		if err != nil {
			return Opened{}, err
		}
		return Opened{Model: m}, nil
	},
}

// RecordedConfig says which recording a member replays.
type RecordedConfig struct {
	Path      string `yaml:"path"`      // JSONL, a row a reply
	Model     string `yaml:"model"`     // whose replies, as the rows name it
	Benchmark string `yaml:"benchmark"` // only rows of this benchmark; "": all
	Answers   string `yaml:"answers"`   // response: read from the reply; source: as the recording's source read it, where it did; verdict: true or false, as its source called it right; "": response
}

// The settings of Answers. Those but response trust the recording's source.
const (
	byResponse = "response"
	bySource   = "source"
	byVerdict  = "verdict" // for replies that only their source could grade, put as questions of the form true or false
)

// recorded is a member that replays real replies by (item, model, trial).
//
// A row of the file is a JSON object with benchmark, item_id (a string or an
// integer), model, trial (from 0) and response (null where it was left out), and
// may have question, answer (as its source read the response), correct (whether
// its source called it right) and confidence (in [0,1], stated or by a probe);
// other keys are not read. The item is found by the
// question's ID, else by its exact text where the rows have it; the trial is the
// repeat that is asked for (Request.Sample). A recorded confidence comes with the
// reply where one is asked for.
//
// There is a recording of the first answer and of nothing else, so this member
// is a stubborn one: asked to refine, it keeps its answer; asked to score, it
// gives 1 to the answer that it has on tape and 0 to every other. It calls
// nobody, and every output labels it recorded.
type recorded struct {
	file  *os.File
	items map[string][]reel // by item id
	texts map[uint64]string // item id by hash of the question's text
	cfg   RecordedConfig
	sure  bool // a row has a confidence
	info  Info
}

// reel is where a row stands in the file: replies may be long, so they stay there.
type reel struct {
	trial, size int
	at          int64
}

// row is what is read of a row.
type row struct {
	Benchmark *string         `json:"benchmark"`
	ID        json.RawMessage `json:"item_id"`
	Model     *string         `json:"model"`
	Trial     *int            `json:"trial"`
	Question  *string         `json:"question"`
	Response  json.RawMessage `json:"response"`
	Answer    json.RawMessage `json:"answer"`
	Correct   json.RawMessage `json:"correct"`
	Sure      *float64        `json:"confidence"`
	item      string
	text      *string // Response; nil: null
}

// newRecorded opens a recording and indexes the rows of one model.
func newRecorded(c RecordedConfig) (*recorded, error) {
	if c.Path == "" || c.Model == "" {
		return nil, errors.New("a recorded model needs a trace file (path) and whose replies in it to replay (model)")
	}
	if c.Answers = cmp.Or(c.Answers, byResponse); !slices.Contains([]string{byResponse, bySource, byVerdict}, c.Answers) {
		return nil, fmt.Errorf("answers is %q; it must be response, source or verdict", c.Answers)
	}
	f, err := os.Open(c.Path)
	if err != nil {
		return nil, fmt.Errorf("recording: %w", err)
	}
	t := &recorded{file: f, items: map[string][]reel{}, texts: map[uint64]string{}, cfg: c}
	digest, err := t.index(c)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("recording %s: %w", c.Path, err), f.Close())
	}
	t.info = Info{Kind: Recorded, Name: c.Model, Identity: fmt.Sprintf("recorded %s benchmark=%s sha256:%x", c.Model, c.Benchmark, digest)}
	if c.Answers != byResponse {
		t.info.Identity += " answers=" + c.Answers
	}
	return t, nil
}

// Info labels the member as recorded.
func (t *recorded) Info() Info { return t.info }

// CanConfide reports whether any confidence is on tape.
func (t *recorded) CanConfide() bool { return t.sure }

// Close closes the file.
func (t *recorded) Close() error { return t.file.Close() }

// Complete replays the reply on tape, or keeps to it.
func (t *recorded) Complete(_ context.Context, r Request) (synod.Reply, error) {
	p := r.Prompt
	if p.Purpose == synod.Refining {
		return synod.Reply{Status: synod.OK, Typed: true, Answer: p.Own, Reused: true}, nil
	}
	said, err := t.reply(p.Question, r.Sample)
	if err != nil {
		return failed(synod.Reply{}, AsFailure(err))
	}
	switch p.Purpose {
	case synod.Answering:
		if p.Confide == synod.ConfideNothing {
			said.Confidence = nil
		}
		return said, nil
	case synod.Scoring:
		own, _, ok := read.Answer(p.Question, &said, p.Exact)
		if !ok {
			return failed(synod.Reply{}, &Failure{Status: synod.Unreadable, Err: errors.New("the recorded reply holds no answer to judge by")})
		}
		reply := synod.Reply{Status: synod.OK, Typed: true, Reused: true}
		if own == p.Candidate {
			reply.Value = 1
		}
		return reply, nil
	}
	return failed(synod.Reply{}, &Failure{Status: synod.Unavailable, Err: fmt.Errorf("a recording cannot be asked to %s", p.Purpose)})
}

// reply is what is on tape. Its errors are *Failure.
func (t *recorded) reply(q *synod.Question, trial int) (synod.Reply, error) {
	item, reels := t.find(q)
	if reels == nil {
		return synod.Reply{}, missing("%s has no recorded reply to this question", t.info.Name)
	}
	i, ok := slices.BinarySearchFunc(reels, trial, func(r reel, trial int) int { return cmp.Compare(r.trial, trial) })
	if !ok {
		return synod.Reply{}, missing("%s has no trial %d of item %s on tape, only %d from trial %d on", t.info.Name, trial, item, len(reels), reels[0].trial)
	}
	line := make([]byte, reels[i].size)
	if _, err := t.file.ReadAt(line, reels[i].at); err != nil {
		return synod.Reply{}, missing("the recording cannot be read: %w", err)
	}
	r, err := readRow(line)
	switch {
	case err != nil || r.item != item:
		return synod.Reply{}, missing("the recording has changed since it was opened")
	case r.text == nil:
		return synod.Reply{}, missing("the reply to item %s was left out of the recording", item)
	}
	said := synod.Reply{Status: synod.OK, Text: *r.text, Confidence: r.Sure, Reused: true}
	var read string
	var right *bool // nil: null
	switch {
	case t.cfg.Answers == byVerdict && json.Unmarshal(r.Correct, &right) == nil && right != nil:
		said.Typed, said.Answer = true, synod.Answer(strconv.FormatBool(*right))
	case t.cfg.Answers == byVerdict:
		return synod.Reply{}, missing("the recording does not say whether the reply to item %s is right", item)
	case t.cfg.Answers == bySource && json.Unmarshal(r.Answer, &read) == nil && read != "":
		said.Typed, said.Answer = true, synod.Answer(read)
	}
	return said, nil
}

func missing(format string, args ...any) *Failure {
	return &Failure{Status: synod.Unavailable, Err: fmt.Errorf(format, args...)}
}

func (t *recorded) find(q *synod.Question) (string, []reel) {
	if q.ID != "" {
		if reels := t.items[q.ID]; reels != nil {
			return q.ID, reels
		}
	}
	item := t.texts[hashString(0, q.Text)]
	return item, t.items[item]
}

// readRow reads a line strictly: a key that is missing or of the wrong type is an
// error that names it.
func readRow(line []byte) (row, error) {
	var r row
	if err := json.Unmarshal(line, &r); err != nil {
		return r, err
	}
	switch {
	case r.Benchmark == nil:
		return r, errors.New("benchmark is missing")
	case r.Model == nil:
		return r, errors.New("model is missing")
	case r.Trial == nil || *r.Trial < 0:
		return r, errors.New("trial is missing or negative")
	case r.Response == nil:
		return r, errors.New("response is missing; a reply that was left out is null")
	case r.Sure != nil && !(*r.Sure >= 0 && *r.Sure <= 1):
		return r, fmt.Errorf("confidence is %v; it must be between 0 and 1, or null where none was recorded", *r.Sure)
	}
	if err := json.Unmarshal(r.Response, &r.text); err != nil {
		return r, errors.New("response is neither text nor null")
	}
	if json.Unmarshal(r.ID, &r.item) == nil && r.item != "" {
		return r, nil
	}
	n, err := strconv.ParseInt(string(r.ID), 10, 64)
	if err != nil {
		return r, errors.New("item_id is missing, or neither text nor an integer")
	}
	r.item = strconv.FormatInt(n, 10)
	return r, nil
}
