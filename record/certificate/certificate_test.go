package certificate_test

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"synod.dev/synod"
	"synod.dev/synod/core/param"
	"synod.dev/synod/core/sign"
	"synod.dev/synod/graph"
	"synod.dev/synod/graph/robustness"
	"synod.dev/synod/protocol"
	"synod.dev/synod/protocol/catalog"
	"synod.dev/synod/record/certificate"
)

// world is a valid statement with the secrets of all who may sign it.
type world struct {
	s       certificate.Statement
	owner   sign.Secret
	members []sign.Secret
}

// newWorld returns a council that decided, of one owner or of several, drawn from a seed. Its statement is of version
// 1.
func newWorld(t testing.TB, seed uint64) *world {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 0xce27))
	n := 1 + r.IntN(9)
	w := &world{}
	protocols := []string{"sac", "w-msr", "decentllms", "rotating-leader", "cp-wbft", "debate"}
	rules := []string{"majority", "supermajority", "plurality", "protocol"}
	hash := func(kind string) []byte { return certificate.AnswerHash(kind + string(rune('a'+r.IntN(1000)))) }
	w.s = certificate.Statement{
		Domain: certificate.Domain, Kind: certificate.Owner, Council: hash("council"), Instance: "run-" +
			string(rune('a'+r.IntN(26))),
		Question: hash("question"), Form: "number", Answer: certificate.AnswerHash("42"),
		Protocol: protocols[r.IntN(len(protocols))], Parameters: `{"rounds":6}`,
		Rule:   certificate.Rule{Name: rules[r.IntN(len(rules))]},
		Faults: certificate.Faults{Model: certificate.Local, F: uint64(r.IntN(n/2 + 1))},
	}
	if r.IntN(2) == 0 {
		w.s.Ledger = &certificate.Head{Log: "audit", Size: 1 + r.Uint64N(1000), Root: hash("root")}
		w.s.Journal = hash("journal")
	}
	w.addGraph(t, r, n)
	agree := n/2 + 1 + r.IntN(n-n/2)
	agree = max(agree, (2*n+2)/3, int(w.s.Faults.F)+1)
	for i := range n {
		m := certificate.Member{ID: "m" + string(rune('1'+i)), Kind: "endpoint", Voter: true,
			First: certificate.AnswerHash("42"),
			Final: certificate.AnswerHash("42")}
		if i >= agree {
			m.First, m.Final = hash("other"), hash("other")
		}
		if r.IntN(8) == 0 {
			m.First = []byte{}
		}
		w.s.Members = append(w.s.Members, m)
	}
	w.keys(t, r)
	w.s.Fill()
	return w
}

// addGraph draws a graph, its robustness and what the protocol claims on it.
func (w *world) addGraph(t testing.TB, r *rand.Rand, n int) {
	var edges [][2]int
	for a := range n {
		for b := a + 1; b < n; b++ {
			if r.IntN(4) > 0 || b == a+1 {
				edges = append(edges, [2]int{a, b})
				w.s.Graph.Edges = append(w.s.Graph.Edges, [2]uint64{uint64(a), uint64(b)})
			}
		}
	}
	found := robustness.Find(graph.MustNew(n, false, edges), nil)
	w.s.Graph.R, w.s.Graph.Exact = uint64(found.R), true
	entry, err := catalog.Protocols.Find(w.s.Protocol)
	if err != nil {
		t.Fatal(err)
	}
	w.s.Claim = guarantee(entry.New(), int(w.s.Faults.F), found.R)
}

func guarantee(p protocol.Protocol, f, r int) string {
	g, ok := p.(protocol.Guaranteed)
	if !ok {
		return certificate.None
	}
	if name, _ := g.Guarantee(f, r, true); name != "" {
		return name
	}
	return certificate.None
}

