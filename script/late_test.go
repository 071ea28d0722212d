package script_test

import (
	"fmt"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/script"
)

// What comes after its slot was collected is silence to the exchange, and can be
// asked for by name, once; a peer can fill only its own share.
func TestLate(t *testing.T) {
	var got []string
	take := func(me *script.Agent, name string) {
		s := name
		for _, m := range script.Late(me, name) {
			s += fmt.Sprintf(" %d:%s", m.From, m.Body)
		}
		if len(s) > 60 {
			s = fmt.Sprintf("%d bytes", len(s))
		}
		got = append(got, s)
	}
	m := script.New(seatOf(0, 1, 2), script.Options{}, func(me *script.Agent) synod.Answer {
		script.Collect[word](me, "w", 0, script.Until{At: 5})
		take(me, "w")
		script.Collect[word](me, "w", 1, script.Until{At: 10})
		take(me, "v")
		take(me, "w")
		take(me, "w")
		return "done"
	})
	m.Step(0, synod.Begin{})
	m.Step(1, heard(1, "w", 0, "in time"))
	m.Step(5, synod.Expired{ID: 1})
	m.Step(6, heard(2, "w", 0, "late"))
	for range 100 {
		m.Step(7, heard(1, "w", 0, "again"))
	}
	m.Step(7, heard(3, "w", 0, "a stranger's"))
	if fmt.Sprint(m.Step(10, synod.Expired{ID: 2})) != fmt.Sprint([]synod.Effect{synod.Decide{Answer: "done"}}) {
		t.Error("the text did not end")
	}
	if want := "[w v 520 bytes w]"; fmt.Sprint(got) != want {
		t.Errorf("%v, want %v", got, want)
	}
}

// TellTo sends to whom it names.
func TestTellTo(t *testing.T) {
	m := script.New(seatOf(0, 1, 2), script.Options{}, func(me *script.Agent) synod.Answer {
		script.TellTo(me, []synod.NodeID{2}, "w", 3, word("hello"))
		script.TellTo(me, nil, "w", 4, word("nobody"))
		return ""
	})
	effects := m.Step(0, synod.Begin{})
	if len(effects) != 2 || fmt.Sprint(effects[0].(synod.Send).To) != "[2]" || effects[0].(synod.Send).Slot.Round != 3 {
		t.Errorf("%v", effects)
	}
}
