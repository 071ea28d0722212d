package roster

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"synod.dev/synod/core/sign"
	"synod.dev/synod/internal/canonical"
)

// Rule is what makes last answers a decision.
type Rule struct {
	_       struct{} `cbor:",toarray"`
	Name    string   // plurality, majority, supermajority or protocol
	Support uint64   // the members that must have given the answer first; 0: none
}

// What F bounds.
const (
	Global = "S" // at most F members in all are Byzantine
	Local  = "L" // at most F neighbours of each member are Byzantine
)

// Terms is the part of a roster that says how the council decides: what a reader needs to check a decision. It has no
// address and no caller, so a certificate may show it to everybody.
type Terms struct {
	_          struct{} `cbor:",toarray"`
	Name       string
	Serial     uint64
	Previous   []byte
	Members    []Seat
	Edges      [][]uint64
	F          uint64
	R          uint64
	Exact      bool
	Guarantee  string
	Faults     string
	Protocol   string
	Parameters string
	Rule       Rule
	Draw       *Draw `cbor:"-"` // who is drawn for a run (Encode); nil: all members take part
}

// Seat is a Member without its addresses.
type Seat struct {
	_         struct{} `cbor:",toarray"`
	ID        string
	Role      string
	Key       []byte
	Voter     bool
	Kind      string
	Adversary string
}

// rest is the other part of a roster.
type rest struct {
	_         struct{}   `cbor:",toarray"`
	Addresses [][]string // by seat
	Note      string
	Council   string
	Think     uint64
	Within    uint64
	Prompts   []Prompt
	Callers   []Caller
	Links     string
	Relay     bool
	Ledger    Ledger
}

// parts is the encoding of a roster.
type parts struct {
	_      struct{} `cbor:",toarray"`
	Format string
	Terms  []byte // encoding of Terms
	Rest   []byte // encoding of rest
}

// Terms returns the part of the roster that certificates show.
func (r *Roster) Terms() *Terms {
	t := &Terms{Name: r.Name, Serial: r.Serial, Previous: r.Previous, Edges: r.Edges, F: r.F, R: r.R, Exact: r.Exact,
		Guarantee: r.Guarantee, Faults: r.Faults, Protocol: r.Protocol, Parameters: r.Parameters, Rule: r.Rule,
		Draw: r.Draw}
	for i := range r.Members {
		m := &r.Members[i]
		t.Members = append(t.Members, Seat{ID: m.ID, Role: m.Role, Key: m.Key, Voter: m.Voter, Kind: m.Kind,
			Adversary: m.Adversary})
	}
	return t
}

func (r *Roster) rest() *rest {
	x := &rest{Note: r.Note, Council: r.Council, Think: r.Think, Within: r.Within, Prompts: r.Prompts,
		Callers: r.Callers, Links: r.Links, Relay: r.Relay, Ledger: r.Ledger}
	for i := range r.Members {
		x.Addresses = append(x.Addresses, r.Members[i].Addresses)
	}
	return x
}

// Parts returns the encoding of Terms, and the hash of the rest: with both everybody can compute the roster's hash
// (HashOf). A roster of FormatOne has no parts.
func (r *Roster) Parts() (terms []byte, rest [sha256.Size]byte) {
	return r.Terms().Encode(), sha256.Sum256(canonical.Encode(r.rest()))
}

// HashOf returns the hash of a roster from the encoding of its Terms and the hash of its rest: SHA-256 of Format,
// SHA-256 of the terms, and that hash.
func HashOf(terms, rest []byte) [sha256.Size]byte {
	sum := sha256.Sum256(terms)
	b := append([]byte(Format), sum[:]...)
	return sha256.Sum256(append(b, rest...))
}

// DecodeTerms reads an encoding of Terms. It checks what every verifier checks, and not what Validate checks of names.
func DecodeTerms(b []byte) (*Terms, error) {
	t, err := readTerms(b)
	if err != nil {
		return nil, fmt.Errorf("roster: its terms: %w", err)
	}
	return t, t.check()
}

