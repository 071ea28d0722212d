package node_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"synod.dev/synod"
	"synod.dev/synod/core/journal"
	"synod.dev/synod/internal/canonical"
	"synod.dev/synod/internal/llmtest"
	"synod.dev/synod/network/link"
	"synod.dev/synod/network/node"
	"synod.dev/synod/network/node/call"
)

// slow is a pace whose rounds take much longer than what the nodes do in them. Who is absent is suspected after 2.1 s.
const slow = "pace: {think: 1500ms, within: 600ms}\n"

const missed = 2100 * time.Millisecond

// withFault are councils of which one seat fails, the last one.
var withFault = map[string]string{
	"sac":      "protocol: {name: sac, rounds: 3}\nf: 1\n" + slow + fourModels,
	"majority": "protocol: {name: majority}\nf: 1\n" + slow + fourModels,
	"cascade":  "protocol: {name: cascade, stop: certain}\nf: 1\n" + slow + fourModels,
	"cp-wbft":  "protocol: {name: cp-wbft}\nf: 1\n" + slow + fourModels,
	"decentllms": "protocol: {name: decentllms}\nf: 1\n" + slow + "models: {d: {provider: simulated, ability: 0.7}}\n" +
		"seats: [{id: w, model: d, count: 2, role: worker}, {id: e, model: d, count: 4, role: evaluator}]\n",
}

const fourModels = "models: {d: {provider: simulated, ability: 0.8}}\nseats: [{id: a, model: d, count: 4}]\n"

// withoutOne asks a question while a seat takes no part, and returns how the live seats differ from the simulator, and
// which part of the time of the rounds the question took; 0 if there is no round in which members hear one another.
func (net *network) withoutOne(t *testing.T, lost int) (differ []string, part float64) {
	t.Helper()
	res, o := net.ask(sum)
	took := time.Since(res.Start)
	digests, _ := net.simulate(sum, res.Instance, lost)
	for i, f := range res.Finals {
		if i != lost && (f == nil || f.Digest != digests[i]) {
			differ = append(differ, fmt.Sprintf("seat %d: %s", i, res.Missing[i]))
		}
	}
	t.Logf("%s in %d ticks, %v", o.Status, o.Ticks, took)
	if o.Ticks < 3000 {
		return differ, 0
	}
	return differ, took.Seconds() / (float64(o.Ticks) / 1000)
}

// Without a seat that has crashed, the others live through what they live through in the simulator, and do not wait for
// the real ends of rounds.
func TestCrashedSeat(t *testing.T) {
	for name, text := range withFault {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			net := convene(t, text, 41)
			net.startAll()
			net.ask(sum)
			last := len(net.nodes) - 1
			net.stop[last]()
			time.Sleep(missed + 100*time.Millisecond)
			differ, part := net.withoutOne(t, last)
			for range 2 { // on a busy machine messages come late; a real difference is there each time
				if len(differ) > 0 {
					differ, part = net.withoutOne(t, last)
				}
			}
			if len(differ) > 0 || part > 0.5 {
				t.Errorf("%v; it took %.2f of the rounds' time", differ, part)
			}
		})
	}
}

// If more members than F are absent, nobody is suspected, and rounds end by real time.
func TestMoreThanFCrashed(t *testing.T) {
	t.Parallel()
	net := convene(t, withFault["cascade"], 42)
	net.startAll()
	net.stop[2]()
	net.stop[3]()
	time.Sleep(missed + 100*time.Millisecond)
	res, o := net.ask(sum)
	if took := time.Since(res.Start); took < time.Duration(o.Ticks)*time.Millisecond*9/10 || o.Ticks < 3000 {
		t.Errorf("%d ticks took %v", o.Ticks, took)
	}
}

// tamper is a transport that changes what its node sends to a neighbour. A stream is read as frames, the first of which
// opens it.
type tamper struct {
	link.Transport
	change func(to []byte, f *sent) (keep bool)
}

// sentBatch is what a node sends at once.
type sentBatch struct {
	_      struct{} `cbor:",toarray"`
	Run    []byte
	Frames []sent
}

// sent is a frame of a node.
type sent struct {
	Kind      uint64         `cbor:"1,keyasint"`
	Tick      int64          `cbor:"2,keyasint,omitempty"`
	Idle      int64          `cbor:"3,keyasint,omitempty"`
	Clock     int64          `cbor:"4,keyasint,omitempty"`
	Slot      string         `cbor:"5,keyasint,omitempty"`
	Round     uint64         `cbor:"6,keyasint,omitempty"`
	Body      []byte         `cbor:"7,keyasint,omitempty"`
	Signature []byte         `cbor:"8,keyasint,omitempty"`
	Receipts  []call.Receipt `cbor:"9,keyasint,omitempty"`
}

const (
	aMessage, aClosed, aDemand, aPing = 1, 2, 3, 6

	largest = 1 << 20
)

