package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"synod.dev/synod/core/journal"
	"synod.dev/synod/internal/program"
)

// respond sends an answer or an error. If the sending fails, the worker that asked is no longer connected.
func respond(m *nats.Msg, answer any, err error) {
	r := reply{}
	if err == nil {
		r.Answer, err = json.Marshal(answer)
	}
	if err != nil {
		r = reply{Error: cut(err.Error(), maxReason)}
		var said *hubError
		r.Fatal = errors.As(err, &said) && said.fatal
	}
	b, err := json.Marshal(r)
	if err == nil {
		_ = m.Respond(b)
	}
}

// answer answers a request of a worker. Nothing that a worker sends is trusted.
func (h *hub) answer(ctx context.Context, m *nats.Msg) {
	if len(m.Data) > 4*maxPart {
		respond(m, nil, refuse("the request is too long"))
		return
	}
	what := strings.TrimPrefix(m.Subject, h.names.asking(""))
	var answer any
	var err error
	switch what {
	case askBeat:
		answer, err = handle(m, h.beat)
	case askCell:
		answer, err = handle(m, checked(h, h.cell))
	case askClaim:
		answer, err = handle(m, checked(h, h.claim))
	case askFailed:
		answer, err = handle(m, checked(h, h.failed))
	case askRelease:
		answer, err = handle(m, checked(h, func(r *releaseRequest) (any, error) {
			return struct{}{}, h.permits.release(r)
		}))
	case askPermit:
		answer, err = handle(m, checked(h, func(r *permitRequest) (any, error) {
			if h.stateNow() != working {
				return permitReply{false}, nil
			}
			return nil, h.permits.request(ctx, m, r)
		}))
		if answer == nil && err == nil {
			return // it answers when the permit is granted
		}
	case askResult:
		h.result(m)
		return
	default:
		err = refuse("the hub does not know the request %q", cut(what, 20))
	}
	respond(m, answer, err)
}

// handle decodes a request and gives it to a function.
func handle[R any](m *nats.Msg, f func(*R) (any, error)) (any, error) {
	var r R
	if err := json.Unmarshal(m.Data, &r); err != nil {
		return nil, refuse("the request cannot be read: %v", err)
	}
	return f(&r)
}

// greeting is a request that begins with hello.
type greeting[R any] interface {
	*R
	greets() *hello
}

func (h *hello) greets() *hello { return h }

// checked is a function for requests of workers that have introduced themselves.
func checked[R any, P greeting[R]](h *hub, f func(*R) (any, error)) func(*R) (any, error) {
	return func(r *R) (any, error) {
		if err := h.known(P(r).greets()); err != nil {
			return nil, err
		}
		return f(r)
	}
}

// errStranger tells a worker that the hub does not know it, for example because the hub was started again.
var errStranger = errors.New("the hub does not know this worker yet")

