// Package call puts questions to a council of nodes: what a caller and a node say to one another,
// and the caller's side of it as a council.Runner.
//
// A caller trusts no single node. It gives all members the same question, the same nonce and the
// same start, takes from each the signed record of that member's own seat, and judges with
// outcome.Judge. A node can withhold its own record, and nothing else.
//
// The package has rank 7, like package node: it needs council.
package call

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"synod.dev/synod"
	"synod.dev/synod/core/sign"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/internal/canonical"
	"synod.dev/synod/network/node/terms"
	"synod.dev/synod/network/roster"
	"synod.dev/synod/record/evidence"
	"synod.dev/synod/record/ledger"
)

// Version is the version of the frames between nodes, and between callers and nodes.
const Version = "synod/node/2"

// The purposes of a stream.
const (
	ToLink = "link" // frames of a neighbour
	ToAsk  = "ask"  // questions of a caller, one after the other
	// ToJoin is for owners who join a council that is being formed.
	ToJoin = "join"
	// ToLedger is for what replicas of a ledger say to one another.
	ToLedger = "ledger"
)

// KeepOpen is how long a node waits for the next question on a stream.
const KeepOpen = 5 * time.Second

// Hello is the first frame of who opens a stream.
type Hello struct {
	_       struct{} `cbor:",toarray"`
	Version string   // Version
	Purpose string   // ToLink or ToAsk
	Roster  []byte   // hash of the roster
	Clock   int64    // the sender's wall clock, in microseconds since 1970
}

// Welcome is the reply to a Hello. Its coming means that the node has admitted the stream.
type Welcome struct {
	_       struct{} `cbor:",toarray"`
	Clock   int64    // the sender's wall clock, in microseconds since 1970
	Serial  uint64   // of its roster
	Head    []byte   // the last signed head of the ledger that replicas keep, encoded; empty: the node has none
	Refused string   // why the node does not admit the stream; "": it does
}

// Start is a question to a council. All members get the same.
type Start struct {
	_        struct{} `cbor:",toarray"`
	Question []byte   // the question as JSON
	Nonce    []byte   // 16 bytes that no other run has
	At       int64    // when the run begins: milliseconds since 1970
	Head     []byte   // the head of the ledger whose root is the question's salt, encoded; empty: there is no salt
	Limits   Limits   // of this run at each member
}

// Limits are what a caller lets each member spend on a run. They only lower those of the council and of the member's
// owner; 0: those hold.
type Limits struct {
	_      struct{} `cbor:",toarray"`
	Calls  uint64
	Tokens uint64
	Nano   uint64 // 1e-9 USD
}

// Share returns the part of each of n members of the limits of a question: together they spend no more.
func Share(l plan.Limits, n int) Limits {
	share := func(x float64) uint64 {
		if x <= 0 {
			return 0
		}
		return max(uint64(x)/uint64(n), 1)
	}
	return Limits{Calls: share(float64(l.Calls)), Tokens: share(float64(l.Tokens)), Nano: share(min(l.USD, 1e9) * 1e9)}
}

// Lower returns the limits of a council, each lowered to the caller's.
func (l Limits) Lower(of plan.Limits) plan.Limits {
	lower := func(own int, x uint64) int {
		if x == 0 || x > math.MaxInt || own > 0 && own < int(x) {
			return own
		}
		return int(x)
	}
	of.Calls, of.Tokens = lower(of.Calls, l.Calls), lower(of.Tokens, l.Tokens)
	if usd := float64(l.Nano) / 1e9; l.Nano > 0 && (of.USD == 0 || usd < of.USD) {
		of.USD = usd
	}
	return of
}

// The limits of frames, in bytes.
const (
	MaxHello    = 1 << 10
	MaxWelcome  = 256 << 10
	MaxStart    = 24 << 20 // of a conversation with parts; each node reads what it is willing to (MaxText)
	MaxText     = 64 << 10 // of a Start that a node reads at least
	MaxRecord   = 16 << 20
	MaxKept     = MaxRecord + MaxStart + 8<<20
	nonceSize   = 16
	maxReceipts = 1 << 14
)

