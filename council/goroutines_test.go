package council_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/council"
	"synod.dev/synod/journal"
	"synod.dev/synod/sign"
	"synod.dev/synod/sim"
)

// goroutines is a Runner that plays each seat in its own goroutine, with a journal of
// its own. Seats share nothing: what is given to a seat in a tick comes over its
// channel, and so does what it wants done.
type goroutines struct {
	dir     string
	digests []string // of the seats, after Play
}

// seat is one goroutine: it steps its machine and writes its journal.
type seat struct {
	id      synod.NodeID
	machine synod.Machine
	journal *journal.Writer
	in      chan []synod.Event  // of one tick; closed at the end
	out     chan []synod.Effect // of one tick
}

func (s *seat) run(now *synod.Tick) {
	for events := range s.in {
		var effects []synod.Effect
		for _, e := range events {
			s.journal.Event(*now, s.id, e)
			for _, x := range s.machine.Step(*now, e) {
				s.journal.Effect(*now, s.id, x)
				effects = append(effects, x)
			}
		}
		s.out <- effects
	}
	close(s.out)
}

func (g *goroutines) Play(_ context.Context, p *council.Plan, run council.Run, models council.Models) ([]council.Record, error) {
	q, n := &run.Instance.Question, len(p.Seats())
	keys, id := sign.DeriveSymbolic(run.Instance.Seed, n), p.InstanceID(run.Instance)
	var now synod.Tick
	seats, records := make([]*seat, n), make([]council.Record, n)
	queue := map[synod.Tick][][]synod.Event{0: make([][]synod.Event, n)} // by tick, by seat
	add := func(t synod.Tick, to synod.NodeID, e synod.Event) {
		if queue[t] == nil {
			queue[t] = make([][]synod.Event, n)
		}
		queue[t][to] = append(queue[t][to], e)
	}
	for i := range seats {
		own := synod.NodeID(i)
		m, err := p.Machine(keys.Identity(own, id), q)
		if err != nil {
			return nil, err
		}
		w, err := journal.Create(filepath.Join(g.dir, fmt.Sprintf("seat%d", i)), journal.Head{Spec: p.Record(), Question: *q, Seat: &own, Instance: string(id)})
		if err != nil {
			return nil, err
		}
		seats[i] = &seat{own, m, w, make(chan []synod.Event), make(chan []synod.Effect)}
		go seats[i].run(&now)
		records[i].Seat = own
		add(0, own, synod.Begin{})
	}
	stopped := sim.Stalled
	for decided := 0; stopped == sim.Stalled && len(queue) > 0; {
		now = slices.Min(slices.Collect(maps.Keys(queue)))
		events, calls, notes := queue[now], []sim.Call(nil), []sim.Noted(nil)
		delete(queue, now)
		for i, s := range seats {
			s.in <- events[i] // all seats of the tick run at once
		}
		for i, s := range seats {
			from := synod.NodeID(i)
			for _, x := range <-s.out {
				switch x := x.(type) {
				case synod.Send:
					for _, to := range x.To {
						add(now+1, to, synod.Heard{Message: x.Message})
					}
				case synod.Alarm:
					add(max(x.At, now+1), from, synod.Expired{ID: x.ID})
				case synod.Consult:
					calls = append(calls, sim.Call{Node: from, ID: x.ID, Prompt: x.Prompt})
				case synod.Note:
					notes = append(notes, sim.Noted{Node: from, Opinion: x.Opinion})
					records[i].Opinions = append(records[i].Opinions, council.Noted{Tick: now, Opinion: x.Opinion})
				case synod.Decide:
					decided++
					records[i].Decided = &x.Answer
				}
			}
		}
		if len(calls) > 0 {
			for i, r := range models.Ask(calls)() {
				seats[calls[i].Node].journal.Reply(calls[i].Node, calls[i].ID, r)
				add(now+1, calls[i].Node, synod.Answered{ID: calls[i].ID, Reply: &r})
			}
		}
		if why := run.Watch(now, notes); why != "" {
			stopped = why
		} else if decided == n {
			stopped = sim.Finished
		}
	}
	g.digests = nil
	for i, s := range seats {
		s.in <- []synod.Event{synod.Halt{}}
		<-s.out
		close(s.in)
		records[i].Stopped, records[i].Ticks = stopped, now
		digest, err := s.journal.Close(stopped)
		if err != nil {
			return nil, err
		}
		g.digests = append(g.digests, digest)
	}
	return records, nil
}

// A runner that plays each seat in its own goroutine over channels gives the same
// outcome, and the same journal of every seat, as package sim.
func TestSeatsInGoroutines(t *testing.T) {
	roles := "[{id: w, model: d, count: 3, role: worker}, {id: e, model: d, count: 4, role: evaluator}]"
	for protocol, seats := range map[string]string{"sac": "", "cp-wbft": "", "game": "", "decentllms": roles} {
		if seats == "" {
			seats = "[{id: a, model: d, count: 6}, {id: b, model: d, adversary: {name: equivocator}}]"
		}
		spec, err := council.Parse([]byte("protocol: {name: " + protocol + "}\nf: 1\nmodels: {d: {provider: simulated, ability: 0.7}}\nseats: " + seats + "\n"))
		if err != nil {
			t.Fatal(err)
		}
		plan, err := council.NewPlan(spec)
		if err != nil {
			t.Fatal(err)
		}
		for seed := range uint64(3) {
			play := func(r council.Runner, path string) string {
				c, err := council.Open(plan, council.Options{Runner: r})
				if err != nil {
					t.Fatal(err)
				}
				defer c.Close()
				o := decide(t, c, council.Ask{Question: sum, Seed: seed, Journal: path})
				o.Seconds, o.Journal, o.Digest = 0, "", ""
				b, _ := json.Marshal(o)
				return string(b)
			}
			g, path := &goroutines{dir: t.TempDir()}, filepath.Join(t.TempDir(), "whole")
			if one, other := play(nil, path), play(g, ""); one != other {
				t.Errorf("%s: sim gives\n%s\nand goroutines\n%s", protocol, one, other)
			}
			whole, err := journal.Load(path)
			if err != nil {
				t.Fatal(err)
			}
			if fmt.Sprint(whole.SeatDigests()) != fmt.Sprint(g.digests) {
				t.Errorf("%s: sim has the seat digests\n%v\nand goroutines\n%v", protocol, whole.SeatDigests(), g.digests)
			}
		}
	}
}
