package llm

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"synod.dev/synod"
	"synod.dev/synod/internal/durable"
	"synod.dev/synod/internal/filelock"
)

// Recorder writes the answers of models to questions, one JSON object a line, in
// the layout of recorded traces, so that the provider recorded can replay them.
// The layout has one row for a model's answer to an item. A reply to a prompt of one
// protocol, such as grades, has a row with the keys purpose and about, too; scores, refinements,
// second requests for an answer and failed calls are in the journal only. It is safe for concurrent use.
//
// A row's trial counts the answers of that model to that item in the file: each
// seat of a model and each repeat gets one. A question without an ID is named by
// its digest.
//
// A line is written before its reply is returned, so that a crash of this program
// loses none. A failure to write does not fail the call: Err and Close return it, and
// nothing more is written, because half a line would spoil the next. One process at
// a time can record into a file.
type Recorder struct {
	mu     sync.Mutex
	file   *os.File
	trials map[trialKey]int
	err    error
}

type trialKey struct{ item, model, about string }

// record is one line, sealed. The first ten fields are those of the trace layout; the
// verdicts of a source are null.
type record struct {
	Benchmark  string   `json:"benchmark"`
	ItemID     string   `json:"item_id"`
	Model      string   `json:"model"`
	Trial      int      `json:"trial"`
	Question   string   `json:"question"`
	Gold       *string  `json:"gold"`
	Response   string   `json:"response"`
	Answer     *string  `json:"answer"`
	Confidence *float64 `json:"confidence"` // by a probe, or of a typed member; a stated confidence is in Response
	Correct    *bool    `json:"correct"`

	Kind     Kind           `json:"kind"`
	Identity string         `json:"identity"`
	Seat     string         `json:"seat,omitempty"`
	Sample   int            `json:"sample"`
	Seed     uint64         `json:"seed,omitempty"`
	Form     synod.Form     `json:"form"`
	Options  []synod.Option `json:"options,omitempty"`
	Logprob  *float64       `json:"logprob,omitempty"`
	Usage    synod.Usage    `json:"usage,omitzero"`
	Cut      bool           `json:"cut,omitempty"` // the limit of tokens ended Response

	// Purpose and About are absent in the row of an answer. About is aboutOf the prompt.
	Purpose synod.Purpose `json:"purpose,omitempty"`
	About   string        `json:"about,omitempty"`
}

// recordedAs returns the purpose and the subject under which a reply is recorded: both are "" for an answer, and false
// says that it is not recorded.
func recordedAs(p *synod.Prompt) (purpose synod.Purpose, about string, ok bool) {
	if p.Unread != "" { // the answer has its row, and no other one is an answer to the item
		return "", "", false
	}
	switch p.Purpose {
	case synod.Answering:
		return "", "", true
	case synod.Scoring, synod.Weighing, synod.Refining:
		return "", "", false
	}
	return p.Purpose, aboutOf(p), p.Goal == "" // an adversary's own prompts are no replies of a member
}

// aboutOf identifies what a prompt is about: the texts in it and what its protocol adds.
func aboutOf(p *synod.Prompt) string {
	b, err := json.Marshal(synod.Prompt{Purpose: p.Purpose, Own: p.Own, Candidate: p.Candidate, Peers: p.Peers,
		Detail: p.Detail})
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// NewRecorder opens or makes a file that only its owner can read. An existing
// recording is continued, and half a line that a crash has left at its end is
// removed. It fails if the file is anything else.
func NewRecorder(path string) (*Recorder, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("llm: record: %w", err)
	}
	w := &Recorder{file: f, trials: map[trialKey]int{}}
	if err = filelock.Hold(f); err == nil {
		err = w.resume()
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("llm: record: %s: %w", path, err), f.Close())
	}
	return w, nil
}

// resume counts the rows of an existing recording.
func (w *Recorder) resume() error {
	info, err := w.file.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return err
	}
	all, err := io.ReadAll(w.file)
	if err != nil {
		return err
	}
	whole := bytes.LastIndexByte(all, '\n') + 1
	n := 0
	for line := range bytes.Lines(all[:whole]) {
		n++
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		line, _, err := durable.Unseal(line)
		if err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
		var r record
		if err := json.Unmarshal(line, &r); err != nil || r.Model == "" {
			return fmt.Errorf("line %d is not a row of a recording", n)
		}
		key := trialKey{r.ItemID, r.Model, r.About}
		w.trials[key] = max(w.trials[key], r.Trial+1)
	}
	switch torn := string(all[whole:]); {
	case torn == "":
		return nil
	case strings.HasPrefix(torn, rowBegins), strings.HasPrefix(rowBegins, torn), strings.HasPrefix(torn, plainRow),
		strings.HasPrefix(plainRow, torn):
		return w.file.Truncate(int64(whole))
	}
	return errors.New("the last line is not a row of a recording")
}

// How each row begins, and how one of an earlier version does, which has no checksum.
const (
	rowBegins = `{"sum":"`
	plainRow  = `{"benchmark":`
)

// layer records the answers that pass through.
func (w *Recorder) layer() layer {
	return func(m Model) Model { return &recording{layered{m}, w} }
}

type recording struct {
	layered
	w *Recorder
}

func (l *recording) Complete(ctx context.Context, r Request) (synod.Reply, error) {
	reply, err := l.Model.Complete(ctx, r)
	p := r.Prompt
	if purpose, about, ok := recordedAs(p); ok && err == nil && reply.Text != "" && p.Question != nil {
		l.w.write(record{Purpose: purpose, About: about,
			ItemID: itemID(p.Question), Model: l.Info().Name, Question: p.Question.Text, Response: reply.Text,
			Kind: l.Info().Kind, Identity: l.Info().Identity, Seat: r.Seat, Sample: r.Sample, Seed: p.Seed,
			Form: p.Question.Form, Options: p.Question.Options,
			Logprob: reply.Logprob, Confidence: reply.Confidence, Usage: reply.Usage, Cut: reply.Cut,
		})
	}
	return reply, err
}

func itemID(q *synod.Question) string {
	if q.ID != "" {
		return q.ID
	}
	b, _ := json.Marshal(q)
	return fmt.Sprintf("q-%x", sha256.Sum256(b))[:18]
}

func (w *Recorder) write(r record) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return
	}
	key := trialKey{r.ItemID, r.Model, r.About}
	r.Trial = w.trials[key]
	w.trials[key]++
	b, err := durable.EncodeSealed(r)
	if err == nil {
		_, err = w.file.Write(b)
	}
	w.err = err
}

// Err returns the first error of writing.
func (w *Recorder) Err() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return fmt.Errorf("llm: record: %w", w.err)
	}
	return nil
}

// Close syncs and closes the file and returns the first error of writing.
func (w *Recorder) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.file.Sync(); w.err == nil {
		w.err = err
	}
	if err := w.file.Close(); w.err == nil {
		w.err = err
	}
	if w.err != nil {
		return fmt.Errorf("llm: record: %w", w.err)
	}
	return nil
}
