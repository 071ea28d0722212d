package gateway

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"testing"
)

// mayServe says whose requests may be answered, written without the code of the gateway: those under an address,
// localhost or a name that is allowed, with or without a port, of the same page or of a program.
func mayServe(host, origin, site string) bool {
	ours := false
	for _, name := range []string{host, host[:max(0, strings.LastIndexByte(host, ':'))]} {
		name = strings.ToLower(strings.Trim(name, "[]"))
		_, err := netip.ParseAddr(name)
		ours = ours || err == nil || name == "localhost" || name == "box.example"
	}
	same := origin == "" || origin == "http://"+host || origin == "https://"+host || origin == "null" &&
		site == "same-origin"
	return ours && same && site != "cross-site" && site != "same-site"
}

// FuzzForeign: a page of another site reaches nothing, under whatever name it calls the gateway [SC-02] [SC-03].
func FuzzForeign(f *testing.F) {
	g := New(Options{Hosts: []string{"box.example"}})
	for _, host := range []string{"127.0.0.1:8080", "localhost", "[::1]:80", "box.example", "BOX.example:1", "evil.com",
		"localhost.evil.com", "127.0.0.1.evil.com", "localhost.", "[::1", "evil.com:localhost", "0x7f.1", "", "::1",
		"127.0.0.1@evil.com", "[localhost]"} {
		f.Add(host, "", "")
		f.Add(host, "http://"+host, "same-origin")
		f.Add(host, "null", "")
		f.Add(host, "null", "same-origin")
		f.Add(host, "file://", "")
		f.Add(host, "http://evil.com", "cross-site")
	}
	f.Fuzz(func(t *testing.T, host, origin, site string) {
		r := httptest.NewRequest(http.MethodPost, "/v1/chat/completions", nil)
		r.Host = host
		r.Header["Origin"], r.Header["Sec-Fetch-Site"] = []string{origin}, []string{site}
		e := g.foreign(r)
		if e == nil && !mayServe(host, origin, site) {
			t.Errorf("host %q, origin %q, site %q: served", host, origin, site)
		}
		if e != nil && (e.HTTP != http.StatusMisdirectedRequest && e.HTTP != http.StatusForbidden ||
			strings.ContainsAny(e.Message, "\r\n\x1b")) {
			t.Errorf("%+v", e)
		}
	})
}

// pieced returns a body in parts of these sizes, over and over.
type pieced struct {
	rest  []byte
	sizes []byte
	at    int
}

func (p *pieced) Read(b []byte) (int, error) {
	if len(p.rest) == 0 {
		return 0, io.EOF
	}
	n := len(p.rest)
	if len(p.sizes) > 0 {
		n = 1 + int(p.sizes[p.at%len(p.sizes)])
	}
	p.at++
	n = copy(b, p.rest[:min(n, len(p.rest))])
	p.rest = p.rest[n:]
	return n, nil
}

// eventsOf returns the events that readEvents finds.
func eventsOf(body io.Reader) (all []string, err error) {
	lines, ended := make(chan []byte), make(chan error, 1)
	go func() { ended <- readEvents(body, lines, nil); close(lines) }()
	for data := range lines {
		all = append(all, string(data))
	}
	return all, <-ended
}

// FuzzEvents: a stream has the same events however it is cut into packets, and they are those of its lines.
func FuzzEvents(f *testing.F) {
	f.Add([]byte("data: {\"a\":1}\n\ndata: [DONE]\n\n"), []byte{0})
	f.Add([]byte("event: x\r\ndata:1\r\n\r\n: comment\ndata: é"), []byte{0, 2, 7})
	f.Add([]byte("data\ndata:\n\n\rdata: 1"), []byte{})
	f.Fuzz(func(t *testing.T, body, sizes []byte) {
		if len(body) > 64<<10 {
			return
		}
		var want []string
		for line := range bytes.SplitSeq(body, []byte("\n")) {
			if data, ok := strings.CutPrefix(strings.TrimSuffix(string(line), "\r"), "data:"); ok {
				want = append(want, strings.TrimSpace(data))
			}
		}
		got, err := eventsOf(&pieced{rest: body, sizes: sizes})
		if err != io.EOF || !slices.Equal(got, want) {
			t.Errorf("%q in pieces of %v: %q, %v; want %q", body, sizes, got, err, want)
		}
	})
}
