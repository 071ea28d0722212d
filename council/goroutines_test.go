package council_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/core/journal"
	"synod.dev/synod/core/sign"
	"synod.dev/synod/core/sim"
	"synod.dev/synod/council"
	"synod.dev/synod/council/outcome"
	"synod.dev/synod/council/plan"
)

// goroutines is a Runner that plays each seat in its own goroutine with its own journal.
type goroutines struct {
	dir     string
	digests []string // of the seats, after Play
}

// seat is one goroutine: it steps its machine and writes its journal.
type seat struct {
	id      synod.NodeID
	machine synod.Machine
	journal *journal.Writer
	now     synod.Tick
	in      chan []synod.Event // of one tick
	out     chan []synod.Effect
}

func (s *seat) run() {
	for events := range s.in {
		var effects []synod.Effect
		for _, e := range events {
			s.journal.Event(s.now, s.id, e)
			for _, x := range s.machine.Step(s.now, e) {
				s.journal.Effect(s.now, s.id, x)
				effects = append(effects, x)
			}
		}
		s.out <- effects
	}
}

func (g *goroutines) Play(_ context.Context, p *plan.Plan, run council.Run,
	models council.Models) (council.Played, error) {
	var (
		records []outcome.Record
		err     error
	)
	n, keys, id := len(p.Seats()), sign.DeriveSymbolic(run.Instance.Seed, len(p.Seats())), p.InstanceID(run.Instance)
	seats, queue := make([]*seat, n), map[synod.Tick][][]synod.Event{} // by tick, by seat
	add := func(t synod.Tick, to synod.NodeID, e synod.Event) {
		if queue[t] == nil {
			queue[t] = make([][]synod.Event, n)
		}
		queue[t][to] = append(queue[t][to], e)
	}
	for i := range seats {
		s := &seat{id: synod.NodeID(i), in: make(chan []synod.Event), out: make(chan []synod.Effect)}
		if s.machine, err = p.Machine(keys.Identity(s.id, id), &run.Instance.Question); err != nil {
			return council.Played{}, err
		}
		if s.journal, err = journal.Create(filepath.Join(g.dir, fmt.Sprint(i)),
			journal.Head{Question: run.Instance.Question, Seat: &s.id}); err != nil {
			return council.Played{}, err
		}
		go s.run()
		seats[i], records = s, append(records, outcome.Record{Seat: s.id})
		add(0, s.id, synod.Begin{})
	}
	stopped, now := sim.Stalled, synod.Tick(0)
	for decided := 0; stopped == sim.Stalled && len(queue) > 0; {
		now = slices.Min(slices.Collect(maps.Keys(queue)))
		calls, notes := []sim.Call(nil), []sim.Noted(nil)
		for i, s := range seats {
			s.now = now
			s.in <- queue[now][i] // all seats work on the tick at once
		}
		delete(queue, now)
		for i, s := range seats {
			for _, x := range <-s.out {
				switch x := x.(type) {
				case synod.Send:
					for _, to := range x.To {
						add(now+1, to, synod.Heard{Message: x.Message})
					}
				case synod.Alarm:
					add(max(x.At, now+1), s.id, synod.Expired{ID: x.ID})
				case synod.Consult:
					calls = append(calls, sim.Call{Node: s.id, ID: x.ID, Prompt: x.Prompt})
				case synod.Note:
					notes = append(notes, sim.Noted{Node: s.id, Opinion: x.Opinion})
					records[i].Opinions = append(records[i].Opinions, outcome.Noted{Tick: now, Opinion: x.Opinion})
				case synod.Decide:
					decided++
				}
			}
		}
		early := run.Notes(now, notes)
		for i, r := range models.Ask(calls)() {
			add(now+1, calls[i].Node, synod.Answered{ID: calls[i].ID, Reply: &r})
		}
		if stopped = cmp.Or(early, run.Watch(now, notes), stopped); stopped == sim.Stalled && decided == n {
			stopped = sim.Finished
		}
	}
	for i, s := range seats {
		s.in <- []synod.Event{synod.Halt{}}
		<-s.out
		close(s.in)
		records[i].Stopped, records[i].Ticks = stopped, now
		if g.digests[i], err = s.journal.Close(stopped); err != nil {
			return council.Played{}, err
		}
	}
	return council.Played{Records: records}, nil
}

// Seats in goroutines have the same outcome, and the same journals, as under sim.
func TestSeatsInGoroutines(t *testing.T) {
	roles := "[{id: w, model: d, count: 3, role: worker}, {id: e, model: d, count: 4, role: evaluator}]"
	for protocol, seats := range map[string]string{"sac": "", "cp-wbft": "", "game": "", "decentllms": roles} {
		seats = cmp.Or(seats, "[{id: a, model: d, count: 6}, {id: b, model: d, adversary: {name: equivocator}}]")
		text := "protocol: {name: " + protocol + "}\nf: 1\nmodels: {d: {provider: simulated, ability: 0.7}}\nseats: " +
			seats + "\n"
		for seed := range uint64(3) {
			play := func(r council.Runner, path string) string {
				c, err := council.Open(convene(t, text).Plan(), council.Options{Runner: r})
				if err != nil {
					t.Fatal(err)
				}
				defer c.Close()
				o := decide(t, c, council.Ask{Question: sum, Seed: seed, Journal: path})
				o.Seconds, o.Journal, o.Digest = 0, "", ""
				b, _ := json.Marshal(o)
				return string(b)
			}
			g, path := &goroutines{dir: t.TempDir(), digests: make([]string, 7)}, filepath.Join(t.TempDir(), "whole")
			if one, other := play(nil, path), play(g, ""); one != other {
				t.Errorf("%s: sim gives\n%s\nand goroutines\n%s", protocol, one, other)
			}
			whole, err := journal.Load(path)
			if err != nil {
				t.Fatal(err)
			}
			if fmt.Sprint(whole.SeatDigests()) != fmt.Sprint(g.digests) {
				t.Errorf("%s: sim has the seat digests\n%v\nand goroutines\n%v", protocol, whole.SeatDigests(),
					g.digests)
			}
		}
	}
}