func (h *hub) known(r *hello) error {
	if r.Sweep != h.sweep {
		return fmt.Errorf("this is another hub: %w", errStranger)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	w := h.workers[r.Worker]
	if w == nil || w.restored {
		return errStranger
	}
	w.last = time.Now()
	return nil
}

// beat notes that a worker lives. The first beat introduces it: a worker of another program is refused.
func (h *hub) beat(b *beat) (any, error) {
	switch {
	case !isID.MatchString(b.Worker) || len(b.Version)+len(b.Host) > maxName ||
		len(b.Playing)+len(b.Permits) > maxPlaying ||
		b.Parallel < 1 || b.Parallel > maxPlaying:
		return nil, refuse("the worker says what makes no sense")
	case b.Protocol != protocolVersion || b.Version != h.version:
		return nil, refuse("the hub is synod %s and this worker is synod %s: install the same program on both, "+
			"because two versions may have different results", h.version, program.Printable(b.Version))
	case b.Sweep != "" && b.Sweep != h.sweep:
		return nil, refuse("the hub serves another sweep now")
	}
	// What the worker does not name it has lost, when it was killed and started again. What it was given since its
	// last beat it may not name yet.
	if err := h.dropPermits(b.Worker, b.Permits, 2*h.every); err != nil {
		h.fail(err)
		return nil, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.unclaim(b.Worker, b.Playing, 2*h.every)
	w := h.workers[b.Worker]
	if w == nil || w.restored {
		w = &member{id: b.Worker, joined: time.Now()}
		h.workers[b.Worker] = w
		fmt.Fprintf(h.log, "worker %.8s (%s) is here\n", b.Worker, program.Printable(b.Host))
	}
	w.last, w.host, w.version, w.parallel = time.Now(), program.Printable(b.Host), b.Version, b.Parallel
	if b.Leaving {
		w.left = true
	}
	for _, id := range b.Playing {
		if _, claimed := h.claims[id]; !claimed && isID.MatchString(id) { // of the hub before this one
			h.claims[id] = claimOf{b.Worker, time.Now()}
		}
	}
	return pulse{Sweep: h.sweep, State: h.state, Stream: h.names.stream(), Consumer: consumerName, Every: h.every,
		Lease: h.lease}, nil
}

// cell sends a part of what a worker needs of a cell.
func (h *hub) cell(r *cellRequest) (any, error) {
	c := h.units.byKey[r.Cell]
	if c == nil {
		return nil, refuse("the sweep has no cell %.12q", r.Cell)
	}
	packed, err := c.parcel()
	if err != nil {
		return nil, err
	}
	if r.From < 0 || r.From >= len(packed) {
		return nil, refuse("the cell has %d bytes", len(packed))
	}
	return cellPart{Total: len(packed), Part: packed[r.From:min(r.From+maxPart, len(packed))]}, nil
}

// parcel returns the compressed parcel of the run.
func (c *cell) parcel() ([]byte, error) {
	c.packing.Do(func() {
		p, err := c.run.Parcel()
		if err != nil {
			c.failure = err
			return
		}
		text, err := json.Marshal(p)
		if err == nil {
			c.packed, err = pack(text)
		}
		if err == nil && len(c.packed) > maxPacked {
			err = fmt.Errorf("cell %s has %d compressed bytes; at most %d are sent to workers", c.name, len(c.packed),
				maxPacked)
		}
		c.failure = err
	})
	return c.packed, c.failure
}

// claim says whether a worker may play a unit.
func (h *hub) claim(r *claim) (any, error) {
	over, known := h.units.isFinished(r.Unit)
	if !known {
		return claimed{unknown}, nil
	}
	if over {
		return claimed{done}, nil
	}
	id := r.Unit.id()
	h.mu.Lock()
	defer h.mu.Unlock()
	switch by, any := h.claims[id]; {
	case h.state != working, !any && time.Since(h.began) < h.quiet:
		return claimed{later}, nil
	case any && by.worker != r.Worker:
		return claimed{busy}, nil
	}
	h.claims[id] = claimOf{r.Worker, time.Now()}
	return claimed{play}, nil
}

// failed notes an attempt that did not finish. The unit is asked again at the end, unless its worker goes on with it.
func (h *hub) failed(r *failure) (any, error) {
	c, _, ok := h.units.find(r.Unit)
	if !ok {
		return nil, refuse("the sweep has no such question")
	}
	if h.release(r.Unit, r.Worker) {
		a := r.Attempt
		a.Reason, a.Stopped = program.Printable(cut(a.Reason, maxReason)), program.Printable(cut(a.Stopped, maxName))
		if err := h.results.Failed(c.run, r.Unit.Job, a); err != nil {
			h.fail(err)
			return nil, err
		}
		h.units.settle(r.Unit, failedUnit)
		h.settled()
	}
	return struct{}{}, nil
}

// release takes the claim of a unit away from a worker; false if it has none.
func (h *hub) release(x unit, worker string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.claims[x.id()].worker != worker {
		return false
	}
	delete(h.claims, x.id())
	return true
}

// settled wakes the feeder.
func (h *hub) settled() {
	select {
	case h.kick <- struct{}{}:
	default:
	}
}

// pack and unpack compress what is sent.
func pack(b []byte) ([]byte, error) {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, err := w.Write(b)
	if err = errors.Join(err, w.Close()); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

func unpack(b []byte, most int64) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(r, most+1))
	if err == nil && int64(len(text)) > most {
		err = fmt.Errorf("it has more than %d bytes", most)
	}
	return text, err
}

// upload is a journal of which some parts have come.
type upload struct {
	worker string
	total  int
	bytes  []byte
}

// maxUploads bounds the bytes of all journals that are on their way.
const maxUploads = 512 << 20

// result takes a part of a journal. When it is complete it is examined and kept, and only then acknowledged.
func (h *hub) result(m *nats.Msg) {
	var r resultPart
	err := json.Unmarshal(m.Data, &r)
	if err != nil {
		respond(m, nil, refuse("the result cannot be read: %v", err))
		return
	}
	if err = h.known(&r.hello); err != nil {
		respond(m, nil, err)
		return
	}
	over, known := h.units.isFinished(r.Unit)
	if !known || over { // another worker was faster
		h.release(r.Unit, r.Worker)
		respond(m, stored{Stored: over, Refused: map[bool]string{false: "the sweep has no such question"}[known]}, nil)
		return
	}
	packed, err := h.assemble(&r)
	if packed == nil || err != nil {
		respond(m, stored{}, err)
		return
	}
	h.examine <- struct{}{}
	defer func() { <-h.examine }()
	c, _, _ := h.units.find(r.Unit)
	text, err := h.checkJournal(c, r.Unit, packed)
	if err != nil {
		h.refuseJournal(m, &r, err)
		return
	}
	h.results.Keep(c.run, r.Unit.Job, text, max(r.Seconds, 0), func(err error) {
		if err != nil {
			h.fail(fmt.Errorf("the results cannot be written: %w", err))
			respond(m, nil, errors.New("the hub cannot write its results"))
			return
		}
		h.units.settle(r.Unit, finishedUnit)
		h.mu.Lock()
		delete(h.claims, r.Unit.id())
		if w := h.workers[r.Worker]; w != nil {
			w.finished++
		}
		h.mu.Unlock()
		respond(m, stored{Stored: true}, nil)
		h.settled()
	})
}

// refuseJournal tells a worker that its journal is none of the unit, and counts it.
func (h *hub) refuseJournal(m *nats.Msg, r *resultPart, err error) {
	h.mu.Lock()
	h.refused++
	h.mu.Unlock()
	fmt.Fprintf(h.log, "the journal of worker %.8s is refused: %s\n", r.Worker, program.Printable(err.Error()))
	respond(m, stored{Refused: cut(err.Error(), maxReason)}, nil)
}

// assemble adds a part; nil until the journal is complete. Parts come in order; a repeated one changes nothing.
func (h *hub) assemble(r *resultPart) ([]byte, error) {
	if r.Total < 1 || r.Total > maxPacked || r.From < 0 || len(r.Part) > maxPart || len(r.Part) == 0 ||
		r.From+len(r.Part) > r.Total {
		return nil, refuse("the part of a journal makes no sense: bytes %d to %d of %d; a compressed one may have %d",
			r.From, r.From+len(r.Part), r.Total, maxPacked)
	}
	if len(r.Part) == r.Total {
		return r.Part, nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	key := r.Worker + r.Unit.id()
	u := h.uploads[key]
	if r.From == 0 {
		sum := r.Total
		for _, other := range h.uploads {
			sum += other.total
		}
		if u == nil && sum > maxUploads {
			return nil, errors.New("too many journals are on their way to the hub")
		}
		u = &upload{worker: r.Worker, total: r.Total}
		h.uploads[key] = u
	}
	if u == nil || u.total != r.Total || r.From > len(u.bytes) {
		return nil, errors.New("parts of the journal are missing: begin again")
	}
	u.bytes = append(u.bytes[:r.From], r.Part...)
	if len(u.bytes) < u.total {
		return nil, nil
	}
	delete(h.uploads, key)
	return u.bytes, nil
}

// checkJournal returns the journal of a unit if it is one.
func (h *hub) checkJournal(c *cell, x unit, packed []byte) ([]byte, error) {
	c.examining.Do(func() { c.examiner, c.broken = c.run.Examiner() })
	if c.broken != nil {
		return nil, c.broken
	}
	text, err := unpack(packed, maxJournal)
	if err != nil {
		return nil, err
	}
	run, err := journal.Read(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	return text, c.examiner.Examine(x.Job, run)
}
