// Package roster is the agreement of the members of a council whose seats have different owners:
// who they are, by which key and address each is known, who hears whom, what they play, and who
// may ask.
//
// A roster is signed by every member. Its hash names the council in every message, so two nodes
// whose rosters differ in one byte never take each other's messages. A change of members is a new
// roster, which a quorum of the old one and all new members sign. One rule says in all programs who
// must have signed (Signed.Verify); a file has the earlier rosters that the rule needs.
//
//	s := roster.Unsigned(r)                    // or roster.Successor(r, previous)
//	s.Sign(secret)                             // each member
//	err = s.Verify()
//	file := s.File()
//
// A roster is encoded in canonical CBOR (internal/canonical) in two parts: Terms, which a certificate
// shows, and the rest, of which it shows the hash. Signatures are those of DSSE envelopes
// (sign.SignEnvelope) over the hash of both, with PayloadType.
//
// The package has rank 2: it uses sign and internal/canonical.
package roster

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"synod.dev/synod"
	"synod.dev/synod/core/sign"
	"synod.dev/synod/internal/canonical"
)

// Format is the version of the encoding that this package writes. In it Members, Rule and Faults say how decisions are
// counted, so that a reader needs no council file for it.
const Format = "synod/roster/2"

// FormatOne is the version before, which is read so that what was signed under it can be verified. No council is played
// by it any more.
const FormatOne = "synod/roster/1"

// Roster is what the members have agreed on. Terms has what readers of certificates need of it.
type Roster struct {
	Format     string     // Format or FormatOne
	Name       string     // of the council
	Serial     uint64     // 0, or one more than that of the roster that this one replaces
	Previous   []byte     // hash of the roster that this one replaces; empty with Serial 0
	Members    []Member   // by seat
	Edges      [][]uint64 // who hears whom: pairs of seats, the smaller first, ascending
	F          uint64     // the bound F of the council
	R          uint64     // robustness of the graph
	Exact      bool       // R is exact; otherwise it is a lower bound
	Guarantee  string     // the name of what the protocol guarantees with F on this graph; "none"
	Note       string     // the same in a sentence
	Protocol   string     // its name
	Parameters string     // of the protocol, as JSON
	Rule       Rule       // what makes the voters' last answers a decision
	Faults     string     // what F bounds: Global or Local
	Draw       *Draw      // who is drawn for each run; nil: all members take part
	Council    string     // the council file that all members play, in the form of plan.Plan.Record
	Think      uint64     // the longest time of a model call, in milliseconds
	Within     uint64     // the longest time of a message, in milliseconds
	Prompts    []Prompt   // digests of what the prompt templates mean, ascending by name
	Callers    []Caller   // who may ask besides the members, ascending by name
	Links      string     // TLS or Libp2p
	Relay      bool       // with Libp2p: relays and hole punching may be used
	Ledger     Ledger
}

// The kinds of links between members.
const (
	TLS    = "tls"    // TLS 1.3 over TCP
	Libp2p = "libp2p" // go-libp2p over TCP and QUIC
)

// Member is one seat and its owner.
type Member struct {
	ID        string   // the id of the seat in the council file
	Role      string   // "" in a protocol without roles
	Key       []byte   // Ed25519 public key, 32 bytes
	Voter     bool     // its last answer counts, and it signs decisions
	Kind      string   // of its model: endpoint, embedded, recorded, simulated
	Adversary string   // "" unless the council file puts one there, for an experiment
	Addresses []string // HOST:PORT, where the member's node listens; the first is tried first
}

// Prompt is a digest of a prompt template: of its meaning (prompt.Templates.Meanings) or, in rosters of earlier
// versions, of its wording.
type Prompt struct {
	_      struct{} `cbor:",toarray"`
	Name   string
	Digest string
}

// Caller may put questions to the council.
type Caller struct {
	_    struct{} `cbor:",toarray"`
	Name string
	Key  []byte // Ed25519 public key
}

// Ledger says where decisions are recorded.
type Ledger struct {
	_        struct{} `cbor:",toarray"`
	Kind     string   // NoLedger, or the name of a ledger in the council file
	Settings string   // LedgerSettings as JSON; "" for none
}

// NoLedger is the kind of no ledger.
const NoLedger = "none"

// LedgerSettings says more about a ledger.
type LedgerSettings struct {
	Replicas []int `json:"replicas"` // the seats whose nodes keep it, ascending
	Bodies   bool  `json:"bodies"`   // texts are kept, not only their hashes
	// Holders is how many replicas must have signed the record of a run before it is in a ledger that replicas keep.
	// 0: one is enough, as in rosters of before this rule.
	Holders int `json:"holders,omitempty"`
}

// Encode returns the one text of the settings.
func (s *LedgerSettings) Encode() string {
	b, err := json.Marshal(s)
	if err != nil {
		panic("roster: settings of a ledger cannot be encoded: " + err.Error()) // they have numbers only
	}
	return string(b)
}

