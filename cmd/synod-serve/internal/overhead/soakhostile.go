package main

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
)

// attack is something that a hostile key does, in one of so many of its turns.
type attack struct {
	name   string
	every  int
	attack func(s *soak, ctx context.Context, p *party)
}

var attacks = []attack{
	{"big bodies", 5, (*soak).bigBody}, {"slow bodies", 2, (*soak).slowBody}, {"spellings", 1, (*soak).spelling},
	{"prompts with a 500", 1, (*soak).poison}, {"bursts", 40, (*soak).burst}, {"left streams", 1, (*soak).leave},
	{"same requests", 10, (*soak).same}, {"invalid keys", 1, (*soak).invalid}, {"schemas", 3, (*soak).schema},
}

// hostiles lists the hostile keys in the order of their names.
func (s *soak) hostiles() (all []*party) {
	for _, name := range slices.Sorted(maps.Keys(s.hostile)) {
		all = append(all, s.hostile[name])
	}
	return all
}

// assault does the next of the attacks.
func (s *soak) assault(ctx context.Context, turn int) {
	a := attacks[turn%len(attacks)]
	if turn/len(attacks)%a.every == 0 {
		a.attack(s, ctx, s.hostile[a.name])
	}
}

// send sends a hostile request and counts how it ended.
func (s *soak) send(ctx context.Context, p *party, path, body string) {
	p.count(&p.sent)
	status, _, err := s.post(ctx, p.key, path, body)
	switch {
	case err != nil: // it was cut off
	case status < 300:
		p.count(&p.ended)
	default:
		p.count(&p.refused)
	}
}

const chatPath = "/v1/chat/completions"

// hostileBody is a chat completion for the model of honest keys.
func hostileBody(text, more string) string {
	return fmt.Sprintf(`{"model": "solo:good", "messages": [{"role": "user", "content": %q}]%s}`, text, more)
}

func (s *soak) bigBody(ctx context.Context, p *party) {
	n := []int{1 << 20, 7 << 20, 9 << 20}[rand.IntN(3)]
	s.send(ctx, p, chatPath, hostileBody(strings.Repeat("word ", n/5), ""))
}

// slowBody announces a long body and sends a byte a second.
func (s *soak) slowBody(ctx context.Context, p *party) {
	if s.slow.Add(1) > 300 {
		s.slow.Add(-1)
		return
	}
	defer s.slow.Add(-1)
	p.count(&p.sent)
	at, err := url.Parse(s.gateway.url)
	if err != nil {
		return
	}
	c, err := new(net.Dialer).DialContext(ctx, "tcp", at.Host)
	if err != nil {
		return
	}
	defer c.Close()
	fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nAuthorization: Bearer %s\r\n"+
		"Content-Length: 8000000\r\n\r\n%s", chatPath, at.Host, p.key, strings.Repeat(" ", 60_000))
	for range 60 {
		select {
		case <-ctx.Done():
			return
		case <-time.After(time.Second):
		}
		if _, err := c.Write([]byte(" ")); err != nil {
			p.count(&p.refused) // the gateway has cut it off
			return
		}
	}
}

func (s *soak) spelling(ctx context.Context, p *party) {
	all := []string{`, "max_completion_tokens": 1e6`, `, "max_completion_tokens": 1000000.0`,
		`, "max_completion_tokens": "1000000"`, `, "n": 1e2`, `, "best_of": 100`, `, "max_tokens": 1, "max_tokens": 1e6`,
		`, "Max_Tokens": 1000000`, `, "max_tokens": 1E+6`, `, "prediction": {"type": "content", "content": "x"}`}
	s.send(ctx, p, chatPath, hostileBody("hi", all[rand.IntN(len(all))]))
}

func (s *soak) poison(ctx context.Context, p *party) {
	body := hostileBody(draws500, "")
	if rand.IntN(4) == 0 {
		body = strings.Replace(body, "solo:good", "sound", 1)
	}
	s.send(ctx, p, chatPath, body)
}

// burst sends more at once than the key has places, each of which hangs.
func (s *soak) burst(ctx context.Context, p *party) {
	var wait sync.WaitGroup
	for range 700 {
		wait.Go(func() { s.send(ctx, p, chatPath, hostileBody(hangs, "")) })
	}
	wait.Wait()
}

// leave begins a stream over one of the APIs and leaves.
func (s *soak) leave(ctx context.Context, p *party) {
	m := manners[1+rand.IntN(len(manners)-1)]
	ctx, cancel := context.WithTimeout(ctx, rand.N(15*time.Millisecond))
	defer cancel()
	s.send(ctx, p, m.path, fmt.Sprintf(`{"model": "solo:good", %s}`, m.body))
}

func (s *soak) same(ctx context.Context, p *party) {
	var wait sync.WaitGroup
	for range 200 {
		wait.Go(func() {
			s.send(ctx, p, chatPath, `{"model": "sound", "seed": 1, "messages": [{"role": "user", "content": "2 + 2?"}]}`)
		})
	}
	wait.Wait()
}

func (s *soak) invalid(ctx context.Context, p *party) {
	p.count(&p.sent)
	if status, _, err := s.post(ctx, fmt.Sprintf("sk-synod-%032d", rand.Uint32()), chatPath,
		hostileBody("hi", "")); err == nil && status == http.StatusUnauthorized {
		p.count(&p.refused)
		return
	}
	p.count(&p.ended)
}

// schema asks a council for an object with thousands of members, or one that is nested deeply.
func (s *soak) schema(ctx context.Context, p *party) {
	var b strings.Builder
	if rand.IntN(2) == 0 {
		for i := range 5000 {
			fmt.Fprintf(&b, `"m%d": {"type": "string", "pattern": "(a+)+$"},`, i)
		}
		b.WriteString(`"z": {}`)
	} else {
		const deep = 2000
		b.WriteString(strings.Repeat(`"x": {"type": "object", "properties": {`, deep) + strings.Repeat("}}", deep))
	}
	s.send(ctx, p, chatPath, strings.Replace(hostileBody("Fill it.", `, "response_format": {"type": "json_schema", `+
		`"json_schema": {"name": "x", "schema": {"type": "object", "properties": {`+b.String()+`}}}}`), "solo:good",
		[]string{"sound", "solo:good"}[rand.IntN(2)], 1))
}
