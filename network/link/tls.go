package link

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"math/big"
	"net"
	"sync"
	"time"
)

// Limits bound what strangers can make a listener hold. The zero value has the limits of go-libp2p's
// default (SC-18).
type Limits struct {
	// Handshakes at once, of addresses that are not known; 0: 32. Those from which a declared key has come before have
	// as many places of their own, and members' addresses four times as many.
	Handshakes int
	Streams    int           // at once, of one key; 0: 4
	Handshake  time.Duration // longest time of a handshake; 0: 3s
	Reserved   []net.IP      // members' addresses
}

func (l Limits) filled() Limits {
	if l.Handshakes == 0 {
		l.Handshakes = 32
	}
	if l.Streams == 0 {
		l.Streams = 4
	}
	if l.Handshake == 0 {
		l.Handshake = 3 * time.Second
	}
	return l
}

// TLS is the transport over TLS 1.3 and TCP. Both sides show a certificate with their Ed25519 key,
// which nobody else has signed: the key itself is compared. Names, dates and authorities play no
// part.
type TLS struct {
	listener net.Listener // nil: it only dials
	local    net.IP       // from which it dials; nil: any
	config   *tls.Config
	gate     Gate
	limits   Limits
	incoming chan arrival
	done     chan struct{}
	once     sync.Once
	wait     sync.WaitGroup

	mu      sync.Mutex
	pools   [members + 1]pool // handshakes in progress
	known   map[string]uint64 // addresses from which a key that may come has come: when, counted in handshakes
	streams map[string]int    // by key
	refused int               // handshakes that failed or were dropped
	came    uint64            // handshakes of keys that may come
}

// NewTLS returns a transport that only dials.
func NewTLS(key ed25519.PrivateKey) (*TLS, error) {
	cert, err := selfSigned(key)
	if err != nil {
		return nil, err
	}
	return &TLS{config: &tls.Config{MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{cert},
		SessionTicketsDisabled: true}, done: make(chan struct{})}, nil
}

// Listen returns a transport that listens on an address HOST:PORT and dials from the same host.
func Listen(address string, key ed25519.PrivateKey, gate Gate, limits Limits) (*TLS, error) {
	t, err := NewTLS(key)
	if err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("link: %w", err)
	}
	if ip := l.Addr().(*net.TCPAddr).IP; !ip.IsUnspecified() {
		t.local = ip
	}
	t.listener, t.gate, t.limits = l, gate, limits.filled()
	t.incoming, t.streams, t.known = make(chan arrival), map[string]int{}, map[string]uint64{}
	t.wait.Add(1)
	go t.serve()
	return t, nil
}

