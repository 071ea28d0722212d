// Package search looks for the attack that harms a council most, within a budget of tries.
//
// A try plays one attack (AttackCase) on a fixed set of questions and compares every question with the same one without
// adversaries. The first tries have each adversary once, at the seats that harm the graph most; others are drawn, and
// then found by changing the worst attacks so far. The worst attack is reduced to the seats and parameters that it
// needs, and measured again on questions that the search has not seen: because it was chosen for its score, its score
// on the questions of the search is too high.
//
// All choices follow from a seed and from the scores, so a search that was interrupted goes on as if it had not been.
package search

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/bench/attack"
	"synod.dev/synod/bench/task"
	"synod.dev/synod/core/script"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/llm"
)

// Strategy is how attacks are chosen after the first part of the budget, in which they are drawn.
type Strategy string

// The strategies.
const (
	Random       Strategy = "random"       // all are drawn
	Greedy       Strategy = "greedy"       // the worst attack so far is changed
	Evolutionary Strategy = "evolutionary" // the worst attacks so far are changed and crossed
)

// Strategies lists the strategies.
func Strategies() []string { return []string{string(Random), string(Greedy), string(Evolutionary)} }

// Options say what is searched.
type Options struct {
	Spec        plan.Spec // the council, without adversaries and without trust
	Adversaries []string  // names of the catalogue, or attack.All; empty: all that apply to the protocol
	Members     int       // the most seats that adversaries get; 0: F of the council, or 1
	Seats       []string  // ids of the seats that they may get; empty: all
	Keep        []string  // parameters that stay at their defaults, such as text; empty: none
	Strategy    Strategy  // "": Evolutionary
	Tries       int       // at least 1; what reducing the worst attack and measuring it again cost comes on top
	Calls       int       // model calls at most, in all; 0: no bound
	USD         float64   // US dollars at most; 0: no bound
	Seed        uint64
	Items       []task.Item // the questions of the search
	Fresh       []task.Item // those on which the worst attack is measured again
	History     []task.Item // those from which a council that learns learns before each try; empty: it does not learn
	Env         llm.Env
	// Progress is called after each try; may be nil.
	Progress func(n int, worst Try)
}

// Try is one attack that was played.
type Try struct {
	N     int        `json:"n"` // from 1
	Case  AttackCase `json:"case"`
	Score Damage     `json:"score"`
	Calls int        `json:"calls"` // all calls of its questions
	USD   float64    `json:"usd"`
}

// Ended says why a search ended.
const (
	EndedTries     = "all tries were made"
	EndedCalls     = "the bound on calls was reached"
	EndedUSD       = "the bound on cost was reached"
	EndedWorst     = "every right answer was captured"
	EndedExhausted = "no other attack was found"
)

// Findings is what a search found.
type Findings struct {
	Tries    int        // made, without those that reduced the worst attack
	Reducing int        // tries that reduced the worst attack
	First    int        // the first try that captured a right answer; 0: none did
	Found    Try        // the worst of all tries
	Worst    AttackCase // Found.Case, reduced
	Ended    string     // one of the constants above
	Before   Measurement
	After    Measurement // on the fresh questions
	// Learned are the parameters of the protocol that a council has after the history of the worst attack.
	Learned map[string]any
}

// Measurement is the score of the worst attack on some questions.
type Measurement struct {
	Score  Damage `json:"score"`
	Digest string `json:"digest"` // of the runs of all questions
}

const (
	population = 24  // how many of the worst attacks are changed and crossed
	exploring  = 100 // tries with drawn attacks, whatever the budget, before others follow from them
	attempts   = 50  // how often an attack is drawn that has not been tried
)

// searching is a search under way.
type searching struct {
	Options
	space *space
	arena *arena
	log   *log
	tries []Try
	best  []Try // the worst attacks of tries, at most population; the worst first
	seen  map[string]bool
	queue []AttackCase // attacks that are tried first
	calls int
	usd   float64
}

// Run searches. The folder keeps every try, so that the same call goes on where an earlier one ended. It returns the
// error of ctx when that ends.
func Run(ctx context.Context, dir string, o Options) (*Findings, error) {
	s := &searching{Options: o, seen: map[string]bool{}}
	if err := s.open(); err != nil {
		return nil, err
	}
	var err error
	if s.log, err = openLog(dir, s.identity()); err != nil {
		return nil, err
	}
	defer s.log.close()
	if s.arena, err = newArena(ctx, o.Spec, o.History, o.Items, o.Seed, o.Env); err != nil {
		return nil, err
	}
	for _, t := range s.log.tries {
		if next, ok := s.next(); !ok || next.key() != t.Case.key() {
			return nil, fmt.Errorf("try %d in the folder is not the one that this program makes; search again in a "+
				"new folder", t.N)
		}
		s.add(t)
	}
	ended, err := s.search(ctx)
	if err != nil {
		return nil, err
	}
	return s.finish(ctx, ended)
}

