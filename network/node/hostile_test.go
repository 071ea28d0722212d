package node_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"synod.dev/synod/core/sign"
	"synod.dev/synod/internal/canonical"
	"synod.dev/synod/network/link"
	"synod.dev/synod/network/node"
	"synod.dev/synod/network/node/call"
)

// besieged is a council of four honest nodes and one with an adversary at its links.
func besieged(t *testing.T, name string, seed byte) *network {
	net := convene(t, fmt.Sprintf("protocol: {name: sac, rounds: 2}\nf: 1\n"+quick+"models: {d: {provider: simulated, "+
		"ability: 1}}\nseats: [{id: a, model: d, count: 4}, {id: bad, model: d, adversary: {name: %s}}]\n", name), seed)
	net.change = func(seat int, c *node.Config) {
		c.Stranger = func(s sign.Secret) (link.Transport, error) { return net.memory.Dialer(s.PublicKey()), nil }
	}
	return net
}

// A node with an adversary at its links does what it likes with a neighbour that trusts it, and nothing to a council:
// honest nodes find one another, decide rightly, admit no stranger and name nobody.
func TestHostileLinks(t *testing.T) {
	for i, name := range []string{"flooder", "slow-drip", "forger", "sybil-swarm"} {
		t.Run(name, func(t *testing.T) {
			weak := trusting(t, besieged(t, name, byte(100+i)), name)
			if !weak.won(name) {
				t.Errorf("the attack is too weak: %+v", weak)
			}
			const trials = 3
			for trial := range trials {
				withstand(t, besieged(t, name, byte(110+trials*i+trial)), name)
			}
			t.Logf("a neighbour without defences: %+v; councils harmed: 0 of %d", weak, trials)
		})
	}
}

// withstand asks a council and checks what must hold.
func withstand(t *testing.T, net *network, name string) {
	t.Helper()
	for i := range net.nodes {
		net.start(i)
	}
	for deadline := time.Now().Add(20 * time.Second); !acquainted(net.nodes[:4]); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the honest nodes do not find one another")
		}
	}
	time.Sleep(150 * time.Millisecond) // of attack
	res, o := net.ask(sum)
	if o.Answer == nil || *o.Answer != "42" {
		t.Errorf("decided %v: %s", o.Answer, o.Reason)
	}
	for _, p := range res.Proofs {
		t.Errorf("seat %d is named", p.A.From)
	}
	late := 0
	for i, n := range net.nodes[:4] {
		if f := res.Finals[i]; f == nil {
			late++ // on a busy machine the record of a node may come after the end of the run
		}
		for _, p := range n.Status().Peers {
			if p.ID == "bad" && name == "slow-drip" && p.Frames > 0 {
				t.Errorf("node %d waited for %d dripping frames", i, p.Frames)
			}
			if p.ID == "bad" && name == "flooder" && p.Strikes == 0 {
				t.Errorf("node %d does not exclude the flooder: %+v", i, p)
			}
		}
	}
	if late > 1 {
		t.Errorf("%d of 4 honest nodes have no record", late)
	}
	for _, stop := range net.stop {
		stop()
	}
}

func acquainted(nodes []*node.Node) bool {
	for _, n := range nodes {
		for _, p := range n.Status().Peers {
			if p.ID != "bad" && (!p.Connected || p.Incoming == 0) {
				return false
			}
		}
	}
	return true
}

// trust is what a neighbour without defences took from an adversary.
type trust struct {
	Frames, Garbled, Strangers int64
	Waited                     time.Duration // for one frame, with a time limit for each byte only
}

func (x trust) won(name string) bool {
	switch name {
	case "flooder":
		return x.Frames > 500
	case "slow-drip":
		return x.Waited > time.Second
	case "forger":
		return x.Garbled > 0
	}
	return x.Strangers >= 30
}

// trusting starts the hostile node beside a neighbour that admits everybody, reads all frames and checks nothing.
func trusting(t *testing.T, net *network, name string) (x trust) {
	t.Helper()
	own := net.memory.Join(net.secrets[0].PublicKey(), func([]byte) bool { return true })
	defer own.Close()
	var frames, garbled, strangers, waited atomic.Int64
	go func() {
		for {
			s, key, err := own.Accept()
			if err != nil {
				return
			}
			if _, member := net.signed.Seat(key); !member {
				strangers.Add(1)
			}
			go believe(s, &frames, &garbled, &waited)
		}
	}()
	net.start(4)
	won := func() bool {
		x = trust{frames.Load(), garbled.Load(), strangers.Load(), time.Duration(waited.Load())}
		return x.won(name)
	}
	for deadline := time.Now().Add(30 * time.Second); !won() && time.Now().Before(deadline); {
		time.Sleep(10 * time.Millisecond)
	}
	net.stop[4]()
	return x
}

// believe reads whatever comes. Each byte has a time of its own.
func believe(s link.Stream, frames, garbled, waited *atomic.Int64) {
	defer s.Close()
	begun, one := time.Now(), make([]byte, 1)
	take := func(n int) (b []byte, ok bool) {
		for range n {
			if s.SetReadDeadline(time.Now().Add(2*time.Second)) != nil {
				return nil, false
			}
			if _, err := s.Read(one); err != nil {
				return nil, false
			}
			waited.Store(int64(time.Since(begun)))
			b = append(b, one[0])
		}
		return b, true
	}
	for welcomed := false; ; {
		begun = time.Now()
		head, ok := take(4)
		if !ok {
			return
		}
		body, ok := take(min(int(head[0])<<24|int(head[1])<<16|int(head[2])<<8|int(head[3]), 1<<16))
		if !ok {
			return
		}
		if !welcomed {
			welcomed = link.NewConn(s).Send(call.Welcome{Serial: 1}, time.Second) == nil
			continue
		}
		frames.Add(1)
		var fields []any
		if canonical.Decode(body, 1<<16, &fields) != nil || len(fields) < 2 || fields[0] == nil {
			garbled.Add(1)
		}
	}
}
