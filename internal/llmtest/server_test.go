package llmtest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func post(t *testing.T, ctx context.Context, c *http.Client, url, model string) (int, string) {
	t.Helper()
	body := fmt.Sprintf(`{"model":%q,"messages":[{"role":"system","content":"S"},{"role":"user","content":"U"}],`+
		`"seed":3,"response_format":{"type":"json_schema","json_schema":{"schema":{"score":1}}}}`, model)
	req, _ := http.NewRequestWithContext(ctx, http.MethodPost, url+"/chat/completions", strings.NewReader(body))
	res, err := c.Do(req)
	if err != nil {
		return 0, err.Error()
	}
	defer func() { _ = res.Body.Close() }()
	b, _ := io.ReadAll(io.LimitReader(res.Body, 1<<20))
	return res.StatusCode, string(b)
}

func client(t *testing.T) *http.Client {
	tr := &http.Transport{}
	t.Cleanup(tr.CloseIdleConnections)
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &http.Client{Transport: tr, CheckRedirect: stay}
}

func TestServer(t *testing.T) {
	var good atomic.Int32
	two := make(chan struct{}) // closed when two calls are open at the same time
	s := Start(t, func(c Call) string {
		if good.Add(1) == 2 {
			close(two)
		}
		<-two
		return Fixed("42", 0.25)(c)
	}, Latency(20*time.Millisecond), For("bad", Status(503)))
	c := client(t)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			model, want := "good", http.StatusOK
			if i%4 == 0 {
				model, want = "bad", http.StatusServiceUnavailable
			}
			status, body := post(t, t.Context(), c, s.URL, model)
			if status != want || want == http.StatusOK && !strings.Contains(body, `\"score\":0.25`) {
				t.Errorf("%d %s", status, body)
			}
		})
	}
	wg.Wait()
	if s.Count() != 8 || s.CountOf("bad") != 2 || s.MaxConcurrent() < 2 || len(s.Calls()) != 8 {
		t.Errorf("%d calls, %d bad, %d concurrent, %d logged", s.Count(), s.CountOf("bad"), s.MaxConcurrent(),
			len(s.Calls()))
	}
	if call := s.Calls()[3]; call.N != 3 || call.System != "S" || call.User != "U" || *call.Seed != 3 ||
		call.Format != "json_schema" || !bytes.Contains(call.Body, []byte("messages")) {
		t.Errorf("%+v", call)
	}
}

// Every behaviour handles one call and ends when the client disconnects.
func TestNamed(t *testing.T) {
	for _, name := range Names() {
		b, err := Named(name)
		if err != nil {
			t.Fatal(err)
		}
		s := Start(t, nil, With(b), Quiet())
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			for s.Count() == 0 {
				time.Sleep(time.Millisecond)
			}
			time.Sleep(100 * time.Millisecond)
			cancel()
		}()
		post(t, ctx, client(t), s.URL, "m")
		<-ctx.Done()
		if s.Count() != 1 || s.Calls() != nil {
			t.Errorf("%s: %d calls", name, s.Count())
		}
	}
	if b, err := Named("status-418"); err != nil || b == nil {
		t.Error(err)
	}
	if _, err := Named("good"); err == nil {
		t.Error("an unknown name was accepted")
	}
}

func TestFractionAndEvery(t *testing.T) {
	affected := func(wrap func(Behaviour) Behaviour, n int) int {
		bad := 0
		b := wrap(func(*Exchange) { bad++ })
		s := New(nil, Quiet())
		defer s.Close()
		for range n {
			b(&Exchange{W: discard{}, server: s})
		}
		return bad
	}
	if n := affected(func(b Behaviour) Behaviour { return Every(3, b) }, 300); n != 100 {
		t.Errorf("every third of 300: %d", n)
	}
	if n := affected(func(b Behaviour) Behaviour { return First(2, b) }, 10); n != 2 {
		t.Errorf("the first two: %d", n)
	}
	if n := affected(func(b Behaviour) Behaviour { return Fraction(0.1, 9, b) }, 10000); n < 900 || n > 1100 {
		t.Errorf("a tenth of 10000: %d", n)
	}
}

type discard struct{}

func (discard) Header() http.Header         { return http.Header{} }
func (discard) Write(b []byte) (int, error) { return len(b), nil }
func (discard) WriteHeader(int)             {}