// open checks the options and makes the space of attacks.
func (s *searching) open() error {
	plan, err := plan.New(s.Spec)
	if err != nil {
		return err
	}
	names, err := attack.Names(plan, s.Adversaries, len(s.History) > 0)
	if err != nil {
		return err
	}
	var seats []string
	for _, x := range plan.Seats() {
		seats = append(seats, x.ID)
	}
	for _, id := range s.Seats {
		if !slices.Contains(seats, id) {
			return fmt.Errorf("--seats has %q%s; it must be the id of a seat", id, synod.Hint(id, seats))
		}
	}
	all := len(seats)
	if len(s.Seats) > 0 {
		seats = s.Seats
	}
	s.Members = cmp.Or(s.Members, max(1, s.Spec.F))
	if s.Members > len(seats) || s.Members >= all {
		return fmt.Errorf("%d adversaries among %d members, of which %d may be one; at least one must be "+
			"honest (example: --members 1)", s.Members, all, len(seats))
	}
	s.Strategy = cmp.Or(s.Strategy, Evolutionary)
	keep := s.Keep
	if len(s.History) > 0 {
		keep = slices.Concat(keep, attack.PhaseKeys) // the arena sets them
	}
	if s.space, err = newSpace(seats, names, keep, s.Members); err != nil {
		return err
	}
	places, err := s.places(plan)
	for _, k := range s.space.kinds {
		for _, at := range places {
			s.queue = append(s.queue, plain(k, at))
		}
	}
	return err
}

// places returns the seats at which each adversary is tried first: for each role those that harm the graph most
// (docs/research/adversaries.md), or the first that the options list.
func (s *searching) places(p *plan.Plan) (all [][]string, err error) {
	if len(s.Seats) > 0 {
		return [][]string{s.Seats[:s.Members]}, nil
	}
	in := map[string]int{} // seats by role
	for _, x := range p.Seats() {
		in[string(x.Role)]++
	}
	for _, role := range slices.Sorted(maps.Keys(in)) {
		at, err := plan.PlaceAdversaries(p.Graph().Built, p.Seats(), plan.Adversaries{Role: role,
			Members: new(min(s.Members, in[role]))})
		if err != nil {
			return nil, err
		}
		var ids []string
		for _, i := range at {
			ids = append(ids, p.Seats()[i].ID)
		}
		all = append(all, ids)
	}
	return all, nil
}

// add records a try.
func (s *searching) add(t Try) {
	s.tries = append(s.tries, t)
	at, _ := slices.BinarySearchFunc(s.best, t, better)
	s.best = slices.Insert(s.best, at, t)
	s.best = s.best[:min(population, len(s.best))]
	s.seen[t.Case.key()] = true
	s.calls, s.usd = s.calls+t.Calls, s.usd+t.USD
}

// search makes tries until one of the reasons to end applies, which it returns.
func (s *searching) search(ctx context.Context) (ended string, err error) {
	for {
		worst := s.worst()
		switch {
		case worst.Score.Right > 0 && worst.Score.Captured == worst.Score.Right:
			return EndedWorst, nil
		case len(s.tries) >= s.Tries:
			return EndedTries, nil
		case s.Calls > 0 && s.calls >= s.Calls:
			return EndedCalls, nil
		case s.USD > 0 && s.usd >= s.USD:
			return EndedUSD, nil
		}
		c, ok := s.next()
		if !ok {
			return EndedExhausted, nil
		}
		t, err := s.play(ctx, c)
		if err != nil {
			return "", err
		}
		if err := s.log.add(t); err != nil {
			return "", err
		}
		s.add(t)
		if s.Progress != nil {
			s.Progress(len(s.tries), s.worst())
		}
	}
}

// play makes the next try.
func (s *searching) play(ctx context.Context, c AttackCase) (Try, error) {
	score, _, u, err := s.arena.try(ctx, c)
	if err != nil {
		err = fmt.Errorf("%s: %w", c, err)
	}
	return Try{N: len(s.tries) + 1, Case: c, Score: score, Calls: u.calls, USD: u.usd}, err
}