// LedgerSettings returns the settings of the roster's ledger.
func (r *Roster) LedgerSettings() (s LedgerSettings, err error) {
	if r.Ledger.Settings == "" {
		return s, nil
	}
	if err := json.Unmarshal([]byte(r.Ledger.Settings), &s); err != nil {
		return s, fmt.Errorf("roster: the settings of its ledger: %w", err)
	}
	for i, seat := range s.Replicas {
		if seat < 0 || seat >= len(r.Members) || i > 0 && s.Replicas[i-1] >= seat {
			return s, errors.New("roster: the replicas of its ledger are not seats in ascending order")
		}
	}
	if s.Holders < 0 || s.Holders > len(s.Replicas) {
		return s, fmt.Errorf("roster: holders of its ledger is %d; it must be between 0 and %d, the number of replicas",
			s.Holders, len(s.Replicas))
	}
	if s.Encode() != r.Ledger.Settings {
		return s, errors.New("roster: the settings of its ledger are not in canonical form")
	}
	return s, nil
}

// The limits of a roster, which a decoder enforces.
const (
	MaxMembers    = 1024
	MaxBytes      = 1 << 20 // of the encoding
	maxAddresses  = 8
	maxText       = 256      // bytes of a name, id or address
	maxParameters = 64 << 10 // bytes of the parameters of a protocol
	maxCallers    = 1024
)

// Validate returns the first thing that is wrong with a roster by itself.
func (r *Roster) Validate() error {
	switch {
	case r.Format != Format && r.Format != FormatOne:
		return fmt.Errorf("roster: its format is %q; this version reads %q and %q", r.Format, Format, FormatOne)
	case len(r.Members) == 0 || len(r.Members) > MaxMembers:
		return fmt.Errorf("roster: it has %d members; it must have 1 to %d", len(r.Members), MaxMembers)
	case (r.Serial == 0) != (len(r.Previous) == 0) || len(r.Previous) != 0 && len(r.Previous) != sha256.Size:
		return errors.New("roster: serial and previous do not fit: the first roster has serial 0 and no previous " +
			"one, and a later one the hash of the roster that it replaces")
	case r.F > uint64(len(r.Members)):
		return fmt.Errorf("roster: F is %d; it must be between 0 and %d, the number of members", r.F, len(r.Members))
	case r.Think < 1 || r.Think > 86_400_000 || r.Within < 1 || r.Within > 3_600_000:
		return errors.New("roster: the pace must have think between 1ms and 24h and within between 1ms and 1h")
	case r.Links != TLS && r.Links != Libp2p:
		return fmt.Errorf("roster: links is %q; it must be %q or %q", r.Links, TLS, Libp2p)
	case r.Relay && r.Links != Libp2p:
		return fmt.Errorf("roster: relay needs links: %s", Libp2p)
	case r.Draw != nil && r.Format == FormatOne:
		return fmt.Errorf("roster: the format %s has no draws", FormatOne)
	case r.Council == "":
		return errors.New("roster: it has no council")
	}
	if err := plain("name", r.Name); err != nil {
		return err
	}
	if err := r.checkMembers(); err != nil {
		return err
	}
	check := (*Terms).check
	if r.Format == FormatOne {
		check = (*Terms).checkEdges
	}
	if err := check(r.Terms()); err != nil {
		return err
	}
	if _, err := r.LedgerSettings(); err != nil {
		return err
	}
	return r.checkLists()
}

func (r *Roster) checkMembers() error {
	keys := make([][]byte, len(r.Members))
	ids := map[string]bool{}
	for i := range r.Members {
		m := &r.Members[i]
		if err := errors.Join(plain("the id of a member", m.ID), checkKey(m.ID, m.Key)); err != nil {
			return err
		}
		switch {
		case ids[m.ID]:
			return fmt.Errorf("roster: two members are called %q", m.ID)
		case len(m.Role) > maxText:
			return fmt.Errorf("roster: the role of member %s is too long", m.ID)
		case len(m.Addresses) > maxAddresses:
			return fmt.Errorf("roster: member %s has %d addresses; at most %d are allowed", m.ID, len(m.Addresses),
				maxAddresses)
		}
		ids[m.ID], keys[i] = true, m.Key
		for _, a := range m.Addresses {
			if err := CheckAddress(a); err != nil {
				return fmt.Errorf("roster: member %s: %w", m.ID, err)
			}
		}
	}
	if _, err := sign.NewCommittee(keys); err != nil {
		return fmt.Errorf("roster: %w", err)
	}
	return nil
}

