package node_test

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"synod.dev/synod/council"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/internal/llmtest"
	"synod.dev/synod/llm"
	"synod.dev/synod/network/link"
	"synod.dev/synod/network/node"
	"synod.dev/synod/network/node/call"
	"synod.dev/synod/network/roster"
)

func TestMain(m *testing.M) {
	llmtest.ServeFast()
	os.Exit(m.Run())
}

// overTLS makes the nodes of the network talk over TLS on loopback, as they do between machines.
func (net *network) overTLS() {
	net.change = func(seat int, c *node.Config) {
		address := net.signed.Members[seat].Addresses[0]
		var err error
		if c.Transport, err = link.Listen(address, c.Secret.LinkKey(), net.signed.MayAsk, link.Limits{}); err != nil {
			net.t.Fatal(err)
		}
	}
}

// overTLSClient is the client of a caller elsewhere.
func (net *network) overTLSClient() *call.Client {
	transport, err := link.NewTLS(net.caller.LinkKey())
	if err != nil {
		net.t.Fatal(err)
	}
	return &call.Client{Roster: net.signed.Roster, Transport: transport}
}

// listening gives every member an address of this machine.
func listening(seat int, m *roster.Member) {
	m.Addresses = []string{fmt.Sprintf("127.0.%d.%d:7433", 1+seat/200, 1+seat%200)}
}

// BenchmarkOverNodes is the time of a question to a council of seven nodes over TLS, divided by that of the same
// council in one process, with models that take 50 ms. The aim is at most 1.1.
func BenchmarkOverNodes(b *testing.B) {
	const latency = 50 * time.Millisecond
	for _, protocol := range []string{"{name: sac, rounds: 2}", "{name: sac, rounds: 6}", "{name: majority}"} {
		b.Run(strings.ReplaceAll(strings.Trim(protocol, "{}"), " ", ""), func(b *testing.B) {
			s := llmtest.StartFast(b, latency, "42", 0.9)
			text := fmt.Sprintf("protocol: %s\nexact: paper\nf: 2\nmodels: {m: {provider: "+
				"openai, url: %q, model: m42, timeout: 15s}}\nseats: [{id: a, model: m, count: 7}]\n", protocol, s.URL)
			spec, err := plan.Parse([]byte(text))
			if err != nil {
				b.Fatal(err)
			}
			here, err := council.Convene(spec, llm.Env{})
			if err != nil {
				b.Fatal(err)
			}
			defer here.Close()
			net := conveneAt(b, text, 1, listening)
			net.overTLS()
			net.startAll()
			client := net.overTLSClient()
			var inProcess, overNodes time.Duration
			for b.Loop() {
				begun := time.Now()
				o, err := here.Decide(b.Context(), council.Ask{Question: sum})
				if err != nil || o.Answer == nil {
					b.Fatal(err, o.Reason)
				}
				inProcess += time.Since(begun)
				begun = time.Now()
				res, err := client.Ask(b.Context(), sum)
				if err != nil {
					b.Fatal(err)
				}
				there := res.Judge(net.signed.Roster, net.plan, sum)
				overNodes += time.Since(begun)
				if there.Answer == nil || there.Calls.Made != o.Calls.Made {
					b.Fatalf("%s: %s; %d calls, and %d in one process", there.Status, there.Reason, there.Calls.Made,
						o.Calls.Made)
				}
			}
			b.ReportMetric(float64(overNodes)/float64(inProcess), "of-in-process")
			b.ReportMetric(float64(overNodes.Milliseconds())/float64(b.N), "ms-nodes")
			b.ReportMetric(float64(inProcess.Milliseconds())/float64(b.N), "ms-in-process")
		})
	}
}

// A hundred nodes on a sparse graph, in one process and over TLS, decide; the memory of all of them is stated.
func TestHundredNodes(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts a hundred nodes")
	}
	const text = "protocol: {name: sac, rounds: 2}\ngraph: {family: circulant, k: 3}\nf: 1\n" +
		"pace: {think: 2s, within: 20s}\n" +
		"models: {d: {provider: simulated, ability: 0.8, skill: 0.75, primacy: 0, shared: 0}}\n" +
		"seats: [{id: a, model: d, count: 100}]\n"
	net := conveneAt(t, text, 1, listening)
	net.overTLS()
	begun := time.Now()
	net.startAll()
	up := time.Since(begun)
	client := net.overTLSClient()
	begun = time.Now()
	res, err := client.Ask(t.Context(), sum)
	if err != nil {
		t.Fatal(err)
	}
	took := time.Since(begun)
	o := res.Judge(net.signed.Roster, net.plan, sum)
	if len(res.Missing) > 0 || o.Answer == nil || *o.Answer != "42" {
		t.Errorf("%s: %s; missing %v", o.Status, o.Reason, res.Missing)
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	t.Logf("100 nodes, %d links: connected in %v, decided in %v, %d MiB resident (%d MiB of heap)",
		len(net.signed.Edges), up.Round(time.Millisecond), took.Round(time.Millisecond), resident()>>20,
		m.HeapInuse>>20)
	if resident() > 1<<30 {
		t.Errorf("the nodes take %d MiB", resident()>>20)
	}
}

// resident returns the resident memory of this process in bytes; 0 where there is no /proc.
func resident() int {
	b, err := os.ReadFile("/proc/self/statm")
	fields := strings.Fields(string(b))
	if err != nil || len(fields) < 2 {
		return 0
	}
	pages, err := strconv.Atoi(fields[1])
	if err != nil {
		return 0
	}
	return pages * os.Getpagesize()
}