func (x *tamper) Dial(ctx context.Context, key []byte, a []string) (link.Stream, error) {
	s, err := x.Transport.Dial(ctx, key, a)
	if err != nil {
		return nil, err
	}
	return &tampered{Stream: s, of: x, to: key}, nil
}

type tampered struct {
	link.Stream
	of     *tamper
	to     []byte
	rest   []byte
	opened bool
}

func (s *tampered) Write(b []byte) (int, error) {
	s.rest = append(s.rest, b...)
	for len(s.rest) >= 4 && len(s.rest) >= 4+int(binary.BigEndian.Uint32(s.rest)) {
		n := 4 + int(binary.BigEndian.Uint32(s.rest))
		whole, body := s.rest[:n], s.rest[4:n]
		s.rest = s.rest[n:]
		var x sentBatch
		if s.opened && canonical.Decode(body, largest, &x) == nil {
			all := x.Frames
			x.Frames = nil
			for i := range all {
				if s.of.change(s.to, &all[i]) {
					x.Frames = append(x.Frames, all[i])
				}
			}
			if len(x.Frames) == 0 {
				continue
			}
			body = canonical.Encode(x)
			whole = append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...)
		}
		s.opened = true
		if _, err := s.Stream.Write(whole); err != nil {
			return 0, err
		}
	}
	return len(b), nil
}

// tampering makes a seat change what it sends.
func (net *network) tampering(seat int, change func(to []byte, f *sent) bool) {
	net.change = func(i int, c *node.Config) {
		if i == seat {
			c.Transport = &tamper{net.memory.Join(c.Secret.PublicKey(), net.signed.MayAsk), change}
		}
	}
}

// A seat that is connected and takes no part costs two messages' time, and nothing else.
func TestMuteSeat(t *testing.T) {
	for _, name := range []string{"sac", "decentllms"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			net := convene(t, withFault[name], 43)
			last := len(net.nodes) - 1
			net.tampering(last, func(_ []byte, f *sent) bool { return f.Kind == aPing })
			net.startAll()
			differ, part := net.withoutOne(t, last)
			for range 2 {
				if len(differ) > 0 {
					differ, part = net.withoutOne(t, last)
				}
			}
			if len(differ) > 0 || part > 0.5 {
				t.Errorf("%v; it took %.2f of the rounds' time", differ, part)
			}
		})
	}
}

// Honest evaluators agree, whether a Byzantine one is silent to one of them, consents to some only, or says that it
// has nothing to do and sends its messages later.
func TestSelectiveSeat(t *testing.T) {
	text := "protocol: {name: decentllms}\nf: 1\npace: {think: 300ms, within: 600ms}\n" +
		"models: {d: {provider: simulated, ability: 0.7}}\n" +
		"seats: [{id: w, model: d, count: 2, role: worker}, {id: e, model: d, count: 4, role: evaluator}]\n"
	const liar, victim = 5, 3
	to := func(net *network, key []byte) bool { return bytes.Equal(key, net.secrets[victim].PublicKey()) }
	for name, change := range map[string]func(net *network, key []byte, f *sent) bool{
		"silent to one": func(net *network, key []byte, f *sent) bool { return f.Kind == aPing || !to(net, key) },
		"consents to others": func(net *network, key []byte, f *sent) bool {
			return f.Kind != aClosed && f.Kind != aDemand || !to(net, key)
		},
		"says that it is idle": func(net *network, key []byte, f *sent) bool {
			if f.Kind == aClosed {
				f.Idle += 100_000
			}
			if f.Kind == aMessage && to(net, key) {
				time.Sleep(400 * time.Millisecond)
			}
			return true
		},
		"closes ahead": func(net *network, key []byte, f *sent) bool {
			if f.Kind == aClosed && f.Tick < 100_000 {
				f.Tick += 500
				f.Idle += 500
			}
			if f.Kind == aMessage && to(net, key) {
				time.Sleep(400 * time.Millisecond)
			}
			return true
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			net := convene(t, text, 44)
			net.tampering(liar, func(key []byte, f *sent) bool { return change(net, key, f) })
			net.startAll()
			res, o := net.ask(sum)
			t.Logf("%s in %d ticks, %v", o.Status, o.Ticks, time.Since(res.Start))
			answers := map[string]bool{}
			for _, r := range res.Records {
				if r.Seat >= 2 && r.Seat != liar {
					answers[afterSalt.ReplaceAllString(fmt.Sprint(r.Opinions), "$1")] = true
				}
			}
			if o.Answer == nil || len(answers) != 1 || len(res.Missing) > 1 {
				t.Errorf("%s: %s; missing %v; honest evaluators hold %d records", o.Status, o.Reason, res.Missing,
					len(answers))
			}
		})
	}
}

