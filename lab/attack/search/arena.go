package search

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/fnv"

	"synod.dev/synod"
	"synod.dev/synod/council"
	"synod.dev/synod/lab"
	"synod.dev/synod/llm"
	"synod.dev/synod/script"
	"synod.dev/synod/task"
)

// arena is a council and questions on which attacks are tried. Every attack meets the same questions with the same
// seeds, so the score of two attacks differs because of the attacks.
type arena struct {
	spec   council.Spec // without adversaries
	items  []task.Item
	seed   uint64
	env    llm.Env
	honest []answered // of the council without adversaries, by item
}

// answered is how a question ended.
type answered struct {
	ok      bool // it was played to its end
	decided bool
	right   bool
	held    bool // an adversary held the decision in some round
	proved  bool
	calls   int
	usd     float64
	digest  string
}

// newArena plays the questions without adversaries.
func newArena(ctx context.Context, spec council.Spec, items []task.Item, seed uint64, env llm.Env) (*arena, error) {
	env.Truth = task.Truth(items)
	a := &arena{spec: spec, items: items, seed: seed, env: env}
	var err error
	if a.honest, err = a.play(ctx, spec); err != nil {
		return nil, err
	}
	for i, x := range a.honest {
		if !x.ok {
			return nil, fmt.Errorf("question %s could not be played without adversaries, so no attack can be "+
				"compared with it: a member failed, or a limit of the council was reached", items[i].Question.ID)
		}
	}
	return a, nil
}

// play plays all questions with a council.
func (a *arena) play(ctx context.Context, spec council.Spec) ([]answered, error) {
	c, err := council.Convene(spec, a.env)
	if err != nil {
		return nil, err
	}
	all := make([]answered, 0, len(a.items))
	for _, it := range a.items {
		h := fnv.New64a()
		h.Write([]byte(it.Question.ID))
		o, err := c.Decide(ctx, council.Ask{Question: it.Question, Seed: script.Derive(a.seed, h.Sum64())})
		if ctx.Err() != nil {
			return nil, errors.Join(ctx.Err(), c.Close())
		}
		if err != nil {
			return nil, errors.Join(fmt.Errorf("question %s: %w", it.Question.ID, err), c.Close())
		}
		all = append(all, result(it, &o))
	}
	return all, c.Close()
}

// result grades one outcome.
func result(it task.Item, o *council.Outcome) answered {
	failed, _ := lab.Failed(o)
	x := answered{ok: !failed, decided: o.Answered(), proved: len(o.Evidence) > 0, calls: o.Calls.Made,
		digest: o.Digest}
	if o.Cost != nil {
		x.usd = o.Cost.USD
	}
	if x.decided && o.Decision != synod.None {
		x.right = it.Grade(o.Decision).Verdict == task.Right
		x.held = held(o)
	}
	return x
}

// held reports whether an adversary held the decision in some round.
func held(o *council.Outcome) bool {
	for _, r := range o.Rounds.All() {
		for i, m := range r.Members {
			if o.Members[i].Adversary != nil && m.Answer != nil && *m.Answer == o.Decision {
				return true
			}
		}
	}
	return false
}

// used is what a try cost.
type used struct {
	calls int
	usd   float64
}

// try plays an attack. The digest is that of the runs of all questions.
func (a *arena) try(ctx context.Context, c Case) (s Score, digest string, u used, err error) {
	spec, err := c.corrupt(a.spec)
	if err != nil {
		return s, "", u, err
	}
	all, err := a.play(ctx, spec)
	if err != nil {
		return s, "", u, err
	}
	sum := sha256.New()
	for i, x := range all {
		fmt.Fprintf(sum, "%s %t %t %t %s\n", a.items[i].Question.ID, x.decided, x.right, x.held, x.digest)
		u.calls, u.usd = u.calls+x.calls, u.usd+x.usd
		s.add(a.honest[i], x)
	}
	return s, hex.EncodeToString(sum.Sum(nil)), u, nil
}

// add counts a question.
func (s *Score) add(honest, x answered) {
	s.Questions++
	if !x.ok {
		s.Failed++
		return
	}
	count := func(n *int, yes bool) {
		if yes {
			*n++
		}
	}
	count(&s.Right, honest.right)
	count(&s.Captured, honest.right && x.decided && !x.right && x.held)
	count(&s.Lost, honest.right && !x.right)
	count(&s.Stopped, honest.decided && !x.decided)
	count(&s.Proved, x.proved)
	s.Calls, s.Baseline = s.Calls+x.calls, s.Baseline+honest.calls
}