// keys gives the council one owner or several, who sign their votes.
func (w *world) keys(t testing.TB, r *rand.Rand) {
	secret := func() sign.Secret {
		var b [32]byte
		for i := range 4 {
			binary.BigEndian.PutUint64(b[8*i:], r.Uint64())
		}
		s, err := sign.Generate(bytes.NewReader(b[:]))
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	w.owner = secret()
	if r.IntN(2) == 0 {
		w.s.Owner = w.owner.PublicKey()
		return
	}
	w.s.Kind = certificate.Roster
	for i := range w.s.Members {
		w.members = append(w.members, secret())
		w.s.Members[i].Key = w.members[i].PublicKey()
	}
	w.sign(t)
}

// sign has every member sign its own answers.
func (w *world) sign(t testing.TB) {
	var keys [][]byte
	for i := range w.s.Members {
		keys = append(keys, w.s.Members[i].Key)
	}
	committee, err := sign.NewCommittee(keys)
	if err != nil {
		t.Fatal(err)
	}
	for i := range w.s.Members {
		m := &w.s.Members[i]
		id, err := w.members[i].Identity(synod.NodeID(i), committee, sign.Instance(w.s.Instance))
		if err != nil {
			t.Fatal(err)
		}
		m.Signature = id.Signer.Sign(certificate.VoteBytes(w.s.Council, w.s.Question, m.First, m.Final))
	}
}

// certificate signs the statement as it is now, with all who hold the answer.
func (w *world) certificate(t testing.TB) *certificate.Certificate {
	t.Helper()
	if w.s.Kind == certificate.Owner {
		c, err := certificate.Signed(&w.s, w.owner)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	payload, err := w.s.Payload()
	if err != nil {
		t.Fatal(err)
	}
	c := &certificate.Certificate{Statement: &w.s, Payload: payload}
	for i, m := range w.s.Members {
		if w.s.MaySign(i) {
			c.Signatures = append(c.Signatures, certificate.Signature{Key: m.Key,
				Signature: w.members[i].SignEnvelope(certificate.PayloadType, payload)})
		}
	}
	return c
}

func (w *world) file(t testing.TB) []byte {
	t.Helper()
	b, err := w.certificate(t).File()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// judge verifies a file as synod verify does.
func judge(file []byte) error {
	c, err := certificate.Parse(file)
	if err != nil {
		return err
	}
	_, err = certificate.Verify(c, nil)
	return err
}

func TestReal(t *testing.T) {
	for seed := range uint64(300) {
		if err := judge(newWorld(t, seed).file(t)); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
}

// lies are statements that all keys sign and that arithmetic, or another check of Verify, refutes.
var lies = map[string]func(w *world){
	"more support":             func(w *world) { w.s.Support++ },
	"less support":             func(w *world) { w.s.Support-- },
	"withstands more":          func(w *world) { w.s.Withstands.Ignored++ },
	"withstands nothing":       func(w *world) { w.s.Withstands = nil },
	"a better graph":           func(w *world) { w.s.Graph.R++ },
	"a worse graph":            func(w *world) { w.s.Graph.R-- },
	"a stronger claim":         func(w *world) { w.s.Claim = "agreement-and-truth" },
	"a rule that nobody met":   func(w *world) { w.s.Rule = certificate.Rule{Name: "plurality", Support: 50} },
	"no voter":                 func(w *world) { setVoters(w, false) },
	"another answer":           func(w *world) { w.s.Answer = certificate.AnswerHash("43") },
	"an F above its signers":   func(w *world) { w.s.Faults.F, w.s.Claim = uint64(len(w.s.Members)), "none" },
	"a first answer turned":    func(w *world) { w.s.Members[0].First = certificate.AnswerHash("43"); w.s.Fill() },
	"a vote for another run":   func(w *world) { w.s.Instance += "x" },
	"a vote on another matter": func(w *world) { w.s.Question = certificate.AnswerHash("another") },
	"two seats with one key":   func(w *world) { w.s.Members[1] = w.s.Members[0]; w.s.Fill() },
	"a key for everybody":      func(w *world) { w.s.Members[len(w.s.Members)-1].Key = make([]byte, 32) },
	"another council":          func(w *world) { w.s.Council = certificate.AnswerHash("another") },
}

// onlyRoster are lies that one owner can state about its own members.
var onlyRoster = []string{"an F above its signers", "a first answer turned", "a vote for another run",
	"a vote on another matter", "two seats with one key", "a key for everybody", "another council"}

func setVoters(w *world, vote bool) {
	for i := range w.s.Members {
		w.s.Members[i].Voter = vote
	}
}

// severalOwners returns the seed of a world with a roster.
func severalOwners(t testing.TB) uint64 {
	for seed := range uint64(100) {
		w := newWorld(t, seed)
		if w.s.Kind == certificate.Roster && len(w.s.Members) >= 4 && w.s.Withstands != nil &&
			len(w.s.Members[0].First) > 0 {
			return seed
		}
	}
	t.Fatal("no roster among 100 worlds")
	return 0
}

// TestLies tells every lie of lies in many statements; make nightly tells them in more.
func TestLies(t *testing.T) {
	told := map[string]bool{}
	for seed := range uint64(runs(12, 60)) {
		for name, lie := range lies {
			w := newWorld(t, seed)
			ownerOnly := w.s.Kind == certificate.Owner
			if ownerOnly && slices.Contains(onlyRoster, name) || len(w.s.Members) < 3 || w.s.Withstands == nil {
				continue
			}
			told[name] = true
			if lie(w); judge(w.file(t)) == nil {
				t.Errorf("seed %d: %s: accepted", seed, name)
			}
		}
	}
	if len(told) < len(lies) {
		t.Errorf("only %d of %d lies are told", len(told), len(lies))
	}
}

// An envelope may lack signers or have wrong ones.
func TestSigners(t *testing.T) {
	w := newWorld(t, severalOwners(t))
	for name, change := range map[string]func(c *certificate.Certificate){
		"none":       func(c *certificate.Certificate) { c.Signatures = nil },
		"F of them":  func(c *certificate.Certificate) { c.Signatures = c.Signatures[:w.s.Faults.F] },
		"twice":      func(c *certificate.Certificate) { c.Signatures = append(c.Signatures[:1], c.Signatures...) },
		"reordered":  func(c *certificate.Certificate) { slices.Reverse(c.Signatures) },
		"a stranger": func(c *certificate.Certificate) { c.Signatures[0].Key = w.owner.PublicKey() },
		"one swapped": func(c *certificate.Certificate) {
			c.Signatures[0].Signature, c.Signatures[1].Signature = c.Signatures[1].Signature, c.Signatures[0].Signature
		},
	} {
		c := w.certificate(t)
		c.Signatures = slices.Clone(c.Signatures)
		change(c)
		file, err := c.File()
		if err != nil {
			t.Fatal(err)
		}
		if judge(file) == nil {
			t.Errorf("signers %s: accepted", name)
		}
	}
}

// A verifier that has the roster accepts no certificate of another one.
func TestCouncil(t *testing.T) {
	w := newWorld(t, severalOwners(t))
	own := func() *certificate.Council {
		k := &certificate.Council{Hash: w.s.Council, F: w.s.Faults.F, Edges: w.s.Graph.Edges, Protocol: w.s.Protocol,
			Parameters: w.s.Parameters}
		for _, m := range w.s.Members {
			k.IDs, k.Keys = append(k.IDs, m.ID), append(k.Keys, m.Key)
		}
		return k
	}
	c := w.certificate(t)
	if _, err := certificate.Verify(c, own()); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*certificate.Council){
		"hash":       func(k *certificate.Council) { k.Hash = certificate.AnswerHash("x") },
		"name":       func(k *certificate.Council) { k.IDs[1] = "x" },
		"key":        func(k *certificate.Council) { k.Keys[1] = w.owner.PublicKey() },
		"F":          func(k *certificate.Council) { k.F++ },
		"graph":      func(k *certificate.Council) { k.Edges = k.Edges[1:] },
		"protocol":   func(k *certificate.Council) { k.Protocol = "game" },
		"parameters": func(k *certificate.Council) { k.Parameters = "{}" },
		"size":       func(k *certificate.Council) { k.Keys, k.IDs = k.Keys[1:], k.IDs[1:] },
	} {
		k := own()
		change(k)
		if _, err := certificate.Verify(c, k); err == nil {
			t.Errorf("another %s: accepted", name)
		}
	}
	one := newWorld(t, 1)
	for seed := uint64(1); one.s.Kind != certificate.Owner; seed++ {
		one = newWorld(t, seed)
	}
	if _, err := certificate.Verify(one.certificate(t), own()); err == nil {
		t.Error("the certificate of one owner is accepted for a roster")
	}
}

// Everything that can be written in another way is refused: the file has one spelling (finding F9).
func TestSpellings(t *testing.T) {
	file := string(newWorld(t, 3).file(t))
	for name, other := range map[string]string{
		"no line end":   strings.TrimSpace(file),
		"white space":   strings.Replace(file, `":"`, `": "`, 1),
		"capitals":      strings.Replace(file, `"payload"`, `"PAYLOAD"`, 1),
		"one key twice": strings.Replace(file, `"payload":`, `"payload":"","payload":`, 1),
		"more keys":     strings.Replace(file, `"payload":`, `"more":1,"payload":`, 1),
		"capital hex":   strings.Replace(file, `ed25519:`, `ED25519:`, 1),
		"more bytes":    file + "\n",
	} {
		if other == file {
			t.Fatalf("%s: nothing is changed", name)
		}
		if judge([]byte(other)) == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// What is claimed of a protocol is what it guarantees with its default parameters. The names are part of the format of
// certificates.
func TestClaims(t *testing.T) {
	names := map[string]bool{certificate.None: true}
	for _, entry := range catalog.Protocols.All() {
		p := entry.New()
		if err := param.Verify(p); err != nil {
			t.Fatal(err)
		}
		for f := range 4 {
			for r := range 7 {
				got, known := certificate.ClaimOf(entry.Name, uint64(f), uint64(r))
				if want := guarantee(p, f, r); known && got != want {
					t.Errorf("%s with F=%d, r=%d: %q; the protocol says %q", entry.Name, f, r, got, want)
				}
				if known == entry.Variable {
					t.Errorf("%s: its claim is known: %v", entry.Name, known)
				}
				names[got] = true
			}
		}
	}
	for _, name := range []string{"4.3-strong", "4.3", "convergence", "validity", "agreement", "agreement-crash",
		"supported"} {
		if !names[name] {
			t.Errorf("no protocol claims %q", name)
		}
	}
	if c, known := certificate.ClaimOf("missing", 1, 3); known {
		t.Errorf("a protocol that is not there claims %q", c)
	}
	if c, _ := certificate.ClaimOf("sac", math.MaxUint64, math.MaxUint64); c != "4.3" && c != certificate.None {
		t.Errorf("the largest numbers: %q", c)
	}
}

// Signers of one run that is exclusive cannot make a second certificate with another answer.
func TestHashes(t *testing.T) {
	if h := certificate.AnswerHash(""); len(h) != 0 {
		t.Errorf("no answer has the hash %x", h)
	}
	// printf 42 | sha256sum
	const want = "73475cb40a568e8da8a045ced110137e159f890ac4da883b6b17dc651b3a8049"
	if h := certificate.AnswerHash("42"); len(h) != 32 || strings.ToLower(hexOf(h)) != want {
		t.Errorf("42 has the hash %x", h)
	}
}

func hexOf(b []byte) string {
	const digits = "0123456789abcdef"
	var s strings.Builder
	for _, x := range b {
		s.WriteByte(digits[x>>4])
		s.WriteByte(digits[x&15])
	}
	return s.String()
}

func benchWorld(b *testing.B) *world {
	for seed := uint64(0); ; seed++ {
		if w := newWorld(b, seed); len(w.s.Members) == 7 && w.s.Kind == certificate.Roster {
			return w
		}
	}
}

// BenchmarkMake signs the votes' statement with all members, n = 7.
func BenchmarkMake(b *testing.B) {
	w := benchWorld(b)
	for b.Loop() {
		w.file(b)
	}
}

// BenchmarkVerify verifies a certificate of seven members, signatures and graph included. It also reports the
// processor time, which other work on the machine does not change.
func BenchmarkVerify(b *testing.B) {
	file := benchWorld(b).file(b)
	begun := processorTime(b)
	for b.Loop() {
		if err := judge(file); err != nil {
			b.Fatal(err)
		}
	}
	whole := float64((processorTime(b) - begun).Microseconds()) / float64(b.N)
	b.ReportMetric(whole, "cpu-µs/op")
	c, err := certificate.Parse(file)
	if err != nil {
		b.Fatal(err)
	}
	begun = processorTime(b)
	for range b.N { // signatures under the statement, and under members' answers
		for i := range len(c.Signatures) + len(c.Statement.Members) {
			s := c.Signatures[i%len(c.Signatures)]
			sign.VerifyEnvelope(s.Key, certificate.PayloadType, c.Payload, s.Signature)
		}
	}
	b.ReportMetric(float64((processorTime(b)-begun).Microseconds())/float64(b.N)/whole, "signatures/whole")
}

// processorTime is the processor time that this process has taken.
func processorTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
