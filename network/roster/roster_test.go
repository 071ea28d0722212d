package roster_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/core/sign"
	"synod.dev/synod/network/roster"
)

// secrets returns n secrets that follow from a seed.
func secrets(t testing.TB, seed byte, n int) (all []sign.Secret) {
	random := rand.NewChaCha8([32]byte{seed})
	for range n {
		s, err := sign.Generate(random)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
	}
	return all
}

// complete returns a roster of the owners of secrets, each of whom hears all others.
func complete(owners []sign.Secret) *roster.Roster {
	r := &roster.Roster{Format: roster.Format, Name: "seven", F: 1, R: 2, Guarantee: "none", Protocol: "sac",
		Parameters: "{}", Council: "council: seven\n", Think: 1000, Within: 200, Links: roster.TLS,
		Rule: roster.Rule{Name: "plurality"}, Faults: roster.Local, Ledger: roster.Ledger{Kind: "none"}}
	for i, s := range owners {
		r.Members = append(r.Members, roster.Member{ID: fmt.Sprintf("a%d", i+1), Key: s.PublicKey(),
			Voter: true, Kind: "endpoint", Addresses: []string{fmt.Sprintf("127.0.0.%d:7400", i+1)}})
		for j := range i {
			r.Edges = append(r.Edges, []uint64{uint64(j), uint64(i)})
		}
	}
	sortEdges(r)
	return r
}

func sortEdges(r *roster.Roster) {
	for i := range r.Edges {
		for j := i; j > 0 && fmt.Sprint(r.Edges[j]) < fmt.Sprint(r.Edges[j-1]); j-- {
			r.Edges[j], r.Edges[j-1] = r.Edges[j-1], r.Edges[j]
		}
	}
}

func signed(r *roster.Roster, by ...sign.Secret) *roster.Signed {
	s := roster.Unsigned(r)
	for _, secret := range by {
		s.Sign(secret)
	}
	return s
}

func TestFirstRosterNeedsAllSignatures(t *testing.T) {
	owners := secrets(t, 1, 4)
	r := complete(owners)
	if err := r.Validate(); err != nil {
		t.Fatal(err)
	}
	s := signed(r, owners[:3]...)
	if err := s.Verify(); err == nil || !strings.Contains(err.Error(), "member a4 has not signed") {
		t.Errorf("three of four signed: %v", err)
	}
	other := signed(r, owners[3])
	if err := s.Merge(other); err != nil {
		t.Fatal(err)
	}
	if err := s.Verify(); err != nil || len(s.Missing()) > 0 {
		t.Errorf("all signed: %v, missing %v", err, s.Missing())
	}
	again, err := roster.Parse(s.File())
	if err != nil || again.Hash() != r.Hash() || again.Verify() != nil {
		t.Errorf("the file: %v", err)
	}
	s.Sign(secrets(t, 2, 1)[0])
	if err := s.Verify(); err == nil || !strings.Contains(err.Error(), "no member has") {
		t.Errorf("a stranger signed: %v", err)
	}
}

// after is a roster that replaces another one, with signatures.
func after(old *roster.Signed, r *roster.Roster, by ...sign.Secret) *roster.Signed {
	hash := old.Hash()
	r.Serial, r.Previous = old.Serial+1, hash[:]
	s := roster.Successor(r, old)
	for _, secret := range by {
		s.Sign(secret)
	}
	return s
}