// selfSigned returns a certificate of the key alone. It is the same each time, apart from its
// signature's input: dates are fixed and nobody looks at them.
func selfSigned(key ed25519.PrivateKey) (tls.Certificate, error) {
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Unix(0, 0),
		NotAfter: time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("link: %w", err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, nil
}

// pinned returns a check of the peer's certificate: exactly one, with an Ed25519 key that allow
// admits. TLS itself has checked that the peer owns the key.
func pinned(allow func(key []byte) bool) func(tls.ConnectionState) error {
	return func(s tls.ConnectionState) error {
		key, err := keyOf(s)
		if err == nil && !allow(key) {
			err = errors.New("link: the key is not declared")
		}
		return err
	}
}

func keyOf(s tls.ConnectionState) ([]byte, error) {
	if len(s.PeerCertificates) != 1 {
		return nil, errors.New("link: the peer must show one certificate")
	}
	key, ok := s.PeerCertificates[0].PublicKey.(ed25519.PublicKey)
	if !ok {
		return nil, errors.New("link: the peer's key is not an Ed25519 key")
	}
	return key, nil
}

// Dial implements Transport. It fails if the other side has another key.
func (t *TLS) Dial(ctx context.Context, key []byte, addresses []string) (Stream, error) {
	config := t.config.Clone()
	config.InsecureSkipVerify = true // there are no authorities: VerifyConnection compares the key itself
	config.VerifyConnection = pinned(func(k []byte) bool { return bytes.Equal(k, key) })
	d := net.Dialer{}
	if t.local != nil {
		d.LocalAddr = &net.TCPAddr{IP: t.local}
	}
	err := errors.New("link: no address is known")
	for _, a := range addresses {
		var c net.Conn
		if c, err = d.DialContext(ctx, "tcp", a); err != nil {
			continue
		}
		secure := tls.Client(c, config)
		if err = secure.HandshakeContext(ctx); err == nil {
			return secure, nil
		}
		c.Close()
	}
	return nil, fmt.Errorf("link: %w", err)
}

func (t *TLS) serve() {
	defer t.wait.Done()
	for {
		c, err := t.listener.Accept()
		if err != nil {
			select {
			case <-t.done:
				return
			case <-time.After(10 * time.Millisecond): // too many open files, for example: it may pass
				continue
			}
		}
		t.wait.Add(1)
		of := t.place(c)
		go t.admit(c, of)
	}
}

// abort closes a connection without keeping it in the system's memory.
func abort(c net.Conn) {
	if tcp, ok := c.(*net.TCPConn); ok {
		tcp.SetLinger(0)
	}
	c.Close()
}

func (t *TLS) admit(c net.Conn, of class) {
	defer t.wait.Done()
	key, secure, err := t.handshake(c)
	t.mu.Lock()
	t.pools[of].remove(c)
	if err == nil {
		t.remember(c)
	}
	if err == nil && t.streams[string(key)] >= t.limits.Streams {
		err = errors.New("link: the key has too many streams")
	}
	if err == nil {
		t.streams[string(key)]++
	} else {
		t.refused++
	}
	t.mu.Unlock()
	if err != nil {
		abort(c)
		return
	}
	counted := &counted{Conn: secure, leave: func() { t.leave(string(key)) }}
	select {
	case t.incoming <- arrival{counted, key}:
	case <-t.done:
		counted.Close()
	}
}

func (t *TLS) leave(key string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.streams[key]--; t.streams[key] <= 0 {
		delete(t.streams, key)
	}
}

// handshake reads nothing but the handshake.
func (t *TLS) handshake(c net.Conn) (key []byte, secure *tls.Conn, err error) {
	config := t.config.Clone()
	config.ClientAuth = tls.RequireAnyClientCert
	config.VerifyConnection = pinned(t.gate)
	secure = tls.Server(c, config)
	ctx, cancel := context.WithTimeout(context.Background(), t.limits.Handshake)
	defer cancel()
	if err = secure.HandshakeContext(ctx); err == nil {
		key, err = keyOf(secure.ConnectionState())
	}
	return key, secure, err
}

// counted is a stream that frees its place when it is closed.
type counted struct {
	net.Conn
	once  sync.Once
	leave func()
}

// Close closes the stream.
func (c *counted) Close() error {
	c.once.Do(c.leave)
	return c.Conn.Close()
}

// Accept implements Transport.
func (t *TLS) Accept() (Stream, []byte, error) {
	select {
	case a := <-t.incoming:
		return a.stream, a.key, nil
	case <-t.done:
		return nil, nil, ErrClosed
	}
}

// Address implements Transport.
func (t *TLS) Address() string {
	if t.listener == nil {
		return ""
	}
	return t.listener.Addr().String()
}

// Refused returns how many connections were closed before they became streams.
func (t *TLS) Refused() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.refused
}

// Close ends the listening. Streams stay open.
func (t *TLS) Close() error {
	var err error
	t.once.Do(func() {
		close(t.done)
		if t.listener != nil {
			err = t.listener.Close()
		}
		t.mu.Lock()
		for i := range t.pools {
			for _, w := range t.pools[i] {
				abort(w.conn)
			}
		}
		t.mu.Unlock()
		t.wait.Wait()
	})
	return err
}
