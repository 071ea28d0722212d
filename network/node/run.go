package node

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"synod.dev/synod"
	"synod.dev/synod/core/journal"
	"synod.dev/synod/core/sign"
	"synod.dev/synod/core/sim"
	"synod.dev/synod/council"
	"synod.dev/synod/council/outcome"
	"synod.dev/synod/internal/canonical"
	"synod.dev/synod/internal/order"
	"synod.dev/synod/llm"
	"synod.dev/synod/network/node/call"
)

// run is this node's part in one run of a question. One goroutine (loop) owns all fields above in.
type run struct {
	node     *Node
	caller   string // the key of who asked, in hexadecimal; "": the run was resumed
	question synod.Question
	id       sign.Instance
	key      runKey        // names the run in frames
	origin   time.Time     // with the monotonic clock, so that a clock that is set does not move the rounds
	begins   time.Time     // the agreed start
	lead     time.Duration // from origin to the start of the run
	identity sign.Identity
	machine  synod.Machine
	journal  *journal.Writer
	desk     *council.Desk
	schedule *schedule
	observer RunObserver
	decided  bool
	alarms   int
	receipts map[slotOf][]call.Receipt // that this seat sent and got, at most two of a slot; guarded by mu
	stored   int                       // receipts; guarded by mu
	votes    map[synod.NodeID]vote     // of neighbours; guarded by mu
	late     uint64
	suspects map[synod.NodeID]bool // that were not waited for at some time
	resumed  bool
	vouchers map[synod.NodeID]bool // neighbours that have told what this seat has signed in the run
	failed   error                 // why there is no record; nil: there is one, or the run plays
	received map[receiptKey]bool
	unsent   bool // something is queued since the last flush
	account  account
	fresh    map[synod.NodeID]int            // messages of neighbours that were new; guarded by mu
	held     map[synod.NodeID]int64          // bytes of messages of neighbours, which are accounted
	waiting  map[synod.ConsultID]waitingCall // in a replay: calls whose reply has not been read

	in    chan input
	ended chan struct{} // closed when final is set

	mu       sync.Mutex
	out      map[synod.NodeID][][]byte // frames for each neighbour, in order
	final    *call.Final
	progress progress
	proofs   int
	compared comparison
	size     int // bytes that are kept of the run after its end, about
}

// progress is what a status shows of a run.
type progress struct {
	Tick    synod.Tick
	Round   int
	Answer  synod.Answer
	Calls   int
	Late    uint64
	Stopped string
}

// slotOf is a slot of one seat.
type slotOf struct {
	from synod.NodeID
	slot synod.Slot
}

// receiptKey is a slot of one seat with what was sent in it.
type receiptKey struct {
	from synod.NodeID
	slot synod.Slot
	sum  [sha256.Size]byte
}

// input is something that comes to a run from outside.
type input struct {
	from     synod.NodeID
	frames   []frame         // of a neighbour
	presence bool            // a neighbour's stream was opened or closed
	vouched  bool            // a neighbour has told all that this seat has signed in the run
	older    bool            // this seat has signed something in the run that its folder does not have
	reply    *synod.Answered // a reply of the model
	asked    synod.Tick      // in which the call was made
	due      synod.Tick
}

