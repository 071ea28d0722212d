package broadcast

import (
	"strings"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/core/script"
	"synod.dev/synod/core/sign"
)

// [BB-3, F11] The sender is one of the parties that may be Byzantine, in the group or outside
// it.
func TestRounds(t *testing.T) {
	for f := range 3 {
		g := small()
		g.F = f
		if in, out := g.Rounds(0), g.Rounds(4); in != f+1 || out != f+2 {
			t.Errorf("f = %d: %d rounds for a member, %d for an outsider", f, in, out)
		}
		if g.End() != start+synod.Tick(f+2)*within {
			t.Errorf("f = %d: the end is at %d", f, g.End())
		}
		if g.Senders = g.Members; g.End() != start+synod.Tick(f+1)*within {
			t.Errorf("f = %d, members only: the end is at %d", f, g.End())
		}
	}
}

// lone returns a group of one member, which is the only sender.
func lone() Group {
	g := small()
	g.F, g.Members, g.Senders = 0, []synod.NodeID{0}, []synod.NodeID{0}
	return g
}

// aloneAt runs the member of lone with this value. It calls Run at the tick begin, and its
// round ends at the tick end.
func aloneAt(mine []byte, begin, end synod.Tick) (out *Outcome) {
	seat := synod.Seat{Peers: []synod.NodeID{1}, Signer: sign.DeriveSymbolic(1, 5).Signer(0, run)}
	m := script.New(seat, script.Options{}, func(me *script.Agent) synod.Answer {
		script.Collect[synod.Response](me, "idle", 0, script.Until{At: begin})
		out = Run(me, lone(), mine)
		return ""
	})
	m.Step(0, synod.Begin{})
	m.Step(begin, synod.Expired{ID: 1})
	m.Step(end, synod.Expired{ID: 2})
	m.Step(end, synod.Halt{})
	return out
}

// An empty value is a value, and nil is silence. A member that sends or receives late marks
// its own delivery as unsafe [BB-8].
func TestOwnValue(t *testing.T) {
	g := lone()
	for _, c := range []struct {
		mine       []byte
		begin, end synod.Tick
		want       string
		unsafe     bool
	}{
		{[]byte("w"), 1, g.End(), `"w"`, false},
		{[]byte{}, 1, g.End(), `""`, false},
		{nil, 1, g.End(), "⊥", false},
		{[]byte("w"), g.Start, g.End(), `"w"`, false},
		{[]byte("w"), g.Start + 1, g.End(), `"w"`, true},
		{nil, g.Start + 1, g.End(), "⊥", false},
		{nil, 1, g.End() + 1, "⊥", true},
	} {
		d := aloneAt(c.mine, c.begin, c.end).Deliveries[0]
		if show(d) != c.want || d.Unsafe != c.unsafe || d.Evidence != nil {
			t.Errorf("%+v: delivers %s, unsafe %v", c, show(d), d.Unsafe)
		}
	}
}

// Run panics with a clear message in the cases that its caller must exclude.
func TestMisuse(t *testing.T) {
	signer := sign.DeriveSymbolic(1, 9).Signer(1, run)
	all := []synod.NodeID{0, 2, 3, 4}
	for want, c := range map[string]struct {
		seat synod.Seat
		mine []byte
	}{
		"no signer":              {seat: synod.Seat{Self: 1, Peers: all}},
		"not linked with 4":      {seat: synod.Seat{Self: 1, Peers: all[:3], Signer: signer}},
		"neither a member":       {seat: synod.Seat{Self: 5, Peers: []synod.NodeID{0, 1, 2, 3}, Signer: signer}},
		"has a value and is not": {synod.Seat{Self: 1, Peers: all, Signer: signer}, []byte("w")},
		"a value of 101 bytes": {synod.Seat{Self: 0, Peers: []synod.NodeID{1, 2, 3, 4}, Signer: signer},
			make([]byte, 101)},
	} {
		func() {
			defer func() {
				if err, _ := recover().(error); err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("%s: %v", want, err)
				}
			}()
			m := script.New(c.seat, script.Options{}, func(me *script.Agent) synod.Answer {
				Run(me, small(), c.mine)
				return ""
			})
			defer m.Step(1, synod.Halt{})
			m.Step(0, synod.Begin{})
		}()
	}
}

// A parcel has one encoding: senders ascend, and none has more than two chains.
func TestParcelForm(t *testing.T) {
	of := func(senders ...synod.NodeID) (p parcel) {
		for _, s := range senders {
			p = append(p, chain{sender: s, value: []byte{}, links: []link{}})
		}
		return p
	}
	for _, c := range []struct {
		p    parcel
		want bool
	}{{of(), true}, {of(1, 1, 2, 2, 7), true}, {of(1, 1, 1), false}, {of(2, 1), false}, {of(1, 2, 1), false},
		{of(-1), false}} {
		b, _ := c.p.AppendBinary(nil)
		var p parcel
		if got := p.UnmarshalBinary(b) == nil; got != c.want {
			t.Errorf("%v is accepted: %v", c.p, got)
		}
	}
	var p parcel
	if p.UnmarshalBinary(make([]byte, synod.MaxBody+1)) == nil {
		t.Error("more than MaxBody is accepted")
	}
}