// A change needs a quorum of the old members and every new one. The file of the new roster has what the rule needs.
func TestChangeOfMembers(t *testing.T) {
	owners := secrets(t, 1, 5)
	old := signed(complete(owners[:4]), owners[:4]...)
	next := func(by ...sign.Secret) *roster.Signed { // the first leaves
		return after(old, complete([]sign.Secret{owners[1], owners[2], owners[3], owners[4]}), by...)
	}
	for _, c := range []struct {
		by   []sign.Secret
		want string
	}{
		{owners[1:5], ""},
		{[]sign.Secret{owners[0], owners[1], owners[2], owners[4]}, ""},
		{owners[1:4], "member a4 has not signed"},
		{[]sign.Secret{owners[1], owners[2], owners[4]}, "2 of the 4 members of the previous roster have signed it"},
	} {
		s, err := roster.Parse(next(c.by...).File())
		if err != nil {
			t.Fatal(err)
		}
		err = s.Verify()
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
	quorum := next(owners[0], owners[1], owners[2], owners[4])
	alone := &roster.Signed{Roster: quorum.Roster, Signatures: quorum.Signatures}
	if alone.Verify() == nil {
		t.Error("a quorum is enough without the roster before it")
	}
	whole := next(owners[1:5]...)
	if whole.Before = nil; whole.Verify() != nil {
		t.Error("a roster that all its members have signed does not stand by itself")
	}
	if other := roster.Successor(quorum.Roster, signed(complete(owners), owners...)); other.Verify() == nil {
		t.Error("a roster is accepted as the successor of another one")
	}
	skipped := next()
	skipped.Serial = 2
	for _, o := range owners {
		skipped.Sign(o)
	}
	if err := skipped.Verify(); err == nil || !strings.Contains(err.Error(), "it must be 1") {
		t.Errorf("a serial is left out: %v", err)
	}
	unsigned := roster.Unsigned(complete(owners[:4]))
	if after(unsigned, complete(owners[:4]), owners[:3]...).Verify() == nil {
		t.Error("the successor of a roster that nobody has signed is accepted")
	}
	third := after(next(owners[0], owners[1], owners[2], owners[4]), complete(owners[1:4]), owners[1:4]...)
	if third.Verify() != nil || after(third, complete(owners[1:4]), owners[1:4]...).Before.Before != nil {
		t.Error("a chain of rosters is not valid, or longer than the rule needs")
	}
}

// A key that no member of the roster has, and F = 0: the attacker's signature alone makes no roster (finding 7).
func TestOneSignatureMakesNoRoster(t *testing.T) {
	owners := secrets(t, 9, 4)
	r := complete(owners)
	r.F = 0
	for name, s := range map[string]*roster.Signed{
		"a member":   signed(r, owners[0]),
		"a stranger": signed(r, secrets(t, 10, 1)[0]),
		"nobody":     signed(r),
		"his own before it": after(signed(complete(secrets(t, 11, 1)), secrets(t, 11, 1)[0]), complete(owners),
			secrets(t, 11, 1)[0]),
	} {
		if s.Verify() == nil {
			t.Errorf("signed by %s alone: valid", name)
		}
	}
}

// The hash of a roster follows from its terms and the hash of the rest, and a roster of the first format is still read.
func TestParts(t *testing.T) {
	owners := secrets(t, 1, 3)
	r := complete(owners)
	terms, rest := r.Parts()
	if roster.HashOf(terms, rest[:]) != r.Hash() {
		t.Error("the hash does not follow from the parts")
	}
	if got, err := roster.DecodeTerms(terms); err != nil || got.Voters() != 3 || got.Rule.Name != "plurality" {
		t.Errorf("%+v, %v", got, err)
	}
	hash := r.Hash()
	for name, change := range map[string]func(*roster.Roster){
		"voter":   func(r *roster.Roster) { r.Members[0].Voter = false },
		"kind":    func(r *roster.Roster) { r.Members[1].Kind = "simulated" },
		"rule":    func(r *roster.Roster) { r.Rule.Name = "majority" },
		"faults":  func(r *roster.Roster) { r.Faults = roster.Global },
		"address": func(r *roster.Roster) { r.Members[0].Addresses = nil },
		"council": func(r *roster.Roster) { r.Council += "#" },
	} {
		other := complete(owners)
		if change(other); other.Hash() == hash {
			t.Errorf("%s does not change the hash", name)
		}
	}
	one := complete(owners)
	one.Format = roster.FormatOne
	s := signed(one, owners...)
	again, err := roster.Parse(s.File())
	if err != nil || again.Verify() != nil || again.Hash() != one.Hash() || one.Hash() == hash {
		t.Errorf("a roster of the first format: %v", err)
	}
}

func TestQuorumsShareAnHonestMember(t *testing.T) {
	for n := uint64(1); n < 40; n++ {
		for f := uint64(0); 3*f < n; f++ {
			q := roster.Quorum(n, f)
			if 2*q <= n+f || q > n-f && f > 0 {
				t.Errorf("n=%d f=%d: quorum %d", n, f, q)
			}
		}
	}
}

func TestValidate(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*roster.Roster)
		want   string
	}{
		"format":    {func(r *roster.Roster) { r.Format = "synod/roster/9" }, "this version reads"},
		"no member": {func(r *roster.Roster) { r.Members = nil }, "it must have 1 to"},
		"twice":     {func(r *roster.Roster) { r.Members[1].ID = "a1" }, `two members are called "a1"`},
		"one key":   {func(r *roster.Roster) { r.Members[1].Key = r.Members[0].Key }, "the same key"},
		"small":     {func(r *roster.Roster) { r.Members[1].Key = make([]byte, 32) }, "not a usable Ed25519"},
		"escape":    {func(r *roster.Roster) { r.Members[1].ID = "a\x1b[2J" }, "printable"},
		"address":   {func(r *roster.Roster) { r.Members[0].Addresses = []string{"node1"} }, "is not HOST:PORT"},
		"port":      {func(r *roster.Roster) { r.Members[0].Addresses = []string{"h:99999"} }, "is not HOST:PORT"},
		"edge":      {func(r *roster.Roster) { r.Edges[0] = []uint64{0, 9} }, "not pairs of two seats"},
		"edges":     {func(r *roster.Roster) { r.Edges[1] = r.Edges[0] }, "ascending order"},
		"links":     {func(r *roster.Roster) { r.Links = "pigeon" }, "links is"},
		"relay":     {func(r *roster.Roster) { r.Relay = true }, "relay needs"},
		"previous":  {func(r *roster.Roster) { r.Serial = 1 }, "serial and previous"},
		"pace":      {func(r *roster.Roster) { r.Within = 0 }, "pace"},
		"rule":      {func(r *roster.Roster) { r.Rule.Name = "whim" }, "its rule is"},
		"voters": {func(r *roster.Roster) { r.Members, r.Edges = r.Members[:1], nil; r.Members[0].Voter = false },
			"voter"},
		"faults": {func(r *roster.Roster) { r.Faults = "" }, "what F bounds"},
		"f":      {func(r *roster.Roster) { r.F = 99 }, "F is 99"},
	} {
		r := complete(secrets(t, 1, 4))
		c.change(r)
		if err := r.Validate(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		if _, err := roster.Decode(r.Bytes()); err == nil {
			t.Errorf("%s: it is decoded", name)
		}
	}
	for _, ok := range []string{"localhost:1", "10.0.0.1:65535", "[::1]:7400", "node-1.example.org:80"} {
		if err := roster.CheckAddress(ok); err != nil {
			t.Error(err)
		}
	}
}

