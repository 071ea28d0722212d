package node_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"synod.dev/synod"
	"synod.dev/synod/core/journal"
	"synod.dev/synod/core/sign"
	"synod.dev/synod/council/outcome"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/internal/canonical"
	"synod.dev/synod/network/link"
	"synod.dev/synod/network/node"
	"synod.dev/synod/network/node/call"
	"synod.dev/synod/record/certificate"
)

var perturbed = flag.Int("perturbed", 24, "perturbed runs of TestPerturbed")

// faulty is a transport whose streams have faults.
type faulty struct {
	link.Transport
	mu     sync.Mutex
	random *rand.Rand
	delay  time.Duration // of a write, at most
	cut    int           // a stream breaks after this many writes on average; 0: never
	deaf   bool          // what it writes does not arrive
	until  time.Time     // the faults end
	pause  *pause        // nil: no link is paused
	self   []byte        // the key of the node that writes
}

// pause is a time in which nothing arrives from a node or at it, and all of it arrives afterwards.
type pause struct {
	key      []byte
	from, to atomic.Int64 // nanoseconds since 1970
}

// wait returns when the pause is over, if a link is paused.
func (p *pause) wait(a, b []byte) {
	if p == nil || !bytes.Equal(a, p.key) && !bytes.Equal(b, p.key) {
		return
	}
	if now := time.Now().UnixNano(); now >= p.from.Load() && now < p.to.Load() {
		time.Sleep(time.Duration(p.to.Load() - now))
	}
}

func (f *faulty) Dial(ctx context.Context, key []byte, addresses []string) (link.Stream, error) {
	s, err := f.Transport.Dial(ctx, key, addresses)
	if err != nil {
		return nil, err
	}
	return &faultyStream{Stream: s, of: f, to: key}, nil
}

type faultyStream struct {
	link.Stream
	of *faulty
	to []byte
}

func (s *faultyStream) Write(b []byte) (int, error) {
	f := s.of
	f.mu.Lock()
	var wait time.Duration
	broken := false
	if time.Now().Before(f.until) {
		if f.delay > 0 {
			wait = rand.N(f.delay)
		}
		broken = f.cut > 0 && f.random.IntN(f.cut) == 0
		if f.deaf {
			wait, broken = time.Until(f.until), true
		}
	}
	f.mu.Unlock()
	time.Sleep(wait)
	f.pause.wait(f.self, s.to)
	if broken {
		s.Close()
		return 0, errors.New("the stream broke")
	}
	return s.Stream.Write(b)
}

// perturbation is what goes wrong in one run.
type perturbation struct {
	net    *network
	random *rand.Rand
	faults map[int]*faulty
	kinds  []string
	victim int // the seat that most faults are about
	kill   bool
	pause  *pause // nil: the victim is not paused
	twin   *node.Node
	hub    *link.Memory // of the twin
}

// counts are how often each kind of fault was played.
var counts sync.Map

func (p *perturbation) count(kind string) {
	p.kinds = append(p.kinds, kind)
	n, _ := counts.LoadOrStore(kind, new(atomic.Int64))
	n.(*atomic.Int64).Add(1)
}

// undecided counts what was played in a run without a decision, and why there is none.
func (p *perturbation) undecided(seed int, o *outcome.Outcome) {
	for _, kind := range append(slices.Clone(p.kinds), fmt.Sprintf("council %d", seed%len(perturbedCouncils)),
		"because "+regexp.MustCompile(`[0-9]+`).ReplaceAllString(o.Reason, "N")) {
		n, _ := counts.LoadOrStore("undecided: "+kind, new(atomic.Int64))
		n.(*atomic.Int64).Add(1)
	}
}

// The texts of the councils that are perturbed: seat a5 is Byzantine in the last.
var perturbedCouncils = []string{
	"protocol: {name: sac, rounds: 2}\nf: 1\n" + quick + five,
	"protocol: {name: majority}\nf: 1\n" + quick + five,
	"protocol: {name: rotating-leader}\nf: 1\n" + quick + five,
	"protocol: {name: sac, rounds: 2}\nf: 1\n" + quick + "models: {d: {provider: simulated, ability: 0.6}}\n" +
		"seats: [{id: a, model: d, count: 4}, {id: bad, model: d, adversary: {name: equivocator}}]\n",
}

