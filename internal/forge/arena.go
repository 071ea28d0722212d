package forge

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"

	"synod.dev/synod/core/sign"
	"synod.dev/synod/network/roster"
	"synod.dev/synod/record/certificate"
)

// Arena is where hostile callers and hostile seats meet honest nodes over several runs of a council, whose roster
// changes on the way. Callers choose every field of what they ask for, in any order, and nodes are killed between.
type Arena struct {
	*Council
	rand     *rand.Rand
	rosters  []*version // at first, and after a change
	runs     []*arenaRun
	nodes    []*node // by owner; nil: it is hostile
	drafts   []*draft
	focus    bool // most statements are about the first run
	nested   bool // a second caller asks while a first one waits
	callback func()

	// Signed counts the signatures of honest members.
	Signed int
	// Met has the situations that occurred, in their order.
	Met []string
	// Wrong says how a claim was violated first, by claim; no entry: it held.
	Wrong map[string]string
}

// The claims of an Arena.
const (
	Exclusive = "CE-5" // valid certificates of a run do not contradict one another
	OneAnswer = "CE-6" // an honest member signs one answer of a run, and only its own
)

// version is a roster with what is often needed of it.
type version struct {
	*roster.Roster
	hash      []byte
	committee sign.Committee
	council   *certificate.Council
	keys      []Key // by seat
	owners    []int // by seat
	within    bool  // no more voters are hostile than its F
}

// seatOf returns the seat of an owner; -1: none.
func (v *version) seatOf(owner int) int { return slices.Index(v.owners, owner) }

// arenaRun is a run of one of the rosters.
type arenaRun struct {
	of       *version
	instance string
	question []byte
	schema   []byte   // nil: answers are no JSON values
	texts    [][]byte // by seat, of JSON values
	first    [][]byte // by seat: hashes of answers
	final    [][]byte
	votes    [][]byte // by seat: the signature under both
}

func (r *arenaRun) form() string {
	if r.schema != nil {
		return "json"
	}
	return "number"
}

// NewArena draws an arena with a council of n members. With symbolic keys it is a hundred times as fast.
func NewArena(r *rand.Rand, n int, symbolic bool) (*Arena, error) {
	shape := Draw(r, n)
	shape.Symbolic = symbolic
	c, err := Make(r, shape)
	if err != nil {
		return nil, err
	}
	a := &Arena{Council: c, rand: r, focus: r.IntN(2) == 0, Wrong: map[string]string{}}
	if r.IntN(40) == 0 {
		c.Roster.R++ // all have signed a roster that is not true
	}
	owners := make([]int, n)
	for i := range owners {
		owners[i] = i
	}
	a.rosters = []*version{a.version(c.Roster, slices.Clone(c.Secrets), owners)}
	if r.IntN(3) == 0 {
		if err := a.change(); err != nil {
			return nil, err
		}
	}
	for range 2 + r.IntN(2) {
		a.runs = append(a.runs, a.play())
	}
	for owner := range a.Hostile {
		var own *node
		if !a.Hostile[owner] {
			own = newNode(a, owner)
		}
		a.nodes = append(a.nodes, own)
	}
	return a, nil
}

// one reports whether something happens that happens once in k times.
func (a *Arena) one(k int) bool { return a.rand.IntN(k) == 0 }

func (a *Arena) met(what string) {
	if !slices.Contains(a.Met, what) {
		a.Met = append(a.Met, what)
	}
}

// wrong notes how a claim was violated.
func (a *Arena) wrong(claim, format string, args ...any) {
	if _, known := a.Wrong[claim]; !known {
		a.Wrong[claim] = fmt.Sprintf(format, args...)
	}
}

func (a *Arena) version(r *roster.Roster, keys []Key, owners []int) *version {
	hash := r.Hash()
	v := &version{Roster: r, hash: hash[:], committee: r.Committee(), council: certificate.CouncilOf(r), keys: keys,
		owners: owners}
	hostile := uint64(0)
	for seat, owner := range owners {
		if r.Members[seat].Voter && a.Hostile[owner] {
			hostile++
		}
	}
	v.within = hostile <= r.F
	return v
}

