package llm

// callerShare is what a caller uses of the limits of a model.
type callerShare struct {
	running, waiting int
	last             int // the number of its last request that began, of all callers' requests
}

// turn is a request that waits.
type turn struct {
	caller string
	came   chan struct{} // closed when the request may start
}

func (l *limiter) shareOf(caller string) *callerShare {
	s := l.shares[caller]
	if s == nil {
		if l.shares == nil {
			l.shares = map[string]*callerShare{}
		}
		s = &callerShare{}
		l.shares[caller] = s
	}
	return s
}

// forget removes the share of a caller that has no request.
func (l *limiter) forget(caller string) {
	if s := l.shares[caller]; s.running == 0 && s.waiting == 0 {
		delete(l.shares, caller)
	}
}

// next is the place in the queue of the request that starts next: one of the caller with the fewest requests running,
// of several such callers the one that has waited longest since its last start, and of its requests the first.
func (l *limiter) next() int {
	best := 0
	for i, t := range l.waiting {
		s, least := l.shares[t.caller], l.shares[l.waiting[best].caller]
		if s.running < least.running || s.running == least.running && s.last < least.last {
			best = i
		}
	}
	return best
}