const quick = "pace: {think: 40ms, within: 160ms}\nlimits: {deadline: 8s}\n"
const five = "models: {d: {provider: simulated, ability: 0.6}}\nseats: [{id: a, model: d, count: 5}]\n"

func newPerturbation(t *testing.T, seed int) *perturbation {
	random := rand.New(rand.NewPCG(uint64(seed), 15))
	p := &perturbation{random: random, faults: map[int]*faulty{}, victim: random.IntN(4)}
	p.net = convene(t, perturbedCouncils[seed%len(perturbedCouncils)], byte(seed))
	until := time.Now().Add(4 * time.Second)
	kinds := []string{"delay", "slow link", "cut", "one-way partition", "partition", "skew", "kill and restart",
		"pause", "twin", "junk", "oversize", "flood", "stranger"}
	chosen := map[string]bool{}
	for range 1 + random.IntN(4) {
		chosen[kinds[random.IntN(len(kinds))]] = true
	}
	if chosen["pause"] {
		p.pause = &pause{key: p.net.secrets[p.victim].PublicKey()}
	}
	offset := time.Duration(random.IntN(640)-320) * time.Millisecond
	p.net.change = func(seat int, c *node.Config) {
		f := &faulty{Transport: p.net.memory.Join(c.Secret.PublicKey(), p.net.signed.MayAsk), until: until,
			random: rand.New(rand.NewPCG(uint64(seed), uint64(seat))), pause: p.pause, self: c.Secret.PublicKey()}
		if chosen["delay"] {
			f.delay = 60 * time.Millisecond
		}
		if seat == p.victim && chosen["slow link"] {
			f.delay = 300 * time.Millisecond
		}
		if chosen["cut"] {
			f.cut = 30
		}
		f.deaf = seat == p.victim && chosen["one-way partition"]
		p.faults[seat], c.Transport = f, f
		if seat == p.victim && chosen["skew"] {
			c.Now = func() time.Time { return time.Now().Add(offset) }
		}
	}
	for kind := range chosen {
		p.count(kind)
	}
	p.kill = chosen["kill and restart"]
	for i := range p.net.nodes {
		p.net.start(i)
	}
	if chosen["partition"] {
		p.faults[p.victim].mu.Lock()
		p.faults[p.victim].deaf = true
		p.faults[p.victim].mu.Unlock()
	}
	if chosen["twin"] {
		p.startTwin()
	}
	time.Sleep(time.Duration(random.IntN(100)) * time.Millisecond)
	p.attack(chosen)
	return p
}