// afterSalt is what follows the salt in the reply of an evaluator: its own signature, and whether it suspects that
// delays exceeded a round. All before it, answers and grades, is the same in the replies of honest evaluators.
var afterSalt = regexp.MustCompile(`("salt":"[^"]*").*`)

// cutter is a network from which one node can be cut off.
type cutter struct {
	link.Transport
	of   *cut
	self []byte
}

// cut is when a node is cut off, and the streams of all nodes.
type cut struct {
	key     []byte
	mu      sync.Mutex
	off     bool
	streams []*cutStream
}

type cutStream struct {
	link.Stream
	near bool // it begins or ends at the node that is cut off
}

func (c *cutter) Dial(ctx context.Context, key []byte, a []string) (link.Stream, error) {
	near := bytes.Equal(key, c.of.key) || bytes.Equal(c.self, c.of.key)
	c.of.mu.Lock()
	off := c.of.off && near
	c.of.mu.Unlock()
	if off {
		return nil, errors.New("it is cut off")
	}
	s, err := c.Transport.Dial(ctx, key, a)
	if err != nil {
		return nil, err
	}
	stream := &cutStream{s, near}
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	c.of.streams = append(c.of.streams, stream)
	return stream, nil
}

// set cuts the node off, or ends that.
func (c *cut) set(off bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.off = off; !off {
		return
	}
	for _, s := range c.streams {
		if s.near {
			s.Close()
		}
	}
}

// A seat that is cut off from its neighbours while its model answers, and comes back within the patience, is heard by
// all before the round ends. If it comes back later, it is not.
func TestSeatThatComesBack(t *testing.T) {
	for name, c := range map[string]struct {
		away time.Duration
		want bool
	}{"within the patience": {time.Second, true}, "later": {missed + 700*time.Millisecond, false}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const victim = 3
			s := llmtest.Start(t, func(c llmtest.Call) string {
				time.Sleep(600 * time.Millisecond)
				return llmtest.Fixed("42", 0.9)(c)
			}, llmtest.Quiet())
			net := convene(t, "protocol: {name: sac, rounds: 1}\nf: 1\n"+slow+fmt.Sprintf("models: {m: {provider: "+
				"openai, url: %q, model: m}}\nseats: [{id: a, model: m, count: 4}]\n", s.URL), 45)
			x := &cut{key: net.secrets[victim].PublicKey()}
			net.change = func(seat int, c *node.Config) {
				key := c.Secret.PublicKey()
				c.Transport = &cutter{net.memory.Join(key, net.signed.MayAsk), x, key}
			}
			net.startAll()
			go func() {
				time.Sleep(250 * time.Millisecond)
				x.set(true)
				time.Sleep(c.away)
				x.set(false)
			}()
			res, o := net.ask(sum)
			t.Logf("%s in %d ticks, %v", o.Status, o.Ticks, time.Since(res.Start))
			for i := range victim {
				if heard := net.heardFirst(t, i, victim, res); heard != c.want {
					t.Errorf("seat %d has heard the answer in time: %v", i, heard)
				}
			}
		})
	}
}

// A connected seat whose model takes much longer than questions usually take is waited for: all hear its answer before
// the round ends, also when nodes have learned how long questions take.
func TestSlowSeatIsHeard(t *testing.T) {
	t.Parallel()
	const victim = 3
	var latency atomic.Int64
	url := func(sleep func()) string {
		return llmtest.Start(t, func(c llmtest.Call) string { sleep(); return llmtest.Fixed("42", 0.9)(c) },
			llmtest.Quiet()).URL
	}
	net := convene(t, "protocol: {name: sac, rounds: 1}\nf: 1\n"+slow+fmt.Sprintf("models: {m: {provider: openai, "+
		"url: %q, model: m}, s: {provider: openai, url: %q, model: s}}\nseats: [{id: a, model: m, count: 3}, "+
		"{id: b, model: s}]\n", url(func() {}), url(func() { time.Sleep(time.Duration(latency.Load())) })), 46)
	net.startAll()
	for range 20 {
		net.ask(sum)
	}
	latency.Store(int64(1200 * time.Millisecond))
	res, o := net.ask(sum)
	t.Logf("%s in %d ticks, %v", o.Status, o.Ticks, time.Since(res.Start))
	for i := range victim {
		if !net.heardFirst(t, i, victim, res) {
			t.Errorf("seat %d did not hear the slow seat", i)
		}
	}
}

// heardFirst reports whether a seat heard the first answer of another before an alarm ended the round.
func (net *network) heardFirst(t *testing.T, seat int, from synod.NodeID, res *call.Result) bool {
	t.Helper()
	run, err := journal.Load(filepath.Join(net.dirs[seat], "runs", string(res.Instance)+".jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	events, err := run.Events()
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		switch x := e.Event.(type) {
		case synod.Expired:
			return false
		case synod.Heard:
			if x.From == from && x.Slot.Round == 0 {
				return true
			}
		}
	}
	return false
}