// check returns the first thing that is wrong with how the council decides.
func (t *Terms) check() error {
	rules := map[string]bool{"plurality": true, "majority": true, "supermajority": true, "protocol": true}
	voters := 0
	keys := make([][]byte, len(t.Members))
	for i := range t.Members {
		m := &t.Members[i]
		if m.Voter {
			voters++
		}
		if keys[i] = m.Key; !sign.CheckKey(m.Key) {
			return fmt.Errorf("roster: everybody can sign for the key of member %q, or it is none", m.ID)
		}
		for _, text := range []string{m.ID, m.Role, m.Kind, m.Adversary} {
			if len(text) > maxText {
				return fmt.Errorf("roster: a name of member %d has %d bytes; at most %d are allowed", i, len(text),
					maxText)
			}
		}
	}
	switch {
	case len(t.Members) > MaxMembers || t.F > uint64(len(t.Members)):
		return fmt.Errorf("roster: F is %d and it has %d members; at most %d are allowed", t.F, len(t.Members),
			MaxMembers)
	case voters == 0:
		return errors.New("roster: no member is a voter")
	case t.Faults != Global && t.Faults != Local:
		return fmt.Errorf("roster: what F bounds is %.40q; it must be %q or %q", t.Faults, Global, Local)
	case !rules[t.Rule.Name]:
		return fmt.Errorf("roster: its rule is %.40q; it must be plurality, majority, supermajority or protocol",
			t.Rule.Name)
	case len(t.Guarantee) > maxText || len(t.Protocol) > maxText || len(t.Name) > maxText ||
		len(t.Parameters) > maxParameters:
		return fmt.Errorf("roster: its name, guarantee or protocol has more than %d bytes, or its parameters more "+
			"than %d", maxText, maxParameters)
	}
	if _, err := sign.NewCommittee(keys); err != nil {
		return fmt.Errorf("roster: %w", err)
	}
	return errors.Join(t.checkEdges(), t.checkDraw())
}

func (t *Terms) checkEdges() error {
	n, last := uint64(len(t.Members)), []uint64(nil)
	for _, e := range t.Edges {
		if len(e) != 2 || e[0] >= e[1] || e[1] >= n ||
			last != nil && (e[0] < last[0] || e[0] == last[0] && e[1] <= last[1]) {
			return errors.New("roster: its edges are not pairs of two seats, the smaller first, each once and in " +
				"ascending order")
		}
		last = e
	}
	return nil
}

// Voters returns how many members vote.
func (t *Terms) Voters() (n uint64) {
	for i := range t.Members {
		if t.Members[i].Voter {
			n++
		}
	}
	return n
}

// Bytes returns the canonical encoding.
func (r *Roster) Bytes() []byte {
	if r.Format == FormatOne {
		return canonical.Encode(r.one())
	}
	return canonical.Encode(parts{Format: r.Format, Terms: r.Terms().Encode(),
		Rest: canonical.Encode(r.rest())})
}

// Hash identifies the roster: HashOf its parts.
func (r *Roster) Hash() [sha256.Size]byte {
	if r.Format == FormatOne {
		return sha256.Sum256(append([]byte(FormatOne), r.Bytes()...))
	}
	terms, rest := r.Parts()
	return HashOf(terms, rest[:])
}

// HexHash returns Hash in hexadecimal.
func (r *Roster) HexHash() string {
	h := r.Hash()
	return hex.EncodeToString(h[:])
}

// Decode reads what Bytes returns and checks it (Validate).
func Decode(b []byte) (*Roster, error) {
	r, err := decode(b)
	if err != nil {
		return nil, fmt.Errorf("roster: %w", err)
	}
	if err := r.Validate(); err != nil {
		return nil, err
	}
	return r, nil
}

func decode(b []byte) (*Roster, error) {
	if len(b) > 0 && b[0] == beginOne {
		return decodeOne(b)
	}
	var p parts
	var x rest
	if err := canonical.Decode(b, MaxBytes, &p); err != nil {
		return nil, err
	}
	t, err := readTerms(p.Terms)
	if err := errors.Join(err, canonical.Decode(p.Rest, MaxBytes, &x)); err != nil {
		return nil, err
	}
	if len(t.Members) != len(x.Addresses) || p.Format != Format {
		return nil, fmt.Errorf("it is not of the format %s, or has addresses of %d members and keys of %d", Format,
			len(x.Addresses), len(t.Members))
	}
	r := &Roster{Format: p.Format, Name: t.Name, Serial: t.Serial, Previous: t.Previous, Edges: t.Edges, F: t.F, R: t.R,
		Exact: t.Exact, Guarantee: t.Guarantee, Faults: t.Faults, Protocol: t.Protocol, Parameters: t.Parameters,
		Rule: t.Rule, Draw: t.Draw, Note: x.Note, Council: x.Council, Think: x.Think, Within: x.Within,
		Prompts: x.Prompts, Callers: x.Callers, Links: x.Links, Relay: x.Relay, Ledger: x.Ledger}
	for i, m := range t.Members {
		r.Members = append(r.Members, Member{ID: m.ID, Role: m.Role, Key: m.Key, Voter: m.Voter, Kind: m.Kind,
			Adversary: m.Adversary, Addresses: x.Addresses[i]})
	}
	return r, nil
}