// Decode returns the question of a start.
func (s *Start) Decode() (q synod.Question, err error) {
	if len(s.Nonce) != nonceSize {
		return q, fmt.Errorf("the nonce has %d bytes; it must have %d", len(s.Nonce), nonceSize)
	}
	if err := json.Unmarshal(s.Question, &q); err != nil {
		return q, fmt.Errorf("the question cannot be read: %w", err)
	}
	again, err := json.Marshal(q)
	if err != nil || string(again) != string(s.Question) {
		return q, errors.New("the question is not in canonical form")
	}
	return q, nil
}

// Latest returns the head of the ledger of a group from its encoding, if a quorum has signed it.
func Latest(g *ledger.Replicas, b []byte) (*ledger.SignedHead, error) {
	h := new(ledger.SignedHead)
	if err := canonical.Decode(b, MaxWelcome, h); err != nil {
		return nil, fmt.Errorf("the head of the ledger: %w", err)
	}
	if h.Head.Size == 0 {
		return nil, errors.New("the ledger is empty")
	}
	return h, h.VerifyGroup(g)
}

// CheckSalt checks that the question's salt is the root of the start's head, which a quorum of the replicas of the
// roster's ledger has signed. A start without either is valid: the caller may have reached no replica.
func (s *Start) CheckSalt(r *roster.Roster, q *synod.Question) error {
	if len(s.Head) == 0 && q.Salt == "" {
		return nil
	}
	g, err := terms.Group(r)
	if err != nil {
		return err
	}
	if g == nil {
		return errors.New("the question has a salt, and the council has no ledger that replicas keep")
	}
	h, err := Latest(g, s.Head)
	if err != nil {
		return err
	}
	if q.Salt != hex.EncodeToString(h.Head.Root) {
		return errors.New("the question's salt is not the root of the ledger")
	}
	return nil
}

// LateStart begins the refusal of a node that gets a question after the start of its run.
const LateStart = "the start has passed"

// RunReply is the answer of a node to a Start.
type RunReply struct {
	_       struct{} `cbor:",toarray"`
	Refused string   // why the node does not take part; "": Final is set
	Final   []byte   // encoding of a Final
	Head    []byte   // as in Welcome, for the next question
}

// Final is what a member signs at the end of a run.
type Final struct {
	_         struct{} `cbor:",toarray"`
	Roster    []byte   // hash of the roster
	Instance  string   // of the run
	Seat      uint64   //
	Record    []byte   // outcome.Record as JSON
	Digest    string   // of the seat's events and effects (package journal)
	Vote      []byte   // signature under the seat's first and last answer, bound to the run
	Skewed    bool     // the node saw its clock differ from most of its neighbours'
	Late      uint64   // messages of neighbours that came after the bound on message delays
	Digests   []byte   // of the messages of each member that the seat sent and got (Digests)
	Proved    []byte   // the set of the members of whom the seat has two messages for one slot; empty: of none
	Signature []byte   // by the member's key, under all of the above
	// Receipts are the signed messages that the seat sent and got, in a caller those that it has asked for. They are
	// not sent with the record.
	Receipts []Receipt `cbor:"-"`
}

// Kept is the file of the record of a run that has ended.
type Kept struct {
	_        struct{} `cbor:",toarray"`
	Final    Final
	Receipts []Receipt
	Start    []byte // the encoding of the Start
}

// Receipt is a signed message, without its body.
type Receipt struct {
	_         struct{} `cbor:",toarray"`
	From      uint64
	Slot      string
	Round     uint64
	Sum       []byte
	Signature []byte
}

// FinalType is the type of what the signature of a Final covers.
const FinalType = "application/vnd.synod.final+cbor"

// bytes returns what is signed.
func (f *Final) bytes() []byte {
	unsigned := *f
	unsigned.Signature = nil
	return canonical.Encode(unsigned)
}