// No bit of a file can be changed unnoticed.
func TestEveryFlippedBitIsRejected(t *testing.T) {
	owners := secrets(t, 3, 3)
	file := signed(complete(owners), owners...).File()
	for i := range file {
		for bit := range 8 {
			bad := bytes.Clone(file)
			bad[i] ^= 1 << bit
			if s, err := roster.Parse(bad); err == nil && s.Verify() == nil {
				t.Errorf("bit %d of byte %d can be flipped", bit, i)
			}
		}
		if s, err := roster.Parse(file[:i]); err == nil && s.Verify() == nil {
			t.Errorf("a file cut at byte %d is accepted", i)
		}
	}
}

func TestSlips(t *testing.T) {
	owners := secrets(t, 4, 3)
	r := complete(owners)
	m := &synod.Message{From: 1, Slot: synod.Slot{Name: "respond", Round: 2}, Body: []byte("x")}
	slip := r.SlipOf("run", m)
	sig := slip.Sign(owners[1])
	if !slip.Verify(r, sig) {
		t.Error("a valid signature is refused")
	}
	for name, change := range map[string]func(s *roster.Slip){
		"run": func(s *roster.Slip) { s.Instance = "other" }, "from": func(s *roster.Slip) { s.From = 0 },
		"slot": func(s *roster.Slip) { s.Slot = "vote" }, "round": func(s *roster.Slip) { s.Round++ },
		"sum":    func(s *roster.Slip) { s.Sum = make([]byte, 32) },
		"roster": func(s *roster.Slip) { s.Roster = nil },
		"seat":   func(s *roster.Slip) { s.From = 99 },
	} {
		other := slip
		change(&other)
		if other.Verify(r, sig) {
			t.Errorf("%s can be changed", name)
		}
		if same := slip.SameSlot(&other); same != (name == "sum") {
			t.Errorf("%s is changed: the same slot: %v", name, same)
		}
	}
}

func TestInstanceDependsOnAll(t *testing.T) {
	r := complete(secrets(t, 1, 3))
	q := synod.Question{Text: "1+1?", Form: synod.Number}
	seen := map[sign.Instance]bool{
		r.Instance(&q, []byte("n"), 1): true, r.Instance(&q, []byte("m"), 1): true,
		r.Instance(&q, []byte("n"), 2): true,
		r.Instance(&synod.Question{Text: "1+2?", Form: synod.Number}, []byte("n"), 1): true,
	}
	r.Name = "eight"
	if seen[r.Instance(&q, []byte("n"), 1)] || len(seen) != 4 {
		t.Error("two runs have one instance id")
	}
}

func FuzzParse(f *testing.F) {
	owners := secrets(f, 5, 2)
	f.Add(signed(complete(owners), owners...).File())
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := roster.Parse(b)
		if err == nil && !bytes.Equal(s.File(), b) {
			t.Errorf("one of two texts of a roster:\n%s", b)
		}
	})
}

func FuzzDecode(f *testing.F) {
	f.Add(complete(secrets(f, 5, 2)).Bytes())
	f.Fuzz(func(t *testing.T, b []byte) {
		if r, err := roster.Decode(b); err == nil && !bytes.Equal(r.Bytes(), b) {
			t.Errorf("one of two encodings: %x", b)
		}
	})
}
