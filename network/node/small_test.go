package node_test

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"sync"
	"testing"
	"time"

	"synod.dev/synod"
	"synod.dev/synod/core/sign"
	"synod.dev/synod/internal/canonical"
	"synod.dev/synod/internal/llmtest"
	"synod.dev/synod/network/link"
	"synod.dev/synod/network/node"
	"synod.dev/synod/network/roster"
)

// chatter is the transport of a seat that sends many small signed messages to every neighbour in a run.
type chatter struct {
	link.Transport
	secret sign.Secret
	of     *network
	many   int

	mu      sync.Mutex
	streams []*chatting
}

func (c *chatter) Dial(ctx context.Context, key []byte, a []string) (link.Stream, error) {
	s, err := c.Transport.Dial(ctx, key, a)
	if err != nil {
		return nil, err
	}
	x := &chatting{Stream: s}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.streams = append(c.streams, x)
	return x, nil
}

type chatting struct {
	link.Stream
	mu sync.Mutex
}

// Write writes what the node sends.
func (s *chatting) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.Stream.Write(b)
}

// chat sends the small messages of a run to all neighbours.
func (c *chatter) chat(in string) {
	b := c.messages(in)
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.streams {
		go s.Write(b)
	}
}

// messages returns frames with the small messages, 200 in a batch.
func (c *chatter) messages(in string) (b []byte) {
	hash, key := c.of.signed.Hash(), sha256.Sum256([]byte(in))
	body := []byte("x")
	sum := sha256.Sum256(body)
	for i := 0; i < c.many; {
		x := sentBatch{Run: key[:16]}
		for ; i < c.many && len(x.Frames) < 200; i++ {
			slip := roster.Slip{Roster: hash[:], Instance: in, From: 6, Slot: "small", Round: uint64(i), Sum: sum[:]}
			x.Frames = append(x.Frames, sent{Kind: aMessage, Slot: "small", Round: uint64(i), Body: body,
				Signature: slip.Sign(c.secret)})
		}
		e := canonical.Encode(x)
		b = append(binary.BigEndian.AppendUint32(b, uint32(len(e))), e...)
	}
	return b
}

// BenchmarkSmallMessages is the processor time of 24,000 small signed messages that one seat sends to six nodes in a
// run: 4,000 to each, in the time of one question.
func BenchmarkSmallMessages(b *testing.B) {
	for _, many := range []int{0, 4000} {
		b.Run(map[bool]string{true: "many", false: "none"}[many > 0], func(b *testing.B) {
			net := conveneAt(b, slowSixth(b), 1, apart)
			var c *chatter
			net.overTLS()
			tls := net.change
			net.change = func(seat int, conf *node.Config) {
				if tls(seat, conf); seat == 6 {
					c = &chatter{Transport: conf.Transport, secret: conf.Secret, of: net, many: many}
					conf.Transport = c
				}
			}
			net.startAll()
			client := net.overTLSClient()
			defer client.Close()
			begun := processorTime(b)
			for b.Loop() {
				go func() {
					for id := ""; id == ""; time.Sleep(5 * time.Millisecond) {
						for _, r := range net.nodes[0].Status().Runs {
							id = r.Run
						}
						if id != "" && many > 0 {
							c.chat(id)
						}
					}
				}()
				res, err := client.Ask(b.Context(), synod.Question{Text: "What is 17 + 25?", Form: synod.Number})
				if err != nil || len(res.Records) < 6 {
					b.Fatal(err, res.Missing)
				}
			}
			for deadline := time.Now().Add(time.Minute); net.leastFrom6() < many; time.Sleep(50 * time.Millisecond) {
				if time.Now().After(deadline) {
					b.Fatalf("a node has read %d frames", net.leastFrom6())
				}
			}
			for before := time.Duration(-1); processorTime(b)-before > 100*time.Millisecond; { // what nodes compare
				before = processorTime(b)
				time.Sleep(2 * time.Second)
			}
			b.ReportMetric(float64((processorTime(b)-begun).Milliseconds())/float64(b.N), "cpu-ms/question")
		})
	}
}

// leastFrom6 returns how many frames of seat 6 each other node has read at least.
func (net *network) leastFrom6() (least int) {
	least = 1 << 30
	for _, n := range net.nodes[:6] {
		for _, p := range n.Status().Peers {
			if p.ID == "s6" {
				least = min(least, int(p.Frames))
			}
		}
	}
	return least
}

// slowSixth returns a council file whose last seat has a model that takes 8 s, so that runs last as long.
func slowSixth(b *testing.B) string {
	url := func(d time.Duration) string {
		return llmtest.Start(b, func(c llmtest.Call) string { time.Sleep(d); return llmtest.Fixed("42", 0.9)(c) },
			llmtest.Quiet()).URL
	}
	return fmt.Sprintf("protocol: {name: majority}\nf: 1\nmodels: {m: {provider: openai, url: %q, model: m}, "+
		"n: {provider: openai, url: %q, model: n}}\nseats: [{id: s0, model: m}, {id: s1, model: m}, "+
		"{id: s2, model: m}, {id: s3, model: m}, {id: s4, model: m}, {id: s5, model: m}, {id: s6, model: n}]\n",
		url(0), url(8*time.Second))
}