// startTwin starts a second daemon with the key of the victim, another folder and another model.
func (p *perturbation) startTwin() {
	net := p.net
	p.hub = new(link.Memory)
	key := net.secrets[p.victim].PublicKey()
	twin := &twinned{Transport: net.memory.Dialer(key), own: p.hub.Join(key, net.signed.MayAsk)}
	n, err := node.Open(node.Config{Roster: net.signed, Secret: net.secrets[p.victim], Dir: net.t.TempDir(),
		Transport: twin, Model: plan.Params{"provider": "simulated", "ability": 0.0, "seed": 99, "study": 5}})
	if err != nil {
		net.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { n.Run(ctx); close(done) }()
	net.t.Cleanup(func() { cancel(); <-done })
	p.twin = n
}

// twinned dials in one network and accepts in another.
type twinned struct {
	link.Transport
	own link.Transport
}

func (t *twinned) Accept() (link.Stream, []byte, error) { return t.own.Accept() }
func (t *twinned) Close() error                         { return errors.Join(t.Transport.Close(), t.own.Close()) }

// attack sends what no honest node sends, in the name of the victim or of a stranger.
func (p *perturbation) attack(chosen map[string]bool) {
	net, hash := p.net, p.net.signed.Hash()
	target := net.secrets[(p.victim+1)%len(net.secrets)].PublicKey()
	hello := canonical.Encode(call.Hello{Version: call.Version, Purpose: call.ToLink, Roster: hash[:]})
	send := func(from sign.Secret, parts ...[]byte) {
		s, err := net.memory.Dialer(from.PublicKey()).Dial(context.Background(), target, nil)
		if err != nil {
			return
		}
		go func() {
			defer s.Close()
			go func() { // read what comes back
				b := make([]byte, 1<<10)
				for {
					if _, err := s.Read(b); err != nil {
						return
					}
				}
			}()
			s.SetWriteDeadline(time.Now().Add(2 * time.Second))
			for _, b := range parts {
				if _, err := s.Write(b); err != nil {
					return
				}
			}
		}()
	}
	framed := func(b []byte) []byte { return append(binary.BigEndian.AppendUint32(nil, uint32(len(b))), b...) }
	victim := net.secrets[p.victim]
	if chosen["junk"] {
		send(victim, framed(hello), framed([]byte("junk")), bytes.Repeat([]byte{0xff}, 100))
	}
	if chosen["oversize"] {
		send(victim, framed(hello), binary.BigEndian.AppendUint32(nil, 1<<31))
	}
	if chosen["flood"] {
		ping := framed(canonical.Encode([]any{[]byte{}, []any{map[int]int{1: 6}}}))
		send(victim, framed(hello), bytes.Repeat(ping, 20_000))
	}
	if chosen["stranger"] {
		send(secretsOf(net.t, 77, 1)[0], framed(hello))
	}
}

// tee gives a question to a twin too.
type tee struct {
	link.Transport
	hub         *link.Memory
	key, caller []byte
}

func (t *tee) Dial(ctx context.Context, key []byte, a []string) (link.Stream, error) {
	s, err := t.Transport.Dial(ctx, key, a)
	if err != nil || !bytes.Equal(key, t.key) {
		return s, err
	}
	other, err := t.hub.Dialer(t.caller).Dial(ctx, key, a)
	if err != nil {
		return s, nil
	}
	go func() {
		b := make([]byte, 1<<12)
		for {
			if _, err := other.Read(b); err != nil {
				return
			}
		}
	}()
	return &teeStream{s, other}, nil
}

type teeStream struct {
	link.Stream
	other link.Stream
}

func (s *teeStream) Write(b []byte) (int, error) {
	s.other.SetWriteDeadline(time.Now().Add(time.Second))
	s.other.Write(b)
	return s.Stream.Write(b)
}

// TestPerturbed plays runs in which things go wrong and checks what must hold in every one of them:
// a run ends before its deadline and says why; a certificate verifies; what a node has acknowledged is
// in its journal, and replays; no node signed two values for a slot; an equivocator is named where two
// honest members have its two messages, and nobody else ever is.
func TestPerturbed(t *testing.T) {
	var decided, undecided, certified, proofs atomic.Int64
	t.Run("runs", func(t *testing.T) {
		for seed := range *perturbed {
			t.Run(fmt.Sprint(seed), func(t *testing.T) {
				t.Parallel()
				p := newPerturbation(t, seed)
				res, o := p.play(t)
				if o.Answer != nil {
					decided.Add(1)
					if p.certify(t, res, &o) {
						certified.Add(1)
					}
				} else if undecided.Add(1); o.Reason == "" {
					t.Error("no answer, and no reason")
				} else {
					p.undecided(seed, &o)
				}
				proofs.Add(int64(len(res.Proofs)))
				p.checkProofs(t, res)
				for _, stop := range p.net.stop {
					stop()
				}
				p.checkFolders(t, res)
				if t.Failed() {
					t.Logf("seed %d: %v, victim %d, missing %v", seed, p.kinds, p.victim, res.Missing)
				}
			})
		}
	})
	t.Logf("%d runs: %d decided (%d certified), %d without a decision, %d proofs of equivocation", *perturbed,
		decided.Load(), certified.Load(), undecided.Load(), proofs.Load())
	counts.Range(func(k, v any) bool { t.Logf("  %s: %d", k, v.(*atomic.Int64).Load()); return true })
}

// play asks a question while a node ends and starts again.
func (p *perturbation) play(t *testing.T) (*call.Result, outcome.Outcome) {
	c := p.net.client()
	if p.twin != nil {
		c.Transport = &tee{c.Transport, p.hub, p.net.secrets[p.victim].PublicKey(), p.net.caller.PublicKey()}
	}
	if p.kill {
		after := c.Lead + time.Duration(p.random.IntN(300))*time.Millisecond
		pause := time.Duration(p.random.IntN(300)) * time.Millisecond
		restarted := make(chan struct{})
		go func() {
			defer close(restarted)
			time.Sleep(after)
			p.net.stop[p.victim]()
			time.Sleep(pause)
			p.net.start(p.victim)
		}()
		defer func() { <-restarted }()
	}
	if p.pause != nil {
		begin := time.Now().Add(c.Lead + time.Duration(p.random.IntN(300))*time.Millisecond)
		p.pause.to.Store(begin.Add(time.Duration(100+p.random.IntN(900)) * time.Millisecond).UnixNano())
		p.pause.from.Store(begin.UnixNano())
	}
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Second)
	defer cancel()
	q := synod.Question{Text: fmt.Sprintf("What is %d + 25?", p.random.IntN(100)), Form: synod.Number}
	begun := time.Now()
	res, err := c.Ask(ctx, q)
	if err != nil {
		t.Fatal(err)
	}
	if d := time.Since(begun); d > 18*time.Second { // on a machine that does much else
		t.Errorf("the question took %v; the deadline is 8s", d)
	}
	p.net.asked = q
	return res, res.Judge(p.net.signed.Roster, p.net.plan, q)
}

