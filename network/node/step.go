package node

import (
	"cmp"
	"context"
	"crypto/sha256"
	"slices"
	"time"

	"synod.dev/synod"
	"synod.dev/synod/internal/order"
	"synod.dev/synod/llm"
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
		audit{r}.keep(receiptKey{r.node.seat, x.Slot, values[i].sum}, signature)
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

// spend counts the cost of a call for a question of a caller.
func (n *Node) spend(r *synod.Reply, caller string) {
	if kind := n.model.Info().Kind; r.Calls == 0 || r.Reused || kind == llm.Simulated || kind == llm.Recorded {
		return
	}
	d := n.daily
	d.mu.Lock()
	defer d.mu.Unlock()
	d.today()
	d.Calls, d.Tokens = synod.Sum(d.Calls, r.Calls), synod.Sum(d.Tokens, r.Spent().Total())
	if d.Callers == nil {
		d.Callers = map[string]int{}
	}
	d.Callers[caller] = synod.Sum(d.Callers[caller], r.Calls)
	use := llm.Use{Info: n.model.Info()}
	use.Add(r)
	money := d.prices.Bill([]llm.Use{use})
	if d.CallersUSD == nil {
		d.CallersUSD = map[string]float64{}
	}
	d.CallersUSD[caller] += money.AtLeast
	if d.USD += money.AtLeast; d.timer == nil {
		d.timer = time.AfterFunc(saveAfter, d.save)
	}
}
