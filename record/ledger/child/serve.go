package child

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"synod.dev/synod/record/ledger"
)

// appendTime is how long the child works on an append that nobody repeats.
const appendTime = time.Minute

// Serve reads the settings that Start was given, opens the ledger with them, and answers until in ends or the
// ledger fails. Then it closes the ledger.
func Serve(in io.Reader, out io.Writer, open func(settings json.RawMessage) (ledger.Ledger, error)) error {
	d, e := json.NewDecoder(in), json.NewEncoder(out)
	var settings json.RawMessage
	if err := d.Decode(&settings); err != nil {
		return fmt.Errorf("ledger: the settings: %w", err)
	}
	l, err := open(settings)
	if err != nil {
		return errors.Join(err, e.Encode(reply{Error: err.Error()}))
	}
	ctx, cancel := context.WithCancel(context.Background())
	var work sync.WaitGroup
	var mu sync.Mutex
	answer := func(r reply) {
		mu.Lock()
		defer mu.Unlock()
		if e.Encode(r) != nil {
			cancel() // the parent has gone
		}
	}
	answer(reply{})
	for ctx.Err() == nil {
		var q request
		if err = d.Decode(&q); err != nil {
			break
		}
		work.Go(func() {
			r := do(ctx, l, &q)
			r.ID = q.ID
			answer(r)
		})
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	cancel()
	work.Wait()
	return errors.Join(err, l.Close())
}

// do answers one request.
func do(ctx context.Context, l ledger.Ledger, q *request) (r reply) {
	var err error
	switch q.Do {
	case "append":
		within, cancel := context.WithTimeout(ctx, appendTime)
		defer cancel()
		var e *ledger.Entry
		if e, err = ledger.DecodeEntry(q.Entry); err == nil {
			r.At, err = l.Append(within, e)
		}
	case "head":
		r.Value = l.Head().File()
	case "entry":
		var e *ledger.Entry
		if e, err = l.Entry(q.At); err == nil {
			r.Value, err = e.Encode()
		}
	case "prove":
		var p *ledger.Proof
		if p, err = l.Prove(q.At); err == nil {
			r.Value = p.File()
		}
	case "consistency":
		r.Path, err = l.Consistency(q.At)
	default:
		err = fmt.Errorf("ledger: %q is no request", q.Do)
	}
	if err != nil {
		r.Error, r.Waits = err.Error(), errors.Is(err, ledger.ErrWaits)
	}
	return r
}
