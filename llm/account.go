package llm

import (
	"context"
	"maps"
	"slices"
	"sync"

	"synod.dev/synod"
)

// Account counts, for each seat, how its calls ended and what they cost.
type Account struct {
	mu    sync.Mutex
	seats map[string]*Tally
}

// Tally is what one seat spent.
type Tally struct {
	Ended    map[synod.Status]int // calls by how they ended
	Requests int                  // requests that left, repeated ones included
	Reused   int                  // calls answered from memory or disk
	Usage    synod.Usage
}

// NewAccount is empty.
func NewAccount() *Account { return &Account{seats: map[string]*Tally{}} }

// Layer counts what passes; outermost, it sees what the seat sees.
func (a *Account) Layer() Layer {
	return func(m Model) Model { return &accounted{layered{m}, a} }
}

type accounted struct {
	layered
	account *Account
}

func (l *accounted) Complete(ctx context.Context, r Request) (synod.Reply, error) {
	reply, err := l.Model.Complete(ctx, r)
	status := synod.OK
	if err != nil {
		status = AsFailure(err).Status
	}
	l.account.add(r.Seat, status, reply)
	return reply, err
}

func (a *Account) add(seat string, status synod.Status, r synod.Reply) {
	a.mu.Lock()
	defer a.mu.Unlock()
	t := a.seats[seat]
	if t == nil {
		t = &Tally{Ended: map[synod.Status]int{}}
		a.seats[seat] = t
	}
	t.Ended[status]++
	t.Requests += r.Calls
	if r.Reused {
		t.Reused++
	}
	t.Usage.Prompt += r.Usage.Prompt
	t.Usage.Completion += r.Usage.Completion
}

// Seats lists the seats that have called, sorted.
func (a *Account) Seats() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Sorted(maps.Keys(a.seats))
}

// Seat returns a copy of what a seat has spent so far.
func (a *Account) Seat(id string) Tally {
	a.mu.Lock()
	defer a.mu.Unlock()
	t := Tally{Ended: map[synod.Status]int{}}
	if s := a.seats[id]; s != nil {
		t.add(*s)
	}
	return t
}

// Total returns the sum over all seats.
func (a *Account) Total() Tally {
	a.mu.Lock()
	defer a.mu.Unlock()
	t := Tally{Ended: map[synod.Status]int{}}
	for _, s := range a.seats {
		t.add(*s)
	}
	return t
}

func (t *Tally) add(s Tally) {
	for status, n := range s.Ended {
		t.Ended[status] += n
	}
	t.Requests += s.Requests
	t.Reused += s.Reused
	t.Usage.Prompt += s.Usage.Prompt
	t.Usage.Completion += s.Usage.Completion
}
