package node_test

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"synod.dev/synod/internal/llmtest"
	"synod.dev/synod/network/node"
	"synod.dev/synod/network/node/call"
	"synod.dev/synod/network/roster"
	"synod.dev/synod/protocol/grade"
)

var learn = flag.Int("learn", 20, "questions before the fault in BenchmarkFaults")

// latencyCouncils are the councils of BenchmarkFaults: seven seats with the default pace. The last seats fail.
var latencyCouncils = []struct {
	name, text string
	f          int
}{
	{"sac", "protocol: {name: sac}\nf: 2\n", 2},
	{"cascade", "protocol: {name: cascade}\nf: 2\n", 2},
	{"cp-wbft", "protocol: {name: cp-wbft}\nf: 2\n", 2},
	{"decentllms", "protocol: {name: decentllms}\nf: 1\n", 1},
}

// faults of BenchmarkFaults: how many seats crash after the questions from which nodes learn, whether the model of
// one seat is slow from the beginning, and how many seats never say that they have closed a tick.
var faults = []struct {
	name    string
	crashed func(f int) int
	slow    bool
	open    func(f int) int
}{
	{"none", nobody, false, nobody},
	{"one-crashed", func(int) int { return 1 }, false, nobody},
	{"F-crashed", func(f int) int { return f }, false, nobody},
	{"one-slow", nobody, true, nobody},
	{"F-keep-ticks-open", nobody, false, func(f int) int { return f }},
}

func nobody(int) int { return 0 }

// keepOpen makes the last k seats Byzantine while the switch is on: they say that they have begun, close the first
// tick, and send nothing more but pings. So all later ticks stay open. They do not seem to have crashed, and others
// cannot tell them from members whose models are slow.
func (net *network) keepOpen(k int, on *atomic.Bool) {
	change := net.change
	net.change = func(seat int, c *node.Config) {
		if change != nil {
			change(seat, c)
		}
		if seat >= len(net.nodes)-k {
			if c.Transport == nil {
				c.Transport = net.memory.Join(c.Secret.PublicKey(), net.signed.MayAsk)
			}
			c.Transport = &tamper{c.Transport, func(_ []byte, f *sent) bool {
				return f.Kind != aMessage && (f.Kind != aClosed || f.Tick == 0) || !on.Load()
			}}
		}
	}
}

// BenchmarkFaults is the time of a question to a council of seven nodes over TLS, with models that take 20 ms, without
// a fault, after a crash, with a model that takes 500 ms, and with seats that keep ticks open. ms-first is the first
// question after the crash. Where ticks are kept open, a question takes minutes, and there is one.
func BenchmarkFaults(b *testing.B) {
	for _, c := range latencyCouncils {
		for _, f := range faults {
			b.Run(c.name+"/"+f.name, func(b *testing.B) {
				net := conveneAt(b, latencyText(b, c.name, c.text, f.slow), 1, apart)
				var on atomic.Bool
				net.overTLS()
				net.keepOpen(f.open(c.f), &on)
				net.startAll()
				client := net.overTLSClient()
				defer client.Close()
				for range *learn {
					timed(b, net, client)
				}
				if on.Store(true); f.open(c.f) > 0 {
					for begun := time.Now(); b.Loop(); begun = time.Now() {
						res, err := client.Ask(b.Context(), sum)
						if err != nil {
							b.Fatal(err)
						}
						o := res.Judge(net.signed.Roster, net.plan, sum)
						b.Logf("%s: %s, in %v", o.Status, o.Reason, time.Since(begun).Round(time.Millisecond))
					}
					return
				}
				for i := range f.crashed(c.f) {
					net.stop[6-i]()
				}
				first := timed(b, net, client)
				var all []time.Duration
				for b.Loop() {
					all = append(all, timed(b, net, client))
				}
				slices.Sort(all)
				b.ReportMetric(float64(first.Milliseconds()), "ms-first")
				b.ReportMetric(float64(all[len(all)/2].Milliseconds()), "ms-median")
				b.ReportMetric(float64(all[len(all)-1].Milliseconds()), "ms-worst")
			})
		}
	}
}

// timed asks a question and returns how long it took.
func timed(b *testing.B, net *network, client *call.Client) time.Duration {
	b.Helper()
	begun := time.Now()
	res, err := client.Ask(b.Context(), sum)
	if err != nil {
		b.Fatal(err)
	}
	o := res.Judge(net.signed.Roster, net.plan, sum)
	if o.Answer == nil || *o.Answer != "42" {
		b.Fatalf("%s: %s; missing %v", o.Status, o.Reason, res.Missing)
	}
	return time.Since(begun)
}

// latencyText returns a council file whose models take 20 ms, and if one is slow, that of the last seat 500 ms.
func latencyText(b *testing.B, name, text string, slow bool) string {
	url := func(latency time.Duration) string {
		fixed := llmtest.Fixed("42", 0.9)
		return llmtest.Start(b, func(c llmtest.Call) string {
			time.Sleep(latency)
			if strings.Contains(c.User, grade.Criteria()[0]) {
				return grade.Uniform(15).Text()
			}
			return fixed(c)
		}, llmtest.Quiet()).URL
	}
	fast, models, seats := url(20*time.Millisecond), "models:\n", "seats:\n"
	for i := range 7 { // of different models, which count as different supporters in cascade
		at, role := fast, ""
		if slow && i == 6 {
			at = url(500 * time.Millisecond)
		}
		if name == "decentllms" {
			role = ", role: " + map[bool]string{true: "worker", false: "evaluator"}[i < 3]
		}
		models += fmt.Sprintf("  m%d: {provider: openai, url: %q, model: m%d}\n", i, at, i)
		seats += fmt.Sprintf("  - {id: s%d, model: m%d%s}\n", i, i, role)
	}
	return text + models + seats
}

// apart gives every member an address that no other process of this machine has.
func apart(seat int, m *roster.Member) {
	p := os.Getpid()
	m.Addresses = []string{fmt.Sprintf("127.%d.%d.%d:7433", 1+p/200%200, 1+p%200, 1+seat)}
}