// newRun prepares a run of a caller, new or cut off, and writes the head of its journal.
func (n *Node) newRun(q synod.Question, id sign.Instance, caller string, begins time.Time,
	budget *llm.Budget) (r *run, err error) {
	r = &run{
		caller: caller,
		node:   n, question: q, id: id, key: instanceKey(id), origin: time.Now(), lead: begins.Sub(n.now()),
		waiting: map[synod.ConsultID]waitingCall{},
		schedule: newSchedule(n.seat, len(n.roster.Members), n.peers, int(n.roster.F),
			patienceFor(time.Duration(n.roster.Think)*time.Millisecond, n.within, n.plan.Signs(), n.usual.longest())),
		receipts: map[slotOf][]call.Receipt{}, compared: newComparison(),
		received: map[receiptKey]bool{}, held: map[synod.NodeID]int64{},
		in:    make(chan input, 256),
		ended: make(chan struct{}), out: map[synod.NodeID][][]byte{}, vouchers: map[synod.NodeID]bool{},
		votes: map[synod.NodeID]vote{}, suspects: map[synod.NodeID]bool{}, fresh: map[synod.NodeID]int{},
		begins: begins, progress: progress{Round: -1},
	}
	if r.identity, err = n.secret.Identity(n.seat, n.committee, id); err != nil {
		return nil, err
	}
	if r.machine, err = n.plan.Machine(r.identity, &r.question); err != nil {
		return nil, err
	}
	head := journal.Head{Program: n.config.Program, Spec: n.plan.Record(), Question: q, Seat: &n.seat,
		Instance: string(id), Seed: r.identity.Seed, Prompts: n.plan.DigestsFor(&q)}
	path := n.journalPath(id)
	earlier, lock, err := journal.Resume(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		r.journal, err = journal.Create(path, head)
	case err == nil && earlier.End != nil:
		lock.Close()
		return nil, errEnded
	case err == nil:
		head.Unanswered, head.Known = earlier.Lost(), earlier.Answered()
		r.journal, err = earlier.Continue(head)
	}
	if err != nil {
		return nil, fmt.Errorf("the journal of the run: %w", err)
	}
	r.desk = council.NewDesk(n.plan, n.seat, n.model, r.journal, budget, head.Known)
	r.observer = n.observer.Run(ObservedRun{string(id), q.Form, n.model.Info().Name, begins, earlier != nil})
	if earlier != nil {
		r.resumed = true
		if err := r.replay(earlier); err != nil {
			r.observer.End(err.Error(), 0)
			return nil, err
		}
		return r, nil
	}
	r.schedule.add(item{tick: 0, by: -1, node: int(n.seat), event: synod.Begin{}})
	return r, nil
}

// errEnded is the error of a run whose journal has an end.
var errEnded = errors.New("the run has ended")

func (n *Node) journalPath(id sign.Instance) string {
	return filepath.Join(n.config.Dir, "runs", string(id)+".jsonl")
}

// replay brings the seat to where it was when the process died. It sends nothing new: what it sent
// before is the same again, byte for byte.
func (r *run) replay(earlier *journal.Run) error {
	events, err := earlier.Events()
	if err != nil {
		return fmt.Errorf("the journal of the run: %w", err)
	}
	s := r.schedule
	if len(events) == 0 {
		s.add(item{tick: 0, by: -1, node: int(r.node.seat), event: synod.Begin{}})
	}
	for i := 0; i < len(events); {
		t, batch := events[i].Tick, []item{}
		for ; i < len(events) && events[i].Tick == t; i++ {
			if e, ok := events[i].Event.(synod.Expired); ok {
				s.forget(e.ID)
			}
			if e, ok := events[i].Event.(synod.Answered); ok {
				c := r.waiting[e.ID]
				delete(r.waiting, e.ID)
				if s.due[c.due]--; s.due[c.due] <= 0 {
					delete(s.due, c.due)
				}
			}
			batch = append(batch, item{tick: t, event: events[i].Event})
		}
		r.step(t, batch, true)
	}
	for id, c := range r.waiting { // calls whose reply is not in the journal
		r.consult(c.at, c.due, synod.Consult{ID: id, Prompt: c.prompt})
	}
	clear(r.waiting)
	return nil
}

// elapsed is the real time since the start of the run.
func (r *run) elapsed() time.Duration { return time.Since(r.origin) - r.lead }

