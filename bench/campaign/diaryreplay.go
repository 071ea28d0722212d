package campaign

import (
	"bytes"
	"errors"
	"fmt"

	"synod.dev/synod"
	"synod.dev/synod/core/journal"
	"synod.dev/synod/core/script"
	"synod.dev/synod/internal/faultdisk"
)

// replay plays a machine with a journal, from which sometimes an effect is missing or another event stands in it, and
// replays that.
func (p *piece) replay() {
	p.State("a replay", true)
	seed, disk := p.rand.Uint64()|1, faultdisk.New()
	join := func(synod.NodeID) (synod.Machine, error) { return recorded(seed), nil }
	w, err := journal.CreateOn(disk, "/data/run.jsonl", journal.Head{Program: "campaign", Seed: 7})
	if err != nil {
		p.Fail(claimAgain, "a journal cannot be begun: %v", err)
		return
	}
	missing := -1
	if p.one(2) {
		missing = p.rand.IntN(10)
	}
	omitted := p.perform(w, seed, missing)
	p.State("a false replay", omitted)
	digest, err := w.Close("rounds")
	if err != nil {
		p.Fail(claimAgain, "a journal cannot be closed: %v", err)
		return
	}
	run, err := journal.Read(bytes.NewReader(disk.Backup()["/data/run.jsonl"]))
	if err != nil {
		p.Fail(claimAgain, "a journal cannot be read: %v", err)
		return
	}
	again, err := journal.Replay(run, join)
	different := new(journal.Divergence)
	p.Claim(claimAgain, omitted == errors.As(err, &different) && (omitted || err == nil && again == digest),
		"a journal from which effect %d is missing: replayed with %v", missing, err)
	events, err := run.Events()
	p.Claim(claimAgain, err == nil && len(events) > 0, "the events of a journal: %v", err)
}

// recorded is a machine that tells its neighbour something, asks its model twice, and notes what it hears.
func recorded(seed uint64) synod.Machine {
	seat := synod.Seat{Self: 0, Peers: []synod.NodeID{1}, Seed: seed, Question: questions[""][0]}
	return script.New(seat, script.Options{}, func(me *script.Agent) (last synod.Answer) {
		for round := range 2 {
			reply := me.Ask(synod.Prompt{Purpose: synod.Answering, Own: last})[0]
			last = synod.Answer(reply.Text)
			me.Note(synod.Opinion{Round: round, Answer: last, Source: synod.New})
			for _, h := range script.Exchange(me, "say", round, word(reply.Text), script.Until{At: me.Now() + 3}) {
				last += synod.Answer(h.Value)
			}
		}
		return last
	})
}

// perform plays the machine and writes what happens but the effect number missing. It reports whether it left it out.
func (p *piece) perform(w *journal.Writer, seed uint64, missing int) (omitted bool) {
	m, now, n := recorded(seed), synod.Tick(0), 0
	queue := []synod.Event{synod.Begin{}}
	for len(queue) > 0 {
		e := queue[0]
		queue = queue[1:]
		w.Event(now, 0, e)
		for _, effect := range m.Step(now, e) {
			if n++; n-1 == missing {
				omitted = true
			} else {
				w.Effect(now, 0, effect)
			}
			switch effect := effect.(type) {
			case synod.Consult:
				r := synod.Reply{Status: synod.OK, Text: fmt.Sprint("answer ", p.rand.IntN(100)), Calls: 1}
				w.Reply(0, effect.ID, r)
				queue = append(queue, synod.Answered{ID: effect.ID, Reply: &r})
			case synod.Alarm:
				if p.one(2) {
					queue = append(queue, synod.Heard{Message: &synod.Message{From: 1, Slot: synod.Slot{Name: "say"},
						Body: []byte("hello")}})
				}
				queue = append(queue, synod.Expired{ID: effect.ID})
				now = effect.At
			}
		}
	}
	m.Step(now, synod.Halt{})
	return omitted
}
