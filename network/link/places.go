package link

import (
	"net"
	"slices"
)

// class is what is known of the address of a connection before its handshake has shown a key.
type class int

// The classes have places of their own, so that a flood of one takes none of another's.
const (
	strangers class = iota // nothing
	callers                // a key that may come has come from it before
	members                // the roster has it
)

// pool is the handshakes in progress of a class, oldest first.
type pool []waiting

type waiting struct {
	conn net.Conn
	ip   string
}

// add adds a handshake. If there are more than most, one ends: the oldest of the address that has the most. So whoever
// opens many ends its own, and one that opens a single one is not pushed out by them.
func (p *pool) add(w waiting, most int) (ended net.Conn) {
	*p = append(*p, w)
	if len(*p) <= most {
		return nil
	}
	counts, worst := map[string]int{}, ""
	for _, x := range *p {
		if counts[x.ip]++; counts[x.ip] > counts[worst] {
			worst = x.ip
		}
	}
	at := slices.IndexFunc(*p, func(x waiting) bool { return x.ip == worst })
	ended = (*p)[at].conn
	*p = slices.Delete(*p, at, at+1)
	return ended
}

func (p *pool) remove(c net.Conn) {
	*p = slices.DeleteFunc(*p, func(w waiting) bool { return w.conn == c })
}

// place gives a connection a place among the handshakes of its class.
func (t *TLS) place(c net.Conn) class {
	ip := c.RemoteAddr().(*net.TCPAddr).IP
	t.mu.Lock()
	defer t.mu.Unlock()
	of, most := strangers, t.limits.Handshakes
	if slices.ContainsFunc(t.limits.Reserved, ip.Equal) {
		of, most = members, 4*most
	} else if _, known := t.known[ip.String()]; known {
		of = callers
	}
	if ended := t.pools[of].add(waiting{c, ip.String()}, most); ended != nil {
		abort(ended)
		t.refused++
	}
	return of
}

// Reserve replaces the members' addresses, whose handshakes have places of their own.
func (t *TLS) Reserve(addresses []net.IP) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.limits.Reserved = addresses
}

// maxKnown is how many addresses of callers are remembered.
const maxKnown = 1024

// remember notes the address of a key that may come. t.mu is held.
func (t *TLS) remember(c net.Conn) {
	t.came++
	t.known[c.RemoteAddr().(*net.TCPAddr).IP.String()] = t.came
	if len(t.known) <= maxKnown {
		return
	}
	oldest, first := "", t.came
	for ip, when := range t.known {
		if when < first {
			oldest, first = ip, when
		}
	}
	delete(t.known, oldest)
}