// change draws a second roster: a key is rotated, a member comes or goes, or the rule changes.
func (a *Arena) change() error {
	old := a.rosters[0]
	r := *old.Roster
	r.Serial, r.Previous = 1, old.hash
	r.Members = slices.Clone(r.Members)
	keys, owners := slices.Clone(old.keys), slices.Clone(old.owners)
	key, err := a.newKey()
	if err != nil {
		return err
	}
	switch at := a.rand.IntN(len(keys)); a.rand.IntN(4) {
	case 0: // a key
		keys[at], r.Members[at].Key = key, key.PublicKey()
	case 1: // a member comes
		m := r.Members[at]
		m.ID, m.Key, m.Voter = fmt.Sprintf("m%d", len(keys)+1), key.PublicKey(), true
		r.Members = append(r.Members, m)
		keys, owners = append(keys, key), append(owners, len(keys))
		r.Edges = append(slices.Clone(r.Edges), []uint64{0, uint64(len(keys) - 1)})
		slices.SortFunc(r.Edges, func(x, y []uint64) int { return slices.Compare(x, y) })
		a.Hostile, a.Secrets = append(a.Hostile, a.one(4)), append(a.Secrets, key)
	case 2: // a member goes
		if last := len(keys) - 1; last > 0 && slices.ContainsFunc(r.Members[:last], voting) {
			r.Members, keys, owners = r.Members[:last], keys[:last], owners[:last]
			r.F = min(r.F, uint64(last))
			r.Edges = slices.DeleteFunc(slices.Clone(r.Edges), func(e []uint64) bool { return e[1] == uint64(last) })
		}
	case 3:
		r.Rule.Name, r.F = "plurality", r.F/2
	}
	r.R, r.Exact = robustnessOf(&r), true
	r.Guarantee, _ = certificate.ClaimOf(r.Protocol, r.F, r.R)
	if err := r.Validate(); err != nil {
		return err
	}
	a.rosters = append(a.rosters, a.version(&r, keys, owners))
	return nil
}

func voting(m roster.Member) bool { return m.Voter }

// play draws a run: honest members sign their own answers, and hostile ones any.
func (a *Arena) play() *arenaRun {
	of := a.rosters[a.rand.IntN(len(a.rosters))]
	r := &arenaRun{of: of, instance: fmt.Sprintf("run-%x", a.rand.Uint64()), question: sum("question", a.rand.Uint64())}
	n := len(of.keys)
	first, final := answers(a.rand, n)
	if a.one(3) && of.Rule.Name != "protocol" {
		r.schema = []byte(`{"type":"object"}`)
	}
	for i := range n {
		one, last := Answer(first[i]), Answer(final[i])
		if r.schema != nil {
			r.texts = append(r.texts, fmt.Appendf(nil, `{"a":%d,"b":%d}`, first[i], a.rand.IntN(2)))
			one = certificate.AnswerHash(string(r.texts[i]))
			last = one
		}
		r.first, r.final = append(r.first, one), append(r.final, last)
		r.votes = append(r.votes, of.keys[i].SignRun(of.committee, sign.Instance(r.instance),
			certificate.VoteBytes(of.hash, r.question, one, last)))
	}
	held := r.held()
	if len(held) > 1 && held[1] > of.F {
		a.met(TwoSupported)
	}
	return r
}

// held returns how many voters ended on the answers of a run, the most first.
func (r *arenaRun) held() (counts []uint64) {
	var seen [][]byte
	for i, final := range r.final {
		if !r.of.Members[i].Voter {
			continue
		}
		at := slices.IndexFunc(seen, func(b []byte) bool { return bytes.Equal(b, final) })
		if at < 0 {
			at, seen, counts = len(seen), append(seen, final), append(counts, 0)
		}
		counts[at]++
	}
	slices.SortFunc(counts, func(x, y uint64) int { return int(y) - int(x) })
	return counts
}