// certify makes a certificate, and reports whether enough members could sign.
func (p *perturbation) certify(t *testing.T, res *call.Result, o *outcome.Outcome) bool {
	r := p.net.signed.Roster
	s, err := res.Statement(r, p.net.plan, p.net.asked, o)
	if err != nil {
		t.Error(err)
		return false
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	made, err := p.net.client().Certify(ctx, &s)
	if err != nil {
		return false
	}
	if _, err := certificate.Verify(made, certificate.CouncilOf(r)); err != nil {
		t.Errorf("the certificate: %v", err)
	}
	other := s
	other.Answer = certificate.AnswerHash("another answer")
	if _, err := p.net.client().Certify(ctx, &other); err == nil {
		t.Error("a certificate of another answer was signed")
	}
	return true
}

// checkProofs requires that only members that did equivocate are named.
func (p *perturbation) checkProofs(t *testing.T, res *call.Result) {
	for _, e := range res.Proofs {
		if _, err := e.Evidence(p.net.signed.Roster); err != nil {
			t.Errorf("a proof does not hold: %v", err)
		}
		seat := int(e.A.From)
		if !(p.twin != nil && seat == p.victim) && !p.net.plan.Adversary(synod.NodeID(seat)) {
			t.Errorf("seat %d is framed: %+v", seat, e)
		}
	}
	sums := map[string]map[string]bool{} // by slot of an adversary: what honest members got
	for i, f := range res.Finals {
		if f == nil || p.net.plan.Adversary(synod.NodeID(i)) {
			continue
		}
		for _, c := range f.Receipts {
			if p.net.plan.Adversary(synod.NodeID(c.From)) {
				key := fmt.Sprint(c.Slot, c.Round)
				if sums[key] == nil {
					sums[key] = map[string]bool{}
				}
				sums[key][string(c.Sum)] = true
			}
		}
	}
	for key, all := range sums {
		if len(all) > 1 && len(res.Proofs) == 0 {
			t.Errorf("the equivocation in %s is not named", key)
		}
	}
}

// checkFolders replays the journals of what was acknowledged, and reads the slots that were signed.
func (p *perturbation) checkFolders(t *testing.T, res *call.Result) {
	net := p.net
	for i, f := range res.Finals {
		signed := map[string]string{}
		b, err := os.ReadFile(filepath.Join(net.dirs[i], "slots"))
		if err != nil {
			t.Error(err)
		}
		for _, line := range strings.Split(strings.TrimSpace(string(b)), "\n") {
			line = line[:strings.LastIndexByte(line, '"')+1] // without its checksum
			if parts := strings.SplitN(line, " ", 4); len(parts) == 4 {
				key := parts[0] + parts[1] + parts[3]
				if old, ok := signed[key]; ok && old != parts[2] {
					t.Errorf("seat %d signed two values: %s", i, line)
				}
				signed[key] = parts[2]
			}
		}
		if f == nil || p.twin != nil && i == p.victim {
			continue
		}
		run, err := journal.Load(filepath.Join(net.dirs[i], "runs", string(res.Instance)+".jsonl"))
		if err != nil {
			t.Errorf("seat %d: %v", i, err)
			continue
		}
		own, err := net.secrets[i].Identity(synod.NodeID(i), net.signed.Committee(), res.Instance)
		if err != nil {
			t.Fatal(err)
		}
		digest, err := journal.Replay(run, func(synod.NodeID) (synod.Machine, error) {
			return net.plan.Machine(own, &run.Head.Question)
		})
		if err != nil || digest != f.Digest {
			t.Errorf("seat %d: the journal replays to %s, and the record has %s: %v", i, digest, f.Digest, err)
		}
	}
}
