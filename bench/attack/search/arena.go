package search

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/bench"
	"synod.dev/synod/bench/attack"
	"synod.dev/synod/bench/task"
	"synod.dev/synod/core/reliability"
	"synod.dev/synod/core/script"
	"synod.dev/synod/council"
	"synod.dev/synod/council/outcome"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/llm"
)

// arena is a council and questions on which attacks are tried. Every attack meets the same questions with the same
// seeds, so the score of two attacks differs because of the attacks.
type arena struct {
	spec   plan.Spec   // without adversaries
	past   []task.Item // from which a council that learns learns before each attack; empty: it does not
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
func newArena(ctx context.Context, spec plan.Spec, past, items []task.Item, seed uint64, env llm.Env,
) (a *arena, err error) {
	env.Truth = task.Truth(slices.Concat(past, items))
	a = &arena{spec: spec, past: past, items: items, seed: seed, env: env}
	if a.honest, _, err = a.play(ctx, nil); err != nil {
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

// play plays all questions under an attack, after its history.
func (a *arena) play(ctx context.Context, c AttackCase) (all []answered, u used, err error) {
	spec := a.spec
	if len(a.past) > 0 {
		learned, cost, err := a.learn(ctx, c)
		if err != nil {
			return nil, u, err
		}
		spec.Protocol = maps.Clone(spec.Protocol)
		maps.Copy(spec.Protocol, learned)
		c, u = c.phased(true), cost
	}
	if spec, err = c.corrupt(spec); err != nil {
		return nil, u, err
	}
	err = a.ask(ctx, spec, a.items, func(_ *plan.Plan, it *task.Item, o *outcome.Outcome) {
		x := result(*it, o)
		u.calls, u.usd = u.calls+x.calls, u.usd+x.usd
		all = append(all, x)
	})
	return all, u, err
}

// learn plays the history of an attack, which asks every member, and returns the parameters of the protocol that it
// gives the council.
func (a *arena) learn(ctx context.Context, c AttackCase) (learned map[string]any, u used, err error) {
	spec, err := c.phased(false).corrupt(a.spec)
	if err != nil {
		return nil, u, err
	}
	spec.Protocol = maps.Clone(spec.Protocol)
	spec.Protocol["audit"] = 1.0
	var seen []reliability.Observation
	var made *plan.Plan
	err = a.ask(ctx, spec, a.past, func(p *plan.Plan, it *task.Item, o *outcome.Outcome) {
		x := result(*it, o)
		u.calls, u.usd = u.calls+x.calls, u.usd+x.usd
		seen = append(seen, outcome.Observations(p, &it.Question, o, nil)...)
		made = p
	})
	if err != nil {
		return nil, u, err
	}
	return attack.Learned(made, seen), u, nil
}

// ask asks a council some questions, and hands every outcome to see.
func (a *arena) ask(ctx context.Context, spec plan.Spec, items []task.Item,
	see func(*plan.Plan, *task.Item, *outcome.Outcome)) error {
	c, err := council.Convene(spec, a.env)
	if err != nil {
		return err
	}
	for i := range items {
		q := items[i].Question
		h := fnv.New64a()
		h.Write([]byte(q.ID))
		o, err := c.Decide(ctx, council.Ask{Question: q, Seed: script.Derive(a.seed, h.Sum64())})
		if ctx.Err() != nil {
			return errors.Join(ctx.Err(), c.Close())
		}
		if err != nil {
			return errors.Join(fmt.Errorf("question %s: %w", q.ID, err), c.Close())
		}
		see(c.Plan(), &items[i], &o)
	}
	return c.Close()
}

// result grades one outcome.
func result(it task.Item, o *outcome.Outcome) answered {
	failed, _ := bench.Failed(o)
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
func held(o *outcome.Outcome) bool {
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
func (a *arena) try(ctx context.Context, c AttackCase) (s Damage, digest string, u used, err error) {
	all, u, err := a.play(ctx, c)
	if err != nil {
		return s, "", u, err
	}
	sum := sha256.New()
	for i, x := range all {
		fmt.Fprintf(sum, "%s %t %t %t %s\n", a.items[i].Question.ID, x.decided, x.right, x.held, x.digest)
		s.add(a.honest[i], x)
	}
	return s, hex.EncodeToString(sum.Sum(nil)), u, nil
}

// add counts a question.
func (s *Damage) add(honest, x answered) {
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