// loop plays the run to its end.
func (r *run) loop(ctx context.Context) {
	if d := r.node.plan.Spec().Limits.Deadline; d > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, time.Now().Add(d-r.elapsed()))
		defer cancel()
	}
	defer r.release()
	stopped := r.play(ctx)
	if stopped == sim.Finished && len(r.suspects) == 0 && !r.resumed {
		r.node.usual.add(r.elapsed())
	}
	r.mu.Lock()
	calls := r.progress.Calls
	r.mu.Unlock()
	defer r.observer.End(stopped, calls)
	if stopped == outcome.Interrupted {
		r.journal.Abandon() // the next process goes on with it
		return
	}
	if r.failed != nil {
		r.journal.Abandon()
		r.fail(r.failed)
		return
	}
	r.finish(stopped)
}

func (r *run) play(ctx context.Context) (stopped string) {
	if wait := -r.elapsed(); wait > 0 {
		if !r.listen(ctx, wait) {
			return r.cut(ctx)
		}
	}
	if r.node.mayBeSigned(r.begins) {
		if stopped := r.vouch(ctx); stopped != "" {
			return stopped
		}
	}
	for !r.decided {
		r.drain(ctx)
		if r.failed != nil {
			return olderFolder
		}
		if err := r.journal.Err(); err != nil {
			r.node.log.Error("the journal cannot be written, so the seat has stopped", "run", r.short(), "error", err)
			return outcome.Unwritten
		}
		r.suspect()
		wait := r.schedule.wait(r.elapsed())
		if wait == 0 {
			t := r.schedule.next()
			r.step(t, r.schedule.take(t), false)
			continue
		}
		if r.closeIdle() {
			continue // an alarm may be due now
		}
		if r.schedule.next() == never && len(r.schedule.due) == 0 {
			if r.idle(ctx) {
				continue
			}
			return sim.Stalled
		}
		if !r.listenOnce(ctx, wait) {
			return r.cut(ctx)
		}
	}
	return sim.Finished
}

// idle waits for a message when nothing else can happen: a machine without an alarm waits for its
// neighbours. It reports whether something came before the run's longest pause.
func (r *run) idle(ctx context.Context) bool {
	return r.listenOnce(ctx, time.Duration(r.node.roster.Think+r.node.roster.Within)*time.Millisecond) &&
		r.schedule.next() != never
}

func (r *run) cut(ctx context.Context) string {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return outcome.PastTime
	}
	return outcome.Interrupted
}

// listen takes what comes for a time.
func (r *run) listen(ctx context.Context, for_ time.Duration) bool {
	r.flush()
	timer := time.NewTimer(for_)
	defer timer.Stop()
	for {
		select {
		case in := <-r.in:
			r.take(ctx, in)
		case <-timer.C:
			return true
		case <-ctx.Done():
			return false
		}
	}
}

// listenOnce waits for one thing that comes, or for a time.
func (r *run) listenOnce(ctx context.Context, wait time.Duration) bool {
	r.flush()
	var expired <-chan time.Time
	if wait < forever {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		expired = timer.C
	}
	select {
	case in := <-r.in:
		r.take(ctx, in)
	case <-expired:
	case <-ctx.Done():
		return false
	}
	return true
}

// drain takes all that has come.
func (r *run) drain(ctx context.Context) {
	for {
		select {
		case in := <-r.in:
			r.take(ctx, in)
		default:
			return
		}
	}
}

func (r *run) take(_ context.Context, in input) {
	s, elapsed := r.schedule, r.elapsed()
	switch {
	case in.presence:
		here := r.node.links[in.from].here()
		if p := s.peers[in.from]; here != p.present {
			p.present, p.behind, p.asked, p.opened = here, here && p.closed < s.closed, -1, elapsed
		}
	case in.vouched:
		r.vouchers[in.from] = true
	case in.older:
		r.failed = errOlder
	case in.reply != nil:
		s.replied(in.asked, in.due, *in.reply)
	}
	for i := range in.frames {
		switch f := &in.frames[i]; f.Kind {
		case isMessage:
			r.heard(in.from, f, elapsed)
		case isClosed:
			s.heardClosed(in.from, synod.Tick(f.Tick), synod.Tick(f.Idle))
		case isDecline, isBegun:
			s.peers[in.from].declined = f.Kind == isDecline
		case isDemand:
			s.ask(synod.Tick(f.Tick), elapsed, r.node.within)
		}
	}
	r.closeIdle()
}

