package node_test

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"time"

	"synod.dev/synod/network/link"
	"synod.dev/synod/network/node"
	"synod.dev/synod/network/node/call"
)

// unreachable is the transport of a caller that cannot connect to one member: it is refused or, if it waits, nothing
// comes back.
type unreachable struct {
	link.Transport
	key   []byte
	waits bool
}

func (u *unreachable) Dial(ctx context.Context, key []byte, a []string) (link.Stream, error) {
	if !bytes.Equal(key, u.key) {
		return u.Transport.Dial(ctx, key, a)
	}
	if u.waits {
		<-ctx.Done()
	}
	return nil, errors.New("it is behind address translation")
}

// behind accepts streams of members only, as a node does that is reached through relays.
type behind struct {
	link.Transport
	member func(key []byte) bool
}

func (b *behind) Accept() (link.Stream, []byte, error) {
	for {
		s, key, err := b.Transport.Accept()
		if err != nil || b.member(key) {
			return s, key, err
		}
		s.Close()
	}
}

// A member that a caller cannot reach takes part, signs and shows its receipts through other members, although one of
// these passes nothing on. Without the caller's key its record is missing.
func TestForward(t *testing.T) {
	for name, c := range map[string]struct{ waits, signed bool }{
		"refused": {false, true}, "no reply": {true, true}, "without a key": {false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const hidden, mute = 6, 0
			net := convene(t, "protocol: {name: sac, rounds: 2}\nf: 2\n"+pace+
				"models: {d: {provider: simulated, ability: 1}}\nseats: [{id: a, model: d, count: 7}]\n", 71)
			net.change = func(seat int, c *node.Config) {
				own := net.memory.Join(c.Secret.PublicKey(), net.signed.MayAsk)
				switch seat {
				case hidden:
					c.Transport = &behind{own, func(key []byte) bool { _, ok := net.signed.Seat(key); return ok }}
				case mute:
					c.Transport = &behind{own, func(key []byte) bool { _, ok := net.signed.Seat(key); return ok }}
				}
			}
			net.startAll()
			client := net.client()
			client.Transport = &unreachable{client.Transport, net.secrets[hidden].PublicKey(), c.waits}
			if c.signed {
				client.Secret = &net.caller
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			res, err := client.Ask(ctx, sum)
			if err != nil {
				t.Fatal(err)
			}
			if came := res.Finals[hidden] != nil; came != c.signed {
				t.Fatalf("the record of the hidden member has come: %v; missing %v", came, res.Missing)
			}
			if !c.signed {
				return
			}
			o := res.Judge(net.signed.Roster, net.plan, sum)
			s, err := res.Statement(net.signed.Roster, net.plan, sum, &o)
			if err != nil {
				t.Fatal(err)
			}
			made, err := client.Certify(ctx, &s)
			if err != nil || len(made.Signatures) < 6 {
				t.Errorf("%d members sign: %v", len(made.Signatures), err)
			}
		})
	}
}

// A member passes on what a caller of the roster has signed, for that caller, to a member, and nothing else.
func TestForwardRefuses(t *testing.T) {
	net := convene(t, "protocol: {name: majority}\nf: 1\n"+pace+simulated, 72)
	net.startAll()
	hash := net.signed.Hash()
	good := call.Forward{Roster: hash[:], Seat: 3, Purpose: call.ToCompare, Request: []byte{0x82, 0x60, 0x40},
		Caller: net.caller.PublicKey()}
	ask := func(change func(f *call.Forward)) call.Forwarded {
		f := good
		change(&f)
		f.Sign(net.caller)
		if f.Seat == 4 {
			f.Seat = 5 // after it was signed
		}
		return net.passed(t, 0, &f)
	}
	if r := ask(func(*call.Forward) {}); r.Refused != "" || len(r.Reply) == 0 {
		t.Errorf("a good request: %+v", r)
	}
	for name, change := range map[string]func(f *call.Forward){
		"another roster":  func(f *call.Forward) { f.Roster = make([]byte, 32) },
		"no such seat":    func(f *call.Forward) { f.Seat = 7 },
		"a neighbour's":   func(f *call.Forward) { f.Purpose = call.ToLink },
		"again a forward": func(f *call.Forward) { f.Purpose = call.ToForward },
		"a stranger":      func(f *call.Forward) { f.Caller = make([]byte, 32) },
		"another caller":  func(f *call.Forward) { f.Caller = net.secrets[2].PublicKey() },
		"changed":         func(f *call.Forward) { f.Seat = 4 },
	} {
		if r := ask(change); r.Refused == "" {
			t.Errorf("%s: it is passed on", name)
		}
	}
}

// passed gives a request to a seat to be passed on.
func (net *network) passed(t *testing.T, seat int, f *call.Forward) (reply call.Forwarded) {
	t.Helper()
	s, err := net.client().Transport.Dial(t.Context(), net.secrets[seat].PublicKey(), nil)
	if err != nil {
		t.Fatal(err)
	}
	conn := link.NewConn(s)
	defer conn.Close()
	hash := net.signed.Hash()
	var w call.Welcome
	err = conn.Send(call.Hello{Version: call.Version, Purpose: call.ToForward, Roster: hash[:]}, 5*time.Second)
	if err == nil {
		err = conn.Receive(call.MaxWelcome, &w, 5*time.Second)
	}
	if err == nil {
		err = conn.Send(f, 5*time.Second)
	}
	if err == nil {
		err = conn.Receive(call.MaxRecord, &reply, 10*time.Second)
	}
	if err != nil {
		t.Fatal(err)
	}
	return reply
}
