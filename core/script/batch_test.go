package script_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/core/script"
)

// talk asks for two scores and then exchanges the first one, in each of some rounds.
type talk struct {
	me   *script.Agent
	said string
}

func (k *talk) ask(t int) {
	for _, c := range []synod.Answer{"a", synod.Answer(fmt.Sprint(t))} {
		k.me.Put(&synod.Prompt{Purpose: synod.Scoring, Candidate: c})
	}
}

func (k *talk) send(t int) {
	for i := range 2 {
		k.said += " " + k.me.Reply(i).Text
	}
	script.Tell(k.me, "w", t, word(k.me.Replies()[1].Text))
	k.me.Expect("w", t, script.Until{At: synod.Tick(10 * (t + 1)), Early: true})
}

func (k *talk) read(t int) {
	for _, h := range script.Received[word](nil, k.me, "w", t) {
		k.said += fmt.Sprintf(" %d=%s", h.From, h.Value)
	}
}

func (k *talk) play(rounds int) synod.Answer {
	for t := range rounds {
		k.ask(t)
		k.me.Wait()
		k.send(t)
		k.me.Wait()
		k.read(t)
	}
	return synod.Answer(k.said)
}

func talking(o script.Options, rounds int) synod.Machine {
	return script.New(seatOf(0, 1, 2), o,
		func(me *script.Agent) synod.Answer { return (&talk{me: me}).play(rounds) })
}

// StepAll has the effects of one Step after another, however the events of a run are split.
func TestStepAll(t *testing.T) {
	events := []synod.Event{
		synod.Begin{}, heard(2, "w", 0, "b"),
		synod.Answered{ID: 0, Reply: &synod.Reply{Status: synod.OK, Text: "r0"}},
		synod.Answered{ID: 1, Reply: &synod.Reply{Status: synod.OK, Text: "r1"}},
		heard(1, "w", 0, "a"), heard(1, "w", 0, "again"), heard(1, "w", 1, "c"),
		synod.Answered{ID: 2, Reply: &synod.Reply{Status: synod.OK, Text: "r2"}}, synod.Expired{ID: 1},
		synod.Answered{ID: 3, Reply: &synod.Reply{Status: synod.OK, Text: "r3"}}, heard(2, "w", 1, "d"),
	}
	one := talking(script.Options{}, 2)
	var want []string
	for _, e := range events {
		for _, x := range one.Step(1, e) {
			want = append(want, show([]synod.Effect{x}))
		}
	}
	for split := range 1 << (len(events) - 1) {
		m := talking(script.Options{}, 2).(synod.Batcher)
		var got []string
		var batch []synod.Input
		for i, e := range events {
			in := synod.Input{Event: e}
			if a, ok := e.(synod.Answered); ok {
				in = synod.Input{Answered: a}
			}
			if batch = append(batch, in); split>>i&1 == 1 || i == len(events)-1 {
				for _, x := range m.StepAll(1, batch) {
					got = append(got, show([]synod.Effect{x}))
				}
				batch = nil
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("split %b: %q, want %q", split, got, want)
		}
	}
	if len(want) == 0 || !strings.HasPrefix(want[len(want)-1], "decide") {
		t.Errorf("the run has not ended: %q", want)
	}
}

// A round may begin before the messages of the one before are collected.
func TestRoundsBeginBeforeCollecting(t *testing.T) {
	var got string
	m := script.New(seatOf(0, 1, 2), script.Options{}, func(me *script.Agent) synod.Answer {
		for round := range 2 {
			me.Expect("w", round, script.Until{At: synod.Tick(10 * (round + 1)), Early: true})
			me.Wait()
		}
		for round := range 3 {
			for _, h := range script.Received[word](nil, me, "w", round%2) {
				got += fmt.Sprintf(" %d:%d=%s", round, h.From, h.Value)
			}
		}
		return "done"
	})
	m.Step(0, synod.Begin{})
	for _, e := range []synod.Event{heard(2, "w", 1, "early"), heard(1, "w", 0, "a"), heard(1, "w", 0, "again"),
		synod.Expired{ID: 1}, heard(2, "w", 0, "b"), heard(2, "w", 0, "again"), heard(2, "w", 1, "again")} {
		m.Step(1, e)
	}
	if e := show(m.Step(2, heard(1, "w", 1, "c"))); e != `decide "done"` || got != " 0:1=a 0:2=b 1:1=c 1:2=early" {
		t.Errorf("%s, received%s", e, got)
	}
}