// closeIdle closes ticks that neighbours have asked about, and asks them in turn. It reports whether it closed any.
func (r *run) closeIdle() (closed bool) {
	if r.decided {
		return false
	}
	s := r.schedule
	for s.close(r.elapsed()) || s.leap() {
		closed = true
		r.queue(nil, frame{Kind: isClosed, Tick: int64(s.closed), Idle: int64(s.idle())})
	}
	if ids, t := r.schedule.questions(); len(ids) > 0 {
		r.queue(ids, frame{Kind: isDemand, Tick: int64(t)})
	}
	return closed
}

// suspect looks which neighbours seem to have crashed.
func (r *run) suspect() {
	s, elapsed := r.schedule, r.elapsed()
	for id, p := range s.peers {
		p.refused = r.node.links[id].refused.Load()
		p.heard = r.node.begun.Add(time.Duration(r.node.links[id].last.Load())).Sub(r.origin) - r.lead
	}
	for _, id := range s.suspect(elapsed) {
		if !r.suspects[id] {
			r.suspects[id] = true
			r.node.log.Info("a member seems to have crashed and is not waited for", "run", r.short(), "member",
				r.node.roster.Members[id].ID)
		}
	}
}

// heard takes a message whose signature was checked.
func (r *run) heard(from synod.NodeID, f *frame, elapsed time.Duration) {
	m := &synod.Message{From: from, Slot: synod.Slot{Name: f.Slot, Round: int(f.Round)}, Body: f.Body}
	p := r.schedule.peers[from]
	key := receiptKey{from, m.Slot, sha256.Sum256(m.Body)}
	if p.sent >= maxRunMessages || p.bytes+len(m.Body) > maxRunBytes {
		return
	}
	r.keep(key, f.Signature)
	if r.received[key] {
		return // it was sent again after a stream was opened again
	}
	if !r.hold(from, len(m.Body)) {
		return
	}
	r.received[key] = true
	if elapsed-time.Duration(f.Clock)*time.Millisecond > r.node.within {
		r.late++
		r.mu.Lock()
		r.progress.Late = r.late
		r.mu.Unlock()
	}
	r.schedule.heard(from, synod.Tick(f.Tick), m, elapsed, r.node.within)
}

// hold accounts bytes of a message of a neighbour until the run ends. It is false if the neighbour has too many
// already, in all runs together: then the message counts as not sent.
func (r *run) hold(from synod.NodeID, bytes int) bool {
	if r.node.links[from].held.Add(int64(bytes)) > maxPeerBytes || !r.grow(bytes) {
		r.node.links[from].held.Add(-int64(bytes))
		r.shrink(bytes)
		return false
	}
	r.held[from] += int64(bytes)
	return true
}

// release frees what an ended run needs no more: all but its record and the frames that it has sent, which neighbours
// that come late get. Only the run's own goroutine calls it, at its end.
func (r *run) release() {
	for id, bytes := range r.held {
		r.node.links[id].held.Add(-bytes)
	}
	r.freeAll()
	r.schedule, r.machine, r.desk, r.held, r.received, r.waiting = nil, nil, nil, nil, nil, nil
	r.mu.Lock()
	defer r.mu.Unlock()
	r.size = r.stored * receiptBytes
	for _, frames := range r.out {
		for _, f := range frames {
			r.size += len(f)
		}
	}
}

