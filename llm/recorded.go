package llm

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"

	"synod.dev/synod"
	"synod.dev/synod/internal/durable"
	"synod.dev/synod/llm/read"
)

var recordedProvider = Provider{
	Kind: Recorded,
	Entry: synod.Entry{Name: "recorded",
		Summary: "real replies from a trace file, replayed by item, model and trial; always labelled as such"},
	About: `path       a JSONL file: benchmark, item_id, model, trial, response, perhaps question, answer, confidence
model      whose replies, by the name in the file
benchmark  only rows of this benchmark
answers    response (read from the reply), source (the row's answer, where it has one) or
           verdict (true or false: whether the row is marked correct)

A row with purpose and about has the reply to another prompt, such as the grades of a text; synod ask --record
writes such rows. All other replies follow from the answer: asked to refine, the member keeps it; asked to
score, it gives 1 to its own answer and 0 to every other.`,
	Settings: func() any { return &recordedConfig{} },
	Uses: func(decode func(any) error) []string {
		var c recordedConfig
		if decode(&c) != nil {
			return nil
		}
		return []string{"reads the recording " + c.Path}
	},
	Open: func(o Opening) (Opened, error) {
		var c recordedConfig
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

// recordedConfig are the settings of a recorded model.
type recordedConfig struct {
	Path      string `yaml:"path" doc:"JSONL file with one reply a row" example:"traces.jsonl"`
	Model     string `yaml:"model" doc:"whose replies, by the name in the rows" example:"GPT-4o"`
	Benchmark string `yaml:"benchmark" doc:"only rows of this benchmark; empty: all"`
	Answers   string `yaml:"answers" doc:"read from the reply's text, the row's own answer, or whether the row is marked correct" enum:"response|source|verdict" default:"response"`
}

// The settings of recordedConfig.Answers. The last two trust the source of the
// recording.
const (
	fromResponse = "response" // read from the text of the reply
	fromSource   = "source"   // the row's answer, where it has one
	fromVerdict  = "verdict"  // true or false: whether the row is marked correct, where only its source could tell
)

// recorded is a model that replays real replies by item, model and trial.
//
// A row of the file is a JSON object with benchmark, item_id (a string or an
// integer), model, trial (from 0) and response (null if it was left out). It may
// have question, answer (as its source read the response), correct (whether its
// source marked it correct) and confidence (in [0,1], stated or by a probe).
// Other keys are ignored. The item is found by the question's ID, else by its
// exact text where the rows have it; the trial is Request.Sample. A recorded
// confidence is returned if the prompt asks for one.
//
// The recording has first answers, so the model never changes its mind: it
// keeps its answer when asked to refine, and scores its own answer 1 and every
// other 0. A row with purpose and about (see Recorder) has the reply to a prompt of one
// protocol, such as the grades of a text. It calls nobody, and every output labels it recorded.
type recorded struct {
	*rowIndex
	file *os.File
	cfg  recordedConfig
	info Info
}

// row is what is read of a row.
type row struct {
	Benchmark  *string         `json:"benchmark"`
	ID         json.RawMessage `json:"item_id"`
	Model      *string         `json:"model"`
	Trial      *int            `json:"trial"`
	Question   *string         `json:"question"`
	Response   json.RawMessage `json:"response"`
	Answer     json.RawMessage `json:"answer"`
	Correct    json.RawMessage `json:"correct"`
	Confidence *float64        `json:"confidence"`
	Purpose    synod.Purpose   `json:"purpose"`
	About      string          `json:"about"`
	Cut        bool            `json:"cut"` // the limit of tokens ended Response
	item       string
	text       *string // Response; nil: null
}

// newRecorded opens a recording and indexes the rows of one model.
func newRecorded(c recordedConfig) (*recorded, error) {
	if c.Path == "" || c.Model == "" {
		return nil, errors.New("a recorded model needs a trace file (path) " +
			"and the name of the model in it whose replies are replayed (model)")
	}
	switch c.Answers = cmp.Or(c.Answers, fromResponse); c.Answers {
	case fromResponse, fromSource, fromVerdict:
	default:
		return nil, fmt.Errorf("answers is %q; it must be response, source or verdict", c.Answers)
	}
	f, err := durable.Open(c.Path)
	if err != nil {
		return nil, fmt.Errorf("recording: %w", err)
	}
	m := &recorded{file: f, cfg: c}
	var digest [sha256.Size]byte
	if m.rowIndex, digest, err = indexOf(f, c); err != nil {
		return nil, errors.Join(fmt.Errorf("recording %s: %w", c.Path, err), f.Close())
	}
	m.info = Info{Kind: Recorded, Name: c.Model}
	m.info.Identity = fmt.Sprintf("recorded %s benchmark=%s sha256:%x", c.Model, c.Benchmark, digest)
	if c.Answers != fromResponse {
		m.info.Identity += " answers=" + c.Answers
	}
	return m, nil
}

// Info labels the model as recorded.
func (m *recorded) Info() Info { return m.info }

// GivesHiddenConfidence reports whether any row has a confidence.
func (m *recorded) GivesHiddenConfidence() bool { return m.confident }

// Close closes the file.
func (m *recorded) Close() error { return m.file.Close() }

// Complete returns the recorded reply to a first question, and derives the replies to
// other prompts from it.
func (m *recorded) Complete(_ context.Context, r Request) (synod.Reply, error) {
	p := r.Prompt
	if p.Purpose == synod.Refining {
		return synod.Reply{Status: synod.OK, Typed: true, Answer: p.Own, Reused: true}, nil
	}
	if m.purposes[p.Purpose] {
		reply, f := m.other(p, r.Sample)
		if f != nil {
			return failed(synod.Reply{}, f)
		}
		return reply, nil
	}
	reply, f := m.reply(p.Question, r.Sample)
	if f != nil {
		return failed(synod.Reply{}, f)
	}
	switch p.Purpose {
	case synod.Answering:
		if p.ConfidenceMode == synod.NoConfidence {
			reply.Confidence = nil
		}
		return reply, nil
	case synod.Scoring:
		read.SetVersion(&reply)
		own, _, ok := read.Answer(p.Question, &reply, p.Exact)
		if !ok {
			return failed(synod.Reply{}, failure(synod.Unreadable, "the recorded reply has no answer to compare with"))
		}
		score := synod.Reply{Status: synod.OK, Typed: true, Reused: true}
		if own == p.Candidate {
			score.Value = 1
		}
		return score, nil
	}
	return failed(synod.Reply{}, missing("a recorded model cannot reply to a prompt of purpose %s", p.Purpose))
}

// Replies reports whether the recording has replies to prompts of a purpose, or they follow from its answers.
func (m *recorded) Replies(purpose synod.Purpose) bool {
	switch purpose {
	case synod.Answering, synod.Scoring, synod.Refining:
		return true
	}
	return m.purposes[purpose]
}

// other reads the recorded reply to a prompt that does not ask for an answer. Members of one model share the rows.
func (m *recorded) other(p *synod.Prompt, trial int) (synod.Reply, *Failure) {
	item, _ := m.find(p.Question)
	rows := m.others[otherKey{item, p.Purpose, aboutOf(p)}]
	if len(rows) == 0 {
		return synod.Reply{}, missing("%s has no recorded reply to this prompt of purpose %s", m.info.Name, p.Purpose)
	}
	r, f := m.rowAt(item, rows[trial%len(rows)])
	if f != nil {
		return synod.Reply{}, f
	}
	return synod.Reply{Status: synod.OK, Text: *r.text, Cut: r.Cut, Reused: true}, nil
}

// rowAt reads a row with a reply.
func (m *recorded) rowAt(item string, at rowPlace) (row, *Failure) {
	line := make([]byte, at.size)
	if _, err := m.file.ReadAt(line, at.at); err != nil {
		return row{}, missing("the recording cannot be read: %w", err)
	}
	r, err := readRow(line)
	switch {
	case err != nil || r.item != item:
		return row{}, missing("the recording has changed since it was opened")
	case r.text == nil:
		return row{}, missing("the reply to item %s was left out of the recording", item)
	}
	return r, nil
}

// reply reads a recorded reply.
func (m *recorded) reply(q *synod.Question, trial int) (synod.Reply, *Failure) {
	item, rows := m.find(q)
	if rows == nil {
		return synod.Reply{}, missing("%s has no recorded reply to this question", m.info.Name)
	}
	i, ok := slices.BinarySearchFunc(rows, trial, func(r rowPlace, trial int) int {
		return cmp.Compare(r.trial, trial)
	})
	if !ok {
		return synod.Reply{}, missing("%s has no recorded trial %d of item %s, only %d from trial %d on",
			m.info.Name, trial, item, len(rows), rows[0].trial)
	}
	r, f := m.rowAt(item, rows[i])
	if f != nil {
		return synod.Reply{}, f
	}
	reply := synod.Reply{Status: synod.OK, Text: *r.text, Cut: r.Cut, Confidence: r.Confidence, Reused: true}
	var answer string
	var correct *bool // nil: null
	switch {
	case m.cfg.Answers == fromVerdict && json.Unmarshal(r.Correct, &correct) == nil && correct != nil:
		reply.Typed, reply.Answer = true, synod.Answer(strconv.FormatBool(*correct))
	case m.cfg.Answers == fromVerdict:
		return synod.Reply{}, missing("the recording does not say whether the reply to item %s is correct", item)
	case m.cfg.Answers == fromSource && json.Unmarshal(r.Answer, &answer) == nil && answer != "":
		reply.Typed, reply.Answer = true, synod.Answer(answer)
	}
	return reply, nil
}

func missing(format string, args ...any) *Failure {
	return failure(synod.Unavailable, format, args...)
}

// find returns the id and the rows of a question; no rows if there are none.
func (m *recorded) find(q *synod.Question) (item string, rows []rowPlace) {
	if q.ID != "" {
		if rows := m.items[q.ID]; rows != nil {
			return q.ID, rows
		}
	}
	if !q.Plain() { // its text alone is another question
		return itemID(q), m.items[itemID(q)]
	}
	item = m.texts[hashString(0, q.Text)]
	return item, m.items[item]
}

// readRow reads a line strictly: a key that is missing or of the wrong type is an
// error that names it. A line that a Recorder wrote has its checksum.
func readRow(line []byte) (row, error) {
	var r row
	line, _, err := durable.Unseal(line)
	if err != nil {
		return r, fmt.Errorf("%w (remove the sum of a line that you have changed yourself)", err)
	}
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
	case r.Confidence != nil && !(*r.Confidence >= 0 && *r.Confidence <= 1):
		return r, fmt.Errorf("confidence is %v; it must be between 0 and 1, or null where none was recorded",
			*r.Confidence)
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

// TakesPart accepts every part: a recorded reply was given to the question with its parts, which identify it.
func (m *recorded) TakesPart(*synod.Part) error { return nil }
