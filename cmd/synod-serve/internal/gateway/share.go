package gateway

import (
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
)

// share divides an amount, such as bytes of memory or places, among keys. A key may have as much as is free, so one
// key alone gets half of all, and another one finds room however much the first wants.
type share struct {
	most int64

	mu   sync.Mutex
	used int64
	by   map[string]int64
}

// take takes an amount for a key; all of it, or nothing. Requests without a key have no other to leave room for.
func (s *share) take(key string, n int64) (ok, own bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	left := s.most - s.used - n
	if left < 0 {
		return false, false
	}
	if key != "" && s.by[key]+n > left+n && s.by[key] > 0 {
		return false, true
	}
	if s.by == nil {
		s.by = map[string]int64{}
	}
	s.used += n
	s.by[key] += n
	return true, false
}

// give returns an amount; 0 if nothing was taken.
func (s *share) give(key string, n int64) {
	if n == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used -= n
	if s.by[key] -= n; s.by[key] == 0 {
		delete(s.by, key)
	}
}

// now returns how much is taken.
func (s *share) now() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.used
}

// metered is the body of a request that a mounted handler reads. What has come counts until the request has ended.
type metered struct {
	io.ReadCloser
	in   *share
	from string
	held int64
}

var errNoRoom = errors.New("the gateway holds as many bytes of requests as it may")

// Read implements io.Reader.
func (m *metered) Read(b []byte) (int, error) {
	n, err := m.ReadCloser.Read(b)
	if ok, _ := m.in.take(m.from, int64(n)); !ok {
		return 0, errNoRoom
	}
	m.held += int64(n)
	return n, err
}

// meter has the body of a request counted, by the address that it comes from; the caller calls done at its end.
func (s *share) meter(r *http.Request) (done func()) {
	if r.Body == nil || r.Body == http.NoBody {
		return func() {}
	}
	from, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		from = r.RemoteAddr
	}
	m := &metered{ReadCloser: r.Body, in: s, from: from}
	r.Body = m
	return func() { s.give(from, m.held) }
}