// worst returns the try that did most harm.
func (s *searching) worst() Try {
	if len(s.best) == 0 {
		return Try{}
	}
	return s.best[0]
}

// next returns the next attack. It depends on the seed and the tries so far only. It returns false if it finds none
// that has not been tried.
func (s *searching) next() (AttackCase, bool) {
	if n := len(s.tries); n < len(s.queue) {
		return s.queue[n], true
	}
	r := rand.New(rand.NewPCG(s.Seed, script.Derive(s.Seed, uint64(len(s.tries)))))
	for range attempts {
		if c := s.propose(r); !s.seen[c.key()] {
			return c, true
		}
	}
	return nil, false
}

// propose draws an attack, or changes earlier ones, by the strategy.
func (s *searching) propose(r *rand.Rand) AttackCase {
	drawn := len(s.tries) < len(s.queue)+exploring || r.IntN(10) == 0
	switch {
	case s.Strategy == Random || drawn:
		return s.space.draw(r)
	case s.Strategy == Greedy:
		return s.space.mutate(r, s.worst().Case)
	}
	pick := func() AttackCase { // of two, the worse one
		return s.best[min(r.IntN(len(s.best)), r.IntN(len(s.best)))].Case
	}
	c := pick()
	if r.IntN(2) == 0 {
		c = s.space.cross(r, c, pick())
	}
	return s.space.mutate(r, c)
}

// finish reduces the worst attack and measures it again.
func (s *searching) finish(ctx context.Context, ended string) (*Findings, error) {
	if len(s.tries) == 0 {
		return nil, errors.New("there was no try; --budget must be at least 1")
	}
	r := &Findings{Tries: len(s.tries), Found: s.worst(), Ended: ended}
	if i := slices.IndexFunc(s.tries, func(t Try) bool { return t.Score.Captured > 0 }); i >= 0 {
		r.First = s.tries[i].N
	}
	var err error
	if r.Worst, r.Reducing, err = s.reduce(ctx, r.Found); err != nil {
		return nil, err
	}
	if r.Before, err = s.arena.measure(ctx, r.Worst); err != nil {
		return nil, err
	}
	if len(s.History) > 0 {
		if r.Learned, _, err = s.arena.learn(ctx, r.Worst); err != nil {
			return nil, err
		}
	}
	fresh, err := newArena(ctx, s.Spec, s.History, s.Fresh, s.freshSeed(), s.Env)
	if err != nil {
		return nil, err
	}
	r.After, err = fresh.measure(ctx, r.Worst)
	return r, err
}

// freshSeed is the seed of the questions on which the worst attack is measured again.
func (s *searching) freshSeed() uint64 { return script.Derive(s.Seed, 1<<63) }

// measure plays an attack.
func (a *arena) measure(ctx context.Context, c AttackCase) (m Measurement, err error) {
	m.Score, m.Digest, _, err = a.try(ctx, c)
	return m, err
}

// reduce returns an attack with fewer seats and parameters that captures as many right answers as the worst one or,
// where that captures none, harms as much.
func (s *searching) reduce(ctx context.Context, worst Try) (AttackCase, int, error) {
	c, n := worst.Case, 0
	for again := true; again; {
		again = false
		for _, smaller := range s.smaller(c) {
			score, _, _, err := s.arena.try(ctx, smaller)
			if err != nil {
				return nil, n, err
			}
			n++
			if stays := score.Captured >= worst.Score.Captured; stays && worst.Score.Captured > 0 ||
				score.Compare(worst.Score) >= 0 {
				c, again = smaller, true
				break
			}
		}
	}
	return c, n, nil
}

// smaller returns the attacks with one seat less, and then those with one parameter less.
func (s *searching) smaller(c AttackCase) (all []AttackCase) {
	if len(c) > 1 {
		for _, p := range c {
			all = append(all, c.without(p.Seat))
		}
	}
	for _, p := range c {
		for key := range p.Adversary {
			if key == "name" {
				continue
			}
			rest := plan.Params{}
			for k, v := range p.Adversary {
				if k != key {
					rest[k] = v
				}
			}
			all = append(all, c.with(Placed{p.Seat, rest}))
		}
	}
	slices.SortStableFunc(all, func(a, b AttackCase) int {
		return cmp.Or(len(a)-len(b), cmp.Compare(a.key(), b.key()))
	})
	return all
}
