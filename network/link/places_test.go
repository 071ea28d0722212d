package link_test

import (
	"context"
	"net"
	"testing"
	"time"

	"synod.dev/synod/network/link"
)

// silent opens so many connections from an address, which say nothing.
func silent(t *testing.T, from, to string, count int) {
	t.Helper()
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
	for range count {
		c, err := d.DialContext(t.Context(), "tcp", to)
		if err != nil {
			continue // the system refuses more: that is no place at the server either
		}
		t.Cleanup(func() { c.Close() })
	}
}

// Strangers that open many connections end their own handshakes, and neither that of a caller at another address nor
// that of one who has come before (finding 4).
func TestFloodEndsItsOwnHandshakes(t *testing.T) {
	server := listen(t, 1, link.Limits{Handshakes: 4, Handshake: time.Minute}, 2)
	friend, err := link.NewTLS(keyOf(2))
	if err != nil {
		t.Fatal(err)
	}
	for range 5 {
		half := make(chan struct{})
		go func() { // in the middle of a handshake: connected, and not yet spoken
			defer close(half)
			silent(t, "127.0.0.9", server.Address(), 60)
		}()
		s, err := friend.Dial(context.Background(), public(keyOf(1)), []string{server.Address()})
		if <-half; err != nil {
			t.Fatal("a caller is kept out:", err)
		}
		there, _, err := server.Accept()
		if err != nil {
			t.Fatal(err)
		}
		there.Close()
		s.Close()
	}
	if server.Refused() < 100 {
		t.Errorf("%d handshakes were ended", server.Refused())
	}
}

// A quiet connection of one address is not ended by many of another.
func TestQuietHandshakeStays(t *testing.T) {
	server := listen(t, 1, link.Limits{Handshakes: 4, Handshake: time.Minute}, 2)
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP("127.0.0.7")}}
	quiet, err := d.Dial("tcp", server.Address())
	if err != nil {
		t.Fatal(err)
	}
	defer quiet.Close()
	silent(t, "127.0.0.9", server.Address(), 50)
	for end := time.Now().Add(5 * time.Second); server.Refused() < 46 && time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond)
	}
	quiet.SetReadDeadline(time.Now().Add(200 * time.Millisecond))
	if _, err := quiet.Read(make([]byte, 1)); err == nil || !err.(net.Error).Timeout() {
		t.Errorf("the quiet connection was ended: %v", err)
	}
}

// Half-open handshakes from members' addresses are bounded too (finding 4: 16,000 of them took 378 MB).
func TestMembersHandshakesAreBounded(t *testing.T) {
	server := listen(t, 1, link.Limits{Handshakes: 4, Handshake: time.Minute, Reserved: []net.IP{net.IPv4(127, 0,
		0, 8)}}, 2)
	silent(t, "127.0.0.8", server.Address(), 100)
	for end := time.Now().Add(5 * time.Second); server.Refused() < 84 && time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond)
	}
	if n := server.Refused(); n < 84 {
		t.Errorf("of 100 half-open handshakes of a member's address %d were ended; 16 places are reserved", n)
	}
}