func (r *Roster) checkLists() error {
	for i, p := range r.Prompts {
		if i > 0 && r.Prompts[i-1].Name >= p.Name {
			return errors.New("roster: its prompts are not in ascending order, each once")
		}
	}
	if len(r.Callers) > maxCallers {
		return fmt.Errorf("roster: it has %d callers; at most %d are allowed", len(r.Callers), maxCallers)
	}
	for i, c := range r.Callers {
		if err := errors.Join(plain("the name of a caller", c.Name), checkKey(c.Name, c.Key)); err != nil {
			return err
		}
		if i > 0 && r.Callers[i-1].Name >= c.Name {
			return errors.New("roster: its callers are not in ascending order, each name once")
		}
	}
	return nil
}

// plain refuses a name that is empty, too long, or could be taken for something else where it is
// shown.
func plain(what, s string) error {
	switch {
	case s == "" || len(s) > maxText:
		return fmt.Errorf("roster: %s has %d bytes; it must have 1 to %d", what, len(s), maxText)
	case strings.ContainsFunc(s, func(c rune) bool { return !unicode.IsGraphic(c) || c == unicode.ReplacementChar }):
		return fmt.Errorf("roster: %s is %q; it must have printable characters only", what, s)
	}
	return nil
}

func checkKey(of string, key []byte) error {
	if !sign.CheckKey(key) {
		return fmt.Errorf("roster: the key of %s is not a usable Ed25519 public key of 32 bytes", of)
	}
	return nil
}

// CheckAddress returns what is wrong with an address HOST:PORT. The host is a name or an IP
// address; it is not looked up.
func CheckAddress(a string) error {
	host, port, ok := strings.Cut(a, ":")
	if at := strings.LastIndexByte(a, ':'); at >= 0 {
		host, port = a[:at], a[at+1:]
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	n := 0
	for _, c := range []byte(port) {
		if c < '0' || c > '9' || len(port) > 5 {
			ok = false
			break
		}
		n = 10*n + int(c-'0')
	}
	ip, err := netip.ParseAddr(host)
	name := err != nil && host != "" && !strings.ContainsFunc(host, func(c rune) bool {
		return c > unicode.MaxASCII || !unicode.IsLetter(c) && !unicode.IsDigit(c) && c != '.' && c != '-'
	})
	if !ok || n < 1 || n > 65535 || len(a) > maxText || !name && !ip.IsValid() {
		return fmt.Errorf("the address %q is not HOST:PORT (example: node1.example.org:7400)", a)
	}
	return nil
}

// CallerAddress returns where a node whose links are Libp2p takes questions, over TLS: the next port
// of its address HOST:PORT.
func CallerAddress(address string) (string, error) { return nextPort(address, 1) }

// LedgerAddress returns where a replica of a CometBFT ledger listens: the port after the next one of its
// address HOST:PORT.
func LedgerAddress(address string) (string, error) { return nextPort(address, 2) }

func nextPort(address string, add int) (string, error) {
	at := strings.LastIndexByte(address, ':')
	port, err := strconv.Atoi(address[at+1:])
	if at < 0 || err != nil || port < 1 || port > 65535-add {
		return "", fmt.Errorf("roster: the address %q has no port that is %d higher", address, add)
	}
	return address[:at+1] + strconv.Itoa(port+add), nil
}

// Committee returns the members' keys by seat.
func (r *Roster) Committee() sign.Committee {
	c := make(sign.Committee, len(r.Members))
	for i := range r.Members {
		c[i] = bytes.Clone(r.Members[i].Key)
	}
	return c
}

// Seat returns the seat with this key; false if there is none.
func (r *Roster) Seat(key []byte) (synod.NodeID, bool) {
	i := slices.IndexFunc(r.Members, func(m Member) bool { return bytes.Equal(m.Key, key) })
	return synod.NodeID(i), i >= 0
}

// MayAsk reports whether the owner of a key may put questions to the council: a member, or one of
// Callers.
func (r *Roster) MayAsk(key []byte) bool {
	_, member := r.Seat(key)
	return member || slices.ContainsFunc(r.Callers, func(c Caller) bool { return bytes.Equal(c.Key, key) })
}

// Peers returns the seats that a seat hears, ascending.
func (r *Roster) Peers(of synod.NodeID) (peers []synod.NodeID) {
	for _, e := range r.Edges {
		switch uint64(of) {
		case e[0]:
			peers = append(peers, synod.NodeID(e[1]))
		case e[1]:
			peers = append(peers, synod.NodeID(e[0]))
		}
	}
	slices.Sort(peers)
	return peers
}

// Instance identifies a run of the council: one question, asked once, which begins at one moment.
// A caller who tells members different moments starts different runs, and their signatures do
// not mix.
func (r *Roster) Instance(q *synod.Question, nonce []byte, start int64) sign.Instance {
	hash := r.Hash()
	fresh := canonical.Encode([]any{nonce, start})
	return sign.NewInstance(hash[:], q, fresh)
}