// keep keeps the receipt of a signed message, and reports equivocation.
func (r *run) keep(key receiptKey, signature []byte) {
	c := call.Receipt{From: uint64(key.from), Slot: key.slot.Name, Round: uint64(key.slot.Round), Sum: key.sum[:],
		Signature: signature}
	slot := slotOf{key.from, key.slot}
	r.mu.Lock()
	known := r.receipts[slot]
	if has(known, c.Sum) || len(known) == 2 || r.stored >= maxReceipts {
		r.mu.Unlock()
		return
	}
	r.receipts[slot] = append(known, c)
	r.stored++
	r.grow(receiptBytes)
	var proof *call.Equivocation
	if len(known) > 0 && key.from != r.node.seat {
		proof = &call.Equivocation{Roster: r.node.hash[:], Instance: string(r.id), A: known[0], B: c}
		r.proofs++
	}
	r.mu.Unlock()
	if proof != nil {
		r.node.convict(proof)
	}
}

// has reports whether receipts of a slot have a hash.
func has(receipts []call.Receipt, sum []byte) bool {
	return slices.ContainsFunc(receipts, func(c call.Receipt) bool { return bytes.Equal(c.Sum, sum) })
}

const (
	maxReceipts  = 1 << 14
	receiptBytes = 512 // that a receipt takes in memory, twice, about
)

// step gives the seat the events of a tick, writes them and what it does, and then does it. In a
// replay the journal has them already, and calls are not made.
func (r *run) step(t synod.Tick, events []item, replay bool) {
	var sends []synod.Send
	var calls []synod.Consult
	for _, e := range events {
		r.journal.Event(t, r.node.seat, e.event)
		for _, effect := range r.machine.Step(t, e.event) {
			r.journal.Effect(t, r.node.seat, effect)
			switch x := effect.(type) {
			case synod.Send:
				sends = append(sends, copySend(x))
			case synod.Consult:
				calls = append(calls, x)
			case synod.Alarm:
				r.alarms++
				r.schedule.alarm(t, x, r.alarms)
			case synod.Note:
				if r.note(t, x.Opinion); !replay {
					r.observer.Round(x.Opinion.Round, t)
				}
			case synod.Opened:
				r.desk.Open(x.First)
			case synod.Decide:
				r.decided = true
				r.desk.Decide(x.Answer)
			}
		}
		if e, ok := e.event.(synod.Heard); ok && replay {
			r.received[receiptKey{e.From, e.Slot, sha256.Sum256(e.Body)}] = true
		}
	}
	r.send(t, sends)
	r.mu.Lock()
	r.progress.Tick, r.progress.Calls = t, r.progress.Calls+len(calls)
	r.mu.Unlock()
	due := t + r.node.callTicks
	if len(calls) > 0 {
		r.schedule.due[due] += len(calls)
	}
	r.closed(t, replay || len(sends) > 0)
	order.Sort(calls, func(a, b synod.Consult) int { return cmp.Compare(a.ID, b.ID) })
	for _, x := range calls {
		if replay {
			prompt := *x.Prompt
			prompt.Peers = slices.Clone(prompt.Peers)
			r.waiting[x.ID] = waitingCall{t, due, &prompt}
		} else {
			r.consult(t, due, x)
		}
	}
}

// closed tells the neighbours that the seat sends nothing more in a tick, or in any if it has decided. In a
// replay it is not known what came and was not read, so nothing is promised of later ticks.
func (r *run) closed(t synod.Tick, spoke bool) {
	r.schedule.end(max(r.schedule.closed, t), spoke)
	f := frame{Kind: isClosed, Tick: int64(t), Idle: int64(r.schedule.idle())}
	if r.decided {
		f.Tick, f.Idle = int64(never), int64(t)
	}
	r.queue(nil, f)
}

// copySend returns a send that does not share memory with the machine, which may use it again.
func copySend(x synod.Send) synod.Send {
	m := *x.Message
	m.Body = slices.Clone(m.Body)
	return synod.Send{To: slices.Clone(x.To), Message: &m}
}

