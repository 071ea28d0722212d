// Package child keeps a ledger in a child process, so that a failure of the libraries that it needs
// does not end this one: Start is the side of the parent, Serve that of the child. They speak JSON,
// one value a line, over the child's stdin and stdout.
//
// The package has rank 3: it uses ledger.
package child

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"sync"
	"time"

	"synod.dev/synod/record/ledger"
)

// request is what the parent asks.
type request struct {
	ID    uint64 `json:"id"`
	Do    string `json:"do"` // append, head, entry, prove, consistency
	Entry []byte `json:"entry,omitempty"`
	At    uint64 `json:"at,omitempty"` // an index, or the size of an earlier head
}

// reply is what the child answers. The first one, with the ID 0, says that the ledger is open or why not.
type reply struct {
	ID    uint64   `json:"id"`
	At    uint64   `json:"at,omitempty"`
	Value []byte   `json:"value,omitempty"` // an entry, or a head or a proof as a file
	Path  [][]byte `json:"path,omitempty"`
	Error string   `json:"error,omitempty"`
	Waits bool     `json:"waits,omitempty"` // the error is ledger.ErrWaits
}

// Ledger is the ledger of a child process. It implements ledger.Ledger.
type Ledger struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	done chan struct{} // closed when the child has ended

	mu      sync.Mutex
	next    uint64
	waiting map[uint64]chan reply
	failed  error
	head    *ledger.SignedHead // the last one that was read
}

// The times of a parent.
const (
	openTime  = time.Minute
	readTime  = 10 * time.Second
	closeTime = 15 * time.Second
)

// Start starts a program that calls Serve, hands it its settings, and waits until its ledger is open. stderr gets
// what the program logs.
func Start(ctx context.Context, program string, args []string, settings any, stderr io.Writer) (*Ledger, error) {
	first, err := json.Marshal(settings)
	if err != nil {
		return nil, fmt.Errorf("ledger: %w", err)
	}
	l := &Ledger{cmd: exec.Command(program, args...), done: make(chan struct{}), waiting: map[uint64]chan reply{}}
	l.cmd.Stderr = stderr
	var out io.ReadCloser
	if l.in, err = l.cmd.StdinPipe(); err == nil {
		out, err = l.cmd.StdoutPipe()
	}
	if err == nil {
		err = l.cmd.Start()
	}
	if err != nil {
		return nil, fmt.Errorf("ledger: %s: %w", program, err)
	}
	open := make(chan reply, 1)
	l.waiting[0], l.next = open, 1
	go l.read(out)
	if _, err = l.in.Write(append(first, '\n')); err == nil {
		select {
		case r := <-open:
			if r.Error != "" {
				err = errors.New(r.Error)
			}
		case <-time.After(openTime):
			err = errors.New("it does not open its ledger")
		case <-ctx.Done():
			err = ctx.Err()
		}
	}
	if err == nil {
		_, err = l.fetch(ctx)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("ledger: %s: %w", program, err), l.Close())
	}
	return l, nil
}

// read hands out the replies until the child ends.
func (l *Ledger) read(out io.Reader) {
	d := json.NewDecoder(out)
	var err error
	for {
		var r reply
		if err = d.Decode(&r); err != nil {
			break
		}
		l.mu.Lock()
		to := l.waiting[r.ID]
		delete(l.waiting, r.ID)
		l.mu.Unlock()
		if to != nil {
			to <- r
		}
	}
	ended := l.cmd.Wait()
	l.mu.Lock()
	l.failed = fmt.Errorf("ledger: the process of the ledger has ended: %w", errors.Join(ended, err))
	for id, to := range l.waiting {
		to <- reply{ID: id, Error: l.failed.Error()}
	}
	l.waiting = nil
	l.mu.Unlock()
	close(l.done)
}

// Failed implements ledger.Failing: it returns why the child has ended; nil if it has not.
func (l *Ledger) Failed() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.failed
}

// ask sends a request and waits for its reply.
func (l *Ledger) ask(ctx context.Context, q request) (reply, error) {
	to := make(chan reply, 1)
	l.mu.Lock()
	if l.failed != nil {
		defer l.mu.Unlock()
		return reply{}, l.failed
	}
	q.ID, l.next = l.next, l.next+1
	l.waiting[q.ID] = to
	b, err := json.Marshal(q)
	if err == nil {
		_, err = l.in.Write(append(b, '\n'))
	}
	l.mu.Unlock()
	if err != nil {
		return reply{}, fmt.Errorf("ledger: the process of the ledger: %w", err)
	}
	select {
	case r := <-to:
		switch {
		case r.Waits:
			return r, ledger.ErrWaits
		case r.Error != "":
			return r, errors.New(r.Error)
		}
		return r, nil
	case <-ctx.Done():
		l.mu.Lock()
		delete(l.waiting, q.ID)
		l.mu.Unlock()
		return reply{}, context.Cause(ctx)
	}
}

// Append implements ledger.Ledger.
func (l *Ledger) Append(ctx context.Context, e *ledger.Entry) (uint64, error) {
	b, err := e.Encode()
	if err != nil {
		return 0, err
	}
	r, err := l.ask(ctx, request{Do: "append", Entry: b})
	return r.At, err
}

func (l *Ledger) get(do string, at uint64) (reply, error) {
	ctx, cancel := context.WithTimeout(context.Background(), readTime)
	defer cancel()
	return l.ask(ctx, request{Do: do, At: at})
}

func (l *Ledger) fetch(ctx context.Context) (*ledger.SignedHead, error) {
	r, err := l.ask(ctx, request{Do: "head"})
	if err != nil {
		return nil, err
	}
	h, err := ledger.ParseHead(r.Value)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.head = h
	return h, nil
}

// Head implements ledger.Ledger. If the child does not answer it is the last head that it gave.
func (l *Ledger) Head() *ledger.SignedHead {
	ctx, cancel := context.WithTimeout(context.Background(), readTime)
	defer cancel()
	if h, err := l.fetch(ctx); err == nil {
		return h
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.head
}

// Entry implements ledger.Ledger.
func (l *Ledger) Entry(index uint64) (*ledger.Entry, error) {
	r, err := l.get("entry", index)
	if err != nil {
		return nil, err
	}
	return ledger.DecodeEntry(r.Value)
}

// Prove implements ledger.Ledger.
func (l *Ledger) Prove(index uint64) (*ledger.Proof, error) {
	r, err := l.get("prove", index)
	if err != nil {
		return nil, err
	}
	return ledger.ParseProof(r.Value)
}

// Consistency implements ledger.Ledger.
func (l *Ledger) Consistency(size uint64) ([][]byte, error) {
	r, err := l.get("consistency", size)
	return r.Path, err
}

// Close ends the child: it ends when its stdin does, and is killed if it does not.
func (l *Ledger) Close() error {
	err := l.in.Close()
	select {
	case <-l.done:
	case <-time.After(closeTime):
		err = errors.Join(err, errors.New("ledger: the process of the ledger did not end and was killed"),
			l.cmd.Process.Kill())
		<-l.done
	}
	return err
}

// Process returns the child.
func (l *Ledger) Process() *exec.Cmd { return l.cmd }

var (
	_ ledger.Ledger  = (*Ledger)(nil)
	_ ledger.Failing = (*Ledger)(nil)
)
