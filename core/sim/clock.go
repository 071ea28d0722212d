package sim

import (
	"time"

	"synod.dev/synod"
)

// Clock is what a run by the clock needs beside its Config.
type Clock struct {
	// Ask starts one call. The function that it returns waits for the reply; it is called on
	// another goroutine.
	Ask func(Call) (wait func() synod.Reply)
	// Done is closed when the run is to end. Then nothing is waited for but replies, and Watch
	// is asked after the next tick whether the run is over. It may be nil.
	Done <-chan struct{}
}

// RunByClock plays the machines like Run, but by the clock: an event of tick t happens t
// milliseconds after the beginning, and a reply to a model call comes when it is there. So a
// member that waits for a silent one waits as long as the pace of its protocol says. Events
// happen in the order of their ticks however late the process is: a slow computer loses no
// message, and makes the run longer. Config.Ask and Config.CallTicks are not used.
func RunByClock(c Config, clock Clock) Result {
	l := &live{Clock: clock, start: time.Now(), came: make(chan arrival)}
	return play(c, func(s *run) string {
		l.run, s.begin = s, l.begin
		why := l.loop()
		for ; l.waiting > 0; l.waiting-- {
			<-l.came
		}
		return why
	})
}

// live is a run by the clock.
type live struct {
	Clock
	run     *run
	start   time.Time
	came    chan arrival
	waiting int // calls whose reply has not been queued
}

// arrival is a reply and when it came.
type arrival struct {
	at    synod.Tick
	node  synod.NodeID
	event synod.Answered
}

func (l *live) loop() string {
	for range maxSteps {
		if !l.pause() {
			return Stalled
		}
		what, tick, _ := l.run.queue.next()
		if why := l.run.tick(what, tick); why != "" {
			return why
		}
	}
	return Stalled
}

// begin starts the calls of a tick. It keeps nothing of the slice.
func (l *live) begin(calls []Call) {
	for _, c := range calls {
		wait := l.Ask(c)
		l.waiting++
		go func() {
			r := wait()
			at := synod.Tick(time.Since(l.start).Milliseconds())
			l.came <- arrival{at, c.Node, synod.Answered{ID: c.ID, Reply: &r}}
		}()
	}
}

// pause waits until the first event of the queue is due. It reports whether there is an event.
func (l *live) pause() bool {
	for {
		var due <-chan time.Time // nil: only replies can come
		next, any := l.run.queue.peek()
		switch {
		case !any && l.waiting == 0:
			return false
		case any:
			left := time.Until(l.start.Add(time.Duration(next) * time.Millisecond))
			if left <= 0 && !l.take() {
				return true
			}
			due = time.After(left)
		}
		select {
		case a := <-l.came:
			l.add(a)
		case <-due:
		case <-l.Done:
			for l.waiting > 0 {
				l.add(<-l.came)
			}
			_, any := l.run.queue.peek()
			return any
		}
	}
}

// take queues a reply that has come. It reports whether there was one.
func (l *live) take() bool {
	select {
	case a := <-l.came:
		l.add(a)
		return true
	default:
		return false
	}
}

func (l *live) add(a arrival) {
	l.waiting--
	l.run.queue.add(max(a.at, l.run.now+1), item{node: a.node, event: a.event})
}