func (r *run) note(t synod.Tick, o *synod.Opinion) {
	r.desk.Note(t, o)
	r.mu.Lock()
	r.progress.Round, r.progress.Answer = o.Round, o.Answer
	r.mu.Unlock()
}

// send signs and sends messages, after their values are on disk and all events before them are with
// the operating system.
func (r *run) send(t synod.Tick, sends []synod.Send) {
	if len(sends) == 0 {
		return
	}
	r.flush() // before it waits for the disk
	if err := r.journal.Flush(); err != nil {
		return // the loop stops
	}
	values := make([]signing, len(sends))
	for i, x := range sends {
		values[i] = signing{slotKey{string(r.id), x.Slot}, sha256.Sum256(x.Body)}
	}
	adversary := r.node.plan.Adversary(r.node.seat) // for experiments: it may sign anything
	together := adversary || r.node.slots.commit(values) == nil
	for i, x := range sends {
		x.From = r.node.seat
		if !together { // one of them cannot be signed
			if err := r.node.slots.commit(values[i : i+1]); err != nil {
				r.refuse(err)
				continue
			}
		}
		slip := r.node.slip(r.id, x.Message, values[i].sum)
		signature := slip.Sign(r.node.secret)
		r.keep(receiptKey{r.node.seat, x.Slot, values[i].sum}, signature)
		r.queue(x.To, frame{Kind: isMessage, Tick: int64(t), Clock: r.elapsed().Milliseconds(),
			Slot: x.Slot.Name, Round: uint64(x.Slot.Round),
			Body: x.Body, Signature: signature})
	}
}

// refuse notes that this seat did not sign a value.
func (r *run) refuse(err error) {
	r.node.count(&r.node.stats.Refused)
	r.node.observer.Refused(RefusedValue, string(r.id), "", err)
	r.node.log.Error("a value was not signed", "run", r.short(), "error", err)
}

// flush makes the streams send what is queued. The run calls it before it waits for anything, so that all that it says
// at once goes into one batch.
func (r *run) flush() {
	if r.unsent {
		r.unsent = false
		r.node.wake()
	}
}

// queue queues a frame for some neighbours; nil: all of them.
func (r *run) queue(to []synod.NodeID, f frame) {
	if to == nil {
		to = r.node.peers
	}
	b := canonical.Encode(f)
	r.unsent = true
	r.grow(len(b))
	r.mu.Lock()
	for _, id := range to {
		if slices.Contains(r.node.peers, id) {
			r.out[id] = append(r.out[id], b)
		}
	}
	r.mu.Unlock()
}

// waitingCall is a call of a replay whose reply has not been read.
type waitingCall struct {
	at, due synod.Tick
	prompt  *synod.Prompt
}

// consult calls the model in the background.
func (r *run) consult(t, due synod.Tick, x synod.Consult) {
	prompt := *x.Prompt
	prompt.Peers = slices.Clone(prompt.Peers)
	ended, desk := r.observer.Call(x.ID, t), r.desk
	r.node.work.Go(func() { // so that what it costs is on disk when the node has ended
		ctx, cancel := context.WithTimeout(r.node.context, time.Duration(r.node.roster.Think)*time.Millisecond)
		defer cancel()
		if r.node.daily.left(r.caller) != nil { // other runs of the day have spent what was left when this one began
			cancel()
		}
		reply := desk.Ask(ctx, x.ID, &prompt)
		ended(ObservedCall{reply.Status, reply.Calls, reply.Spent().Prompt, reply.Spent().Completion, reply.Reused})
		r.node.spend(&reply, r.caller)
		r.grow(len(reply.Text))
		r.put(input{reply: &synod.Answered{ID: x.ID, Reply: &reply}, asked: t, due: due})
	})
}

// put hands an input to the loop, unless the run has ended.
func (r *run) put(in input) {
	select {
	case r.in <- in:
	case <-r.ended:
	case <-r.node.context.Done():
	}
}

func (r *run) short() string { return string(r.id)[:min(12, len(r.id))] }
