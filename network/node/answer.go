package node

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"synod.dev/synod"
	"synod.dev/synod/core/sign"
	"synod.dev/synod/internal/canonical"
	"synod.dev/synod/internal/durable"
	"synod.dev/synod/network/link"
	"synod.dev/synod/network/node/call"
)

// answer takes one question, plays it, and returns the record. It reports whether another question may follow.
func (n service) answer(conn *link.Conn, caller string, wait time.Duration) (more bool) {
	var s call.Start
	if conn.Receive(n.config.Caps.largest(), &s, wait) != nil {
		return false
	}
	reply := call.RunReply{Head: n.latest()}
	f, err := n.play(&s, caller)
	if err != nil {
		reply.Refused = err.Error()
	} else {
		reply.Final = call.Compress(canonical.Encode(f))
	}
	if err := conn.Send(reply, time.Minute); err != nil {
		n.log.Debug("a caller did not take its record", "error", err)
		return false
	}
	return reply.Refused == ""
}

// play plays a question to its end. A question that was played already has its record.
func (n service) play(s *call.Start, caller string) (*call.Final, error) {
	q, err := s.Decode()
	if err != nil {
		return nil, err
	}
	if err := s.CheckSalt(n.roster, &q); err != nil {
		return nil, err
	}
	id := n.roster.Instance(&q, s.Nonce, s.At)
	r, f, err := n.begin(q, id, s, caller)
	if r == nil || err != nil {
		return f, err
	}
	select {
	case <-r.ended:
	case <-n.context.Done():
		return nil, errors.New("the node is ending; it goes on with this run when it is started again")
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.final, r.failed
}

// begin begins a run, or returns the one that plays, or its record.
func (n service) begin(q synod.Question, id sign.Instance, s *call.Start, caller string) (*run, *call.Final, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if r := n.runs[instanceKey(id)]; r != nil {
		return r, nil, nil
	}
	if f := n.recordOf(id); f != nil {
		return nil, f, nil
	}
	if err := n.admit(&q, s, caller); err != nil {
		n.count(&n.stats.Declined)
		n.decline(instanceKey(id))
		n.observer.Refused(RefusedQuestion, string(id), "", err)
		return nil, nil, err
	}
	if err := writeStart(n.startPath(id), canonical.Encode(s)); err != nil {
		return nil, nil, fmt.Errorf("the node cannot write to its folder: %w", err)
	}
	r, err := n.start(q, id, s, caller)
	return r, nil, err
}

// start starts the goroutine of a run. n.mu is held.
func (n service) start(q synod.Question, id sign.Instance, s *call.Start, caller string) (*run, error) {
	budget := n.daily.budget(s.Limits.Lower(n.plan.Spec().Limits), caller)
	r, err := n.newRun(q, id, caller, time.UnixMilli(s.At), budget)
	if err != nil {
		return nil, err
	}
	r.grow(int(runBytes(len(s.Question))))
	n.register(r)
	for _, id := range n.peers {
		p := n.links[id]
		r.schedule.peers[id].present = p.here()
		r.once(id, frame{Kind: isBegun})
	}
	n.count(&n.stats.Runs)
	n.work.Go(func() { r.loop(n.context) })
	n.log.Info("run begins", "run", r.short(), "form", q.Form, "in", -r.elapsed())
	return r, nil
}

// A node keeps so many runs in memory, and so many bytes of ended ones, to serve neighbours that come late.
const (
	maxRuns  = 64
	maxEnded = 32 << 20
)

// register adds a run, and frees the oldest of those that have ended. n.mu is held.
func (n service) register(r *run) {
	n.runs[r.key] = r
	n.order = append(n.order, r)
	ended := 0
	for _, old := range n.order {
		ended += old.left()
	}
	for i := 0; (len(n.order) > maxRuns || ended > maxEnded) && i < len(n.order); {
		if old := n.order[i]; old.over() {
			ended -= old.left()
			delete(n.runs, old.key)
			n.settle(old)
			n.order = slices.Delete(n.order, i, i+1)
		} else {
			i++
		}
	}
}

// settle forgets the signed values of a run that has left memory with a record.
func (n service) settle(r *run) {
	r.mu.Lock()
	ended := r.final != nil
	r.mu.Unlock()
	if ended && n.slots != nil {
		n.slots.settle(string(r.id))
	}
	if n.slots != nil && n.slots.needless() {
		select {
		case n.shared.prunes <- struct{}{}:
		default:
		}
	}
}

// resume goes on with the runs that the last process did not end.
func (n service) resume() {
	n.mu.Lock()
	defer n.mu.Unlock()
	files, _ := filepath.Glob(filepath.Join(n.config.Dir, "runs", "*.start"))
	for _, file := range files {
		b, err := durable.ReadFile(file, call.MaxStart)
		var s call.Start
		if err == nil {
			err = canonical.Decode(b, call.MaxStart, &s)
		}
		var q synod.Question
		if err == nil {
			q, err = s.Decode()
		}
		if err != nil {
			n.log.Error("a run cannot be resumed", "file", filepath.Base(file), "error", err)
			continue
		}
		id := n.roster.Instance(&q, s.Nonce, s.At)
		if filepath.Base(file) != string(id)+".start" || n.recordOf(id) != nil || n.slots.isElsewhere(string(id)) {
			continue // of another roster, or it has ended, or it must not go on
		}
		if n.now().Sub(time.UnixMilli(s.At)) > n.longest() || n.shared.horizon.covers(s.At) {
			continue // the others have long ended
		}
		if _, err := n.start(q, id, &s, ""); err != nil {
			n.log.Error("a run cannot be resumed", "run", string(id), "error", err)
			continue
		}
		n.count(&n.stats.Resumed)
	}
}
