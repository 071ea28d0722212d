package llm

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"sync"

	"synod.dev/synod"
)

// Recorder writes every call and its reply, a JSON line each, in the layout of
// recorded traces: what it writes can be replayed by provider: recorded. Beyond
// that layout's fields a line tells the seat, the purpose, the typed prompt and
// how the call ended.
//
// A line is handed to the system before its reply goes on, so a crash of ours
// loses none. It never stands between a reply and its asker: what cannot be
// written shows in Close, and after the first such line no more are tried, for
// half a line would spoil the next.
type Recorder struct {
	mu   sync.Mutex
	file *os.File
	err  error
}

// NewRecorder appends to a file that only its owner can read.
func NewRecorder(path string) (*Recorder, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("llm: record: %w", err)
	}
	return &Recorder{file: f}, nil
}

// Layer records what passes.
func (w *Recorder) Layer() Layer {
	return func(m Model) Model { return &recording{layered{m}, w} }
}

type recording struct {
	layered
	w *Recorder
}

func (l *recording) Complete(ctx context.Context, r Request) (synod.Reply, error) {
	reply, err := l.Model.Complete(ctx, r)
	l.w.write(recordOf(l.Info(), r, reply, err))
	return reply, err
}

// record is one line. The first nine fields are the trace layout's.
type record struct {
	Benchmark  *string       `json:"benchmark"`
	ItemID     string        `json:"item_id"`
	Model      string        `json:"model"`
	Trial      int           `json:"trial"`
	Question   string        `json:"question,omitempty"`
	Gold       *string       `json:"gold"`
	Response   *string       `json:"response"` // null where there was none
	Answer     *synod.Answer `json:"answer"`   // null but for members that answer typed
	Confidence *float64      `json:"confidence"`
	Correct    *bool         `json:"correct"`

	Kind     Kind          `json:"kind"`
	Identity string        `json:"identity"`
	Seat     string        `json:"seat,omitempty"`
	Purpose  synod.Purpose `json:"purpose"`
	Prompt   *synod.Prompt `json:"prompt"`
	Status   synod.Status  `json:"status"`
	Detail   string        `json:"detail,omitempty"`
	Value    *float64      `json:"value,omitempty"`
	Logprob  *float64      `json:"logprob,omitempty"`
	Usage    synod.Usage   `json:"usage,omitzero"`
	Calls    int           `json:"calls,omitempty"`
	Reused   bool          `json:"reused,omitempty"`
}

func recordOf(info Info, r Request, reply synod.Reply, err error) record {
	l := record{
		Model: info.Name, Trial: r.Sample, Kind: info.Kind, Identity: info.Identity, Seat: r.Seat,
		Purpose: r.Prompt.Purpose, Prompt: r.Prompt, Status: synod.OK,
		Detail: reply.Detail, Logprob: reply.Logprob, Usage: reply.Usage, Calls: reply.Calls, Reused: reply.Reused,
	}
	if q := r.Prompt.Question; q != nil {
		l.ItemID, l.Question = q.ID, q.Text
	}
	switch {
	case err != nil:
		f := AsFailure(err)
		l.Status = f.Status
	case !reply.Typed:
		l.Response = &reply.Text
	case reply.Answer != synod.None:
		l.Answer = &reply.Answer
	default:
		l.Value = &reply.Value
	}
	return l
}

func (w *Recorder) write(r record) {
	b, err := json.Marshal(r)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return
	}
	if err == nil {
		_, err = w.file.Write(append(b, '\n'))
	}
	w.err = err
}

// Close brings the file to the disk itself and reports the first thing that
// could not be written.
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
