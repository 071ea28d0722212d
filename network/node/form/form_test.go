package form_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"synod.dev/synod/core/sign"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/network/link"
	"synod.dev/synod/network/node/call"
	"synod.dev/synod/network/node/form"
	"synod.dev/synod/network/node/terms"
	"synod.dev/synod/network/roster"
)

const seats = 4

// founder is a desk that serves owners over TLS.
type founder struct {
	t          *testing.T
	secret     sign.Secret
	invitation *terms.Invitation
	desk       *form.Desk
	lie        atomic.Pointer[func(*form.JoinState)] // changes what owners get; nil: nothing
}

func secretOf(t testing.TB, seed byte) sign.Secret {
	t.Helper()
	s, err := sign.Generate(rand.NewChaCha8([32]byte{seed}))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func invitationOf(t testing.TB, name string) *terms.Invitation {
	t.Helper()
	spec, err := plan.Parse([]byte(fmt.Sprintf("council: %s\nprotocol: {name: sac}\nf: 1\n"+
		"models: {d: {provider: simulated}}\nseats: [{id: a, model: d, count: %d}]\n", name, seats)))
	if err != nil {
		t.Fatal(err)
	}
	p, err := plan.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	i, err := terms.Invite(p, terms.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return i
}

// found opens a desk that ends after a time, and serves it.
func found(t *testing.T, expires time.Duration) *founder {
	t.Helper()
	f := &founder{t: t, secret: secretOf(t, 1), invitation: invitationOf(t, "some")}
	var opening *terms.Opening
	listener, err := link.Listen("127.0.0.1:0", f.secret.LinkKey(), func(key []byte) bool {
		return opening != nil && bytes.Equal(key, opening.Guest().Public().(ed25519.PublicKey))
	}, link.Limits{Streams: 64})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	f.desk, err = form.OpenDesk(t.TempDir(), f.invitation, f.secret, func() (*terms.Opening, error) {
		return f.invitation.Open(f.secret, "some", []string{listener.Address()}, time.Now().Add(expires),
			rand.NewChaCha8([32]byte{7}))
	})
	if err != nil {
		t.Fatal(err)
	}
	opening = f.desk.Opening()
	if err := f.desk.Accept(opening.Accept("a1", []string{"127.0.0.1:7401"}, f.secret)); err != nil {
		t.Fatal(err)
	}
	go func() {
		for {
			s, _, err := listener.Accept()
			if err != nil {
				return
			}
			go f.serve(s)
		}
	}()
	return f
}

// serve serves the desk, or lies about its state.
func (f *founder) serve(s link.Stream) {
	conn := link.NewConn(s)
	defer conn.Close()
	lie := f.lie.Load()
	if lie == nil {
		f.desk.Serve(conn)
		return
	}
	honest, other := pipe()
	go f.desk.Serve(honest)
	var h call.Hello
	var r form.JoinRequest
	var state form.JoinState
	if conn.Receive(call.MaxHello, &h, time.Minute) == nil && conn.Receive(1<<20, &r, time.Minute) == nil &&
		other.Send(h, time.Minute) == nil && other.Send(r, time.Minute) == nil &&
		other.Receive(8<<20, &state, time.Minute) == nil {
		(*lie)(&state)
		conn.Send(state, time.Minute)
	}
}

// pipe returns the ends of a stream in this process.
func pipe() (a, b *link.Conn) {
	m := new(link.Memory)
	x, y := m.Join([]byte("x"), func([]byte) bool { return true }), m.Dialer([]byte("y"))
	there := make(chan link.Stream, 1)
	go func() { s, _, _ := x.Accept(); there <- s }()
	s, err := y.Dial(context.Background(), []byte("x"), nil)
	if err != nil {
		panic(err)
	}
	return link.NewConn(<-there), link.NewConn(s)
}

// join joins as the owner of a seat.
func (f *founder) join(ctx context.Context, seat int, secret sign.Secret) (*roster.Signed, error) {
	j, err := form.Join(f.desk.Opening())
	if err != nil {
		return nil, err
	}
	defer j.Close()
	return j.Accept(ctx, fmt.Sprint("a", seat), []string{fmt.Sprintf("127.0.0.1:%d", 7400+seat)}, secret,
		func(string) {})
}

// All owners get one roster that all have signed, and the desk says that nobody is missing. A second desk in the same
// folder goes on.
func TestForm(t *testing.T) {
	f := found(t, time.Hour)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	var wait sync.WaitGroup
	got := make([]*roster.Signed, seats+1)
	for i := 2; i <= seats; i++ {
		wait.Go(func() {
			var err error
			if got[i], err = f.join(ctx, i, secretOf(t, byte(i))); err != nil {
				t.Errorf("seat a%d: %v", i, err)
			}
		})
	}
	s, err := f.desk.Wait(ctx, true, func() {})
	wait.Wait()
	if err != nil || t.Failed() {
		t.Fatal(err)
	}
	for i := 2; i <= seats; i++ {
		if got[i].Hash() != s.Hash() || len(got[i].Missing()) > 0 || got[i].Members[i-1].ID != fmt.Sprint("a", i) {
			t.Errorf("seat a%d has another roster, or one that not all have signed", i)
		}
	}
	for _, seat := range f.desk.Seats() {
		if !seat.Signed {
			t.Errorf("%+v has not signed", seat)
		}
	}
	if err := f.desk.Accept(f.desk.Opening().Accept("a2", []string{"127.0.0.1:1"}, secretOf(t, 50))); err == nil {
		t.Error("an acceptance was taken after the council was complete")
	}
}

// Owners refuse what does not follow from the opening and the acceptances.
func TestHostileFounder(t *testing.T) {
	f := found(t, time.Hour)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	for i := 3; i <= seats; i++ {
		a := f.desk.Opening().Accept(fmt.Sprint("a", i), []string{fmt.Sprintf("127.0.0.1:%d", 7400+i)}, secretOf(t,
			byte(i)))
		if err := f.desk.Accept(a); err != nil {
			t.Fatal(err)
		}
	}
	sybil := f.desk.Opening().Accept("a2", []string{"127.0.0.1:7402"}, secretOf(t, 60))
	for _, c := range []struct {
		what, want string
		lie        func(*form.JoinState)
	}{
		{"another invitation", "not the invitation", func(s *form.JoinState) {
			s.Invitation = invitationOf(t,
				"other").File()
		}},
		{"a roster with another key", "not the one that follows", func(s *form.JoinState) {
			if len(s.Roster) > 0 {
				s.Roster = f.without(s).File()
			}
		}},
		{"a roster and acceptances of others", "does not have this node's seat", func(s *form.JoinState) {
			if len(s.Roster) > 0 {
				s.Roster, s.Acceptances[len(s.Acceptances)-1] = f.without(s).File(), sybil.File()
			}
		}},
		{"an acceptance that its owner has not signed", "is not valid", func(s *form.JoinState) {
			if len(s.Roster) > 0 {
				changed := *sybil
				changed.Addresses = []string{"127.0.0.1:1"}
				s.Acceptances[0] = changed.File()
			}
		}},
		{"a refusal", "founder's node refused: no", func(s *form.JoinState) { s.Refused = "no" }},
	} {
		f.lie.Store(&c.lie)
		if _, err := f.join(ctx, 2, secretOf(t, 2)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.what, err, c.want)
		}
	}
}

// The founder's process refuses what is not bound to its opening, and strangers get no stream.
func TestHostileOwners(t *testing.T) {
	f := found(t, time.Hour)
	opening := f.desk.Opening()
	older, err := f.invitation.Open(f.secret, "some", opening.Addresses, time.Now().Add(time.Hour),
		rand.NewChaCha8([32]byte{8}))
	if err != nil {
		t.Fatal(err)
	}
	accept := func(o *terms.Opening, seat, address string, by byte) error {
		return f.desk.Accept(o.Accept(seat, []string{address}, secretOf(t, by)))
	}
	if err := accept(opening, "a2", "127.0.0.1:7402", 2); err != nil {
		t.Fatal(err)
	}
	if err := accept(opening, "a2", "127.0.0.1:7402", 2); err != nil {
		t.Errorf("the same acceptance once more: %v", err)
	}
	for _, c := range []struct {
		what, want string
		err        error
	}{
		{"an acceptance of an older opening", "of another invitation", accept(older, "a3", "127.0.0.1:7403", 3)},
		{"a seat that is taken", "is taken", accept(opening, "a2", "127.0.0.1:7403", 3)},
		{"a second seat for a key", "has taken the seat a2", accept(opening, "a3", "127.0.0.1:7402", 2)},
		{"a seat that does not exist", "there is no seat", accept(opening, "a9", "127.0.0.1:7403", 3)},
		{"no address", "not HOST:PORT", accept(opening, "a3", "nowhere", 3)},
		{"a signature before all have accepted", "not all owners", f.desk.Sign(nil, nil, nil)},
	} {
		if c.err == nil || !strings.Contains(c.err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.what, c.err, c.want)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	j, err := form.Join(older)
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	said := ""
	if _, _, _, err := j.Look(ctx, nil, func(text string) { said = text }); err == nil || said == "" {
		t.Errorf("who has another opening gets the invitation: %v %q", err, said)
	}
	for i := 3; i <= seats; i++ {
		if err := accept(opening, fmt.Sprint("a", i), fmt.Sprintf("127.0.0.1:%d", 7400+i), byte(i)); err != nil {
			t.Fatal(err)
		}
	}
	f.hostileSignatures()
}

// hostileSignatures gives signatures to a desk at which all have accepted.
func (f *founder) hostileSignatures() {
	t, opening := f.t, f.desk.Opening()
	t.Helper()
	r, err := opening.Roster(f.invitation, acceptancesOf(t, opening))
	if err != nil {
		t.Fatal(err)
	}
	hash, stranger, owner := r.Hash(), secretOf(t, 70), secretOf(t, 2)
	for what, err := range map[string]error{
		"of a stranger": f.desk.Sign(hash[:], stranger.PublicKey(), stranger.SignEnvelope(roster.PayloadType, hash[:])),
		"of a member by another": f.desk.Sign(hash[:], owner.PublicKey(), stranger.SignEnvelope(roster.PayloadType,
			hash[:])),
		"under something else": f.desk.Sign(make([]byte, 32), owner.PublicKey(), owner.SignEnvelope(roster.PayloadType,
			make([]byte, 32))),
	} {
		if err == nil {
			t.Errorf("a signature %s was taken", what)
		}
	}
	if err := f.desk.Sign(hash[:], owner.PublicKey(), owner.SignEnvelope(roster.PayloadType, hash[:])); err != nil {
		t.Error(err)
	}
}

// without returns the roster of a state without the owner of a2.
func (f *founder) without(s *form.JoinState) *roster.Signed {
	r, err := roster.Parse(s.Roster)
	if err != nil {
		f.t.Error(err)
		return nil
	}
	r.Members[1].Key = secretOf(f.t, 60).PublicKey()
	r.Signatures = nil
	r.Sign(f.secret)
	return r
}

// acceptancesOf returns the acceptances of all seats, in another order than they came.
func acceptancesOf(t *testing.T, o *terms.Opening) (all []*terms.Acceptance) {
	for i := seats; i >= 1; i-- {
		all = append(all, o.Accept(fmt.Sprint("a", i), []string{fmt.Sprintf("127.0.0.1:%d", 7400+i)}, secretOf(t,
			byte(i))))
	}
	return all
}

// An opening that has ended lets nobody join, also with an acceptance that was made before.
func TestExpired(t *testing.T) {
	f := found(t, -time.Hour)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if _, err := f.join(ctx, 2, secretOf(t, 2)); err == nil || !strings.Contains(err.Error(), "ended at") {
		t.Errorf("after its end: %v", err)
	}
	if _, err := f.desk.Wait(ctx, true, func() {}); err == nil || !strings.Contains(err.Error(),
		"has ended before all") {
		t.Errorf("the founder waits on: %v", err)
	}
}
