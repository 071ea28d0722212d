package link_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"synod.dev/synod/internal/canonical"
	"synod.dev/synod/network/link"
)

func keyOf(seed byte) ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed(bytes.Repeat([]byte{seed}, ed25519.SeedSize))
}

func public(k ed25519.PrivateKey) []byte { return k.Public().(ed25519.PublicKey) }

func listen(t *testing.T, own byte, limits link.Limits, admitted ...byte) *link.TLS {
	t.Helper()
	tr, err := link.Listen("127.0.0.1:0", keyOf(own), func(key []byte) bool {
		for _, a := range admitted {
			if bytes.Equal(key, public(keyOf(a))) {
				return true
			}
		}
		return false
	}, limits)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tr.Close() })
	return tr
}

type word struct {
	_    struct{} `cbor:",toarray"`
	Text string
}

// Two transports that admit one another exchange frames; each knows the other's key.
func TestStreams(t *testing.T) {
	memory := new(link.Memory)
	all := func([]byte) bool { return true }
	for name, pair := range map[string][2]link.Transport{
		"tls":    {listen(t, 1, link.Limits{}, 2), listen(t, 2, link.Limits{}, 1)},
		"memory": {memory.Join(public(keyOf(1)), all), memory.Join(public(keyOf(2)), all)},
	} {
		heard := make(chan string, 1)
		go func() {
			s, key, err := pair[1].Accept()
			if err != nil || !bytes.Equal(key, public(keyOf(1))) {
				t.Errorf("%s: accept: %x, %v", name, key, err)
				close(heard)
				return
			}
			var w word
			if err := link.NewConn(s).Receive(100, &w, 5*time.Second); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			heard <- w.Text
			s.Close()
		}()
		s, err := pair[0].Dial(context.Background(), public(keyOf(2)), []string{pair[1].Address()})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := link.NewConn(s).Send(word{Text: "hello"}, time.Second); err != nil {
			t.Error(err)
		}
		if got := <-heard; got != "hello" {
			t.Errorf("%s: %q", name, got)
		}
		s.Close()
	}
}

// Nobody opens a stream with another key than declared: neither a stranger to a listener, nor a
// listener that is not who the dialer wants.
func TestUndeclaredKeys(t *testing.T) {
	server := listen(t, 1, link.Limits{}, 2)
	stranger := listen(t, 3, link.Limits{})
	s, err := stranger.Dial(context.Background(), public(keyOf(1)), []string{server.Address()})
	if err == nil { // in TLS 1.3 the client's handshake ends before the server's
		s.SetReadDeadline(time.Now().Add(5 * time.Second))
		if n, err := s.Read(make([]byte, 1)); n > 0 || err == nil {
			t.Errorf("a stranger got %d bytes", n)
		}
	}
	friend := listen(t, 2, link.Limits{}, 1)
	if _, err := friend.Dial(context.Background(), public(keyOf(9)), []string{server.Address()}); err == nil {
		t.Error("a listener with another key is accepted")
	}
	bare, err := tls.Dial("tcp", server.Address(), &tls.Config{InsecureSkipVerify: true})
	if err == nil {
		bare.SetReadDeadline(time.Now().Add(5 * time.Second))
		if n, err := bare.Read(make([]byte, 1)); n > 0 || err == nil {
			t.Errorf("a dialer without a key got %d bytes", n)
		}
	}
	old, err := tls.Dial("tcp", server.Address(), &tls.Config{InsecureSkipVerify: true, MaxVersion: tls.VersionTLS12})
	if err == nil {
		old.Close()
		t.Error("TLS 1.2 is accepted")
	}
	if server.Refused() < 2 {
		t.Errorf("%d connections were refused", server.Refused())
	}
}

// Silent strangers do not keep a declared peer out.
func TestSilentStrangers(t *testing.T) {
	server := listen(t, 1, link.Limits{Handshakes: 4}, 2)
	for range 200 {
		c, err := net.Dial("tcp", server.Address())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
	}
	friend := listen(t, 2, link.Limits{}, 1)
	accepted := make(chan error, 1)
	go func() {
		_, _, err := server.Accept()
		accepted <- err
	}()
	if _, err := friend.Dial(context.Background(), public(keyOf(1)), []string{server.Address()}); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-accepted:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(5 * time.Second):
		t.Error("the declared peer was not accepted")
	}
}

// A key has only so many streams.
func TestStreamsOfAKey(t *testing.T) {
	server := listen(t, 1, link.Limits{Streams: 2}, 2)
	friend := listen(t, 2, link.Limits{}, 1)
	open := func() link.Stream {
		s, err := friend.Dial(context.Background(), public(keyOf(1)), []string{server.Address()})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	open()
	open()
	first, _, err := server.Accept()
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := server.Accept(); err != nil {
		t.Fatal(err)
	}
	third := open()
	third.SetReadDeadline(time.Now().Add(5 * time.Second))
	if _, err := third.Read(make([]byte, 1)); err == nil {
		t.Error("a third stream stays open")
	}
	first.Close()
	fourth := open()
	defer fourth.Close()
	if _, _, err := server.Accept(); err != nil {
		t.Error(err)
	}
}

// pipe is a stream with given content.
type pipe struct{ bytes.Buffer }

func (p *pipe) Close() error                     { return nil }
func (p *pipe) SetReadDeadline(time.Time) error  { return nil }
func (p *pipe) SetWriteDeadline(time.Time) error { return nil }

// A length is checked before memory is allocated.
func TestLongFrames(t *testing.T) {
	p := new(pipe)
	p.Write(binary.BigEndian.AppendUint32(nil, 1<<31))
	if _, err := link.NewConn(p).ReceiveBytes(1<<10, time.Second); !errors.Is(err, link.ErrTooLong) {
		t.Errorf("a frame of 2 GiB: %v", err)
	}
	if n := testing.AllocsPerRun(10, func() {
		p.Write(binary.BigEndian.AppendUint32(nil, 1<<31))
		link.NewConn(p).ReceiveBytes(1<<10, time.Second)
	}); n > 20 {
		t.Errorf("%v allocations", n)
	}
}

func TestSlowFrame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		here, there := net.Pipe()
		var sender sync.WaitGroup
		defer sender.Wait()
		defer here.Close()
		sender.Go(func() {
			for _, b := range append([]byte{0, 0, 0, 100}, make([]byte, 100)...) {
				if _, err := there.Write([]byte{b}); err != nil {
					return
				}
				time.Sleep(20 * time.Millisecond)
			}
		})
		begun := time.Now()
		if _, err := link.NewConn(here).ReceiveBytes(1<<10, 210*time.Millisecond); err == nil {
			t.Error("a slow frame is read: a byte now and then extends its time")
		}
		if d := time.Since(begun); d != 210*time.Millisecond {
			t.Errorf("it took %v", d)
		}
	})
}

// Whatever bytes come, a reader ends, and what it reads is what Send writes.
func FuzzReceive(f *testing.F) {
	f.Add(append([]byte{0, 0, 0, 3}, canonical.Encode(word{Text: "x"})...))
	f.Fuzz(func(t *testing.T, b []byte) {
		p := new(pipe)
		p.Write(b)
		c := link.NewConn(p)
		for {
			var w word
			err := c.Receive(1<<10, &w, time.Second)
			if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, link.ErrTooLong) {
				return
			}
			if err == nil {
				q := new(pipe)
				if err := link.NewConn(q).Send(w, time.Second); err != nil || !bytes.Contains(b, q.Bytes()) {
					t.Errorf("%+v: %v", w, err)
				}
			}
		}
	})
}