// Sign signs the record of a seat.
func (f *Final) Sign(secret sign.Secret) { f.Signature = secret.SignEnvelope(FinalType, f.bytes()) }

// Check verifies the signature of a final record of a member's seat in a run.
func (f *Final) Check(r *roster.Roster, in sign.Instance, seat synod.NodeID) error {
	hash := r.Hash()
	switch {
	case string(f.Roster) != string(hash[:]):
		return errors.New("it is about another roster")
	case f.Instance != string(in):
		return errors.New("it is about another run")
	case f.Seat != uint64(seat):
		return fmt.Errorf("it is about seat %d", f.Seat)
	case len(f.Digests) != len(r.Members)*sha256.Size:
		return errors.New("it does not have one digest for each member")
	case len(f.Proved) > SetSize(len(r.Members)):
		return errors.New("its set of members is too long")
	case !sign.VerifyEnvelope(r.Members[seat].Key, FinalType, f.bytes(), f.Signature):
		return errors.New("its signature is not valid")
	}
	return nil
}

// Slip returns the slip of a receipt in a run.
func (c *Receipt) Slip(hash []byte, in string) roster.Slip {
	return roster.Slip{Roster: hash, Instance: in, From: c.From, Slot: c.Slot, Round: c.Round, Sum: c.Sum}
}

// Equivocation is two signed messages of one member in one slot that differ: a proof that it
// equivocated, which everybody who has the roster can check.
type Equivocation struct {
	_        struct{} `cbor:",toarray"`
	Roster   []byte
	Instance string
	A, B     Receipt
}

// Verify reports whether the proof holds.
func (e *Equivocation) Verify(r *roster.Roster) error {
	a, b := e.A.Slip(e.Roster, e.Instance), e.B.Slip(e.Roster, e.Instance)
	switch {
	case !a.SameSlot(&b):
		return errors.New("the two messages are not of one member in one slot")
	case string(a.Sum) == string(b.Sum):
		return errors.New("the two messages are the same")
	case !a.Verify(r, e.A.Signature) || !b.Verify(r, e.B.Signature):
		return errors.New("a signature is not valid")
	}
	return nil
}

// Evidence returns the proof as a file that everybody can verify offline (synod operate evidence verify). The
// error is that of Verify.
func (e *Equivocation) Evidence(r *roster.Roster) (*evidence.Evidence, error) {
	if err := e.Verify(r); err != nil {
		return nil, err
	}
	return evidence.OfSlips(r, e.A.Slip(e.Roster, e.Instance), e.B.Slip(e.Roster, e.Instance), e.A.Signature,
		e.B.Signature)
}

// maxSums is how many different messages of one slot are compared.
const maxSums = 16

// FindEquivocations compares the receipts of some members and returns one proof for each member that
// signed two messages for one slot, by seat. Receipts whose signature is not valid are ignored:
// whoever made them up would frame somebody, or crowd out true ones.
func FindEquivocations(r *roster.Roster, in sign.Instance, finals []*Final) []Equivocation {
	hash := r.Hash()
	type slot struct {
		from  uint64
		name  string
		round uint64
	}
	sums, found := map[slot][]Receipt{}, map[uint64]Equivocation{}
	for _, f := range finals {
		if f == nil {
			continue
		}
		for _, c := range f.Receipts {
			key := slot{c.From, c.Slot, c.Round}
			known := sums[key]
			if slices.ContainsFunc(known, func(k Receipt) bool { return string(k.Sum) == string(c.Sum) }) ||
				len(known) == maxSums {
				continue
			}
			slip := c.Slip(hash[:], string(in))
			if !slip.Verify(r, c.Signature) {
				continue
			}
			sums[key] = append(known, c)
			if _, has := found[c.From]; !has && len(known) > 0 {
				found[c.From] = Equivocation{Roster: hash[:], Instance: string(in), A: known[0], B: c}
			}
		}
	}
	var all []Equivocation
	for i := range r.Members {
		if e, ok := found[uint64(i)]; ok {
			all = append(all, e)
		}
	}
	return all
}
