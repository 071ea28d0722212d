package cometbft_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	dbm "github.com/cometbft/cometbft-db"
	"github.com/cometbft/cometbft/node"
	"github.com/cometbft/cometbft/p2p"
	bcproto "github.com/cometbft/cometbft/proto/tendermint/blocksync"
	"github.com/cometbft/cometbft/proto/tendermint/consensus"
	"github.com/cometbft/cometbft/store"
	"github.com/cometbft/cometbft/types"

	"synod.dev/synod/internal/ledgertest"
	"synod.dev/synod/record/ledger"
	"synod.dev/synod/record/ledger/child"
)

// Two processes with the key of one validator sign different proposals and votes for the same heights and rounds: an
// equivocating leader. The others are killed and cut off one at a time. The history is linearizable, the honest
// replicas agree, and every proof verifies.
func TestByzantineTwins(t *testing.T) {
	twin := ledgertest.Secret(t, 77)
	c := newCluster(t, 4, func(c *cluster) {
		for i := range c.natures {
			c.natures[i].Admits = [][]byte{twin.PublicKey()}
		}
	})
	other := c.natures[0]
	other.Link, other.Dir, other.Listen = twin.Reveal(), filepath.Join(c.dir, "twin"), free(t)
	l, err := child.Start(t.Context(), os.Args[0], nil, other, os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c.Honest = []int{1, 2, 3}
	add := func(e *ledger.Entry) (uint64, error) {
		go l.Append(t.Context(), e)
		return c.Add(e)
	}
	acknowledged := ledgertest.History(t, *duration, add, c.Faults(3, c.Honest, 300*time.Millisecond))
	found := 0
	for i := 0; found == 0 && i < 10; i++ { // they equivocate when both hear of a round in time
		for k := range 10 {
			e := ledgertest.Entry(fmt.Sprint("more-", i, "-", k))
			at, err := add(e)
			if err != nil {
				t.Fatal(err)
			}
			acknowledged[e.Instance] = at
		}
		c.Kill(1)
		found = c.evidence(t, 1)
		c.Start(1)
	}
	c.Finish(acknowledged)
	if found == 0 {
		t.Error("no block has evidence of equivocation")
	}
	t.Logf("%d blocks have evidence against the twins", found)
}

// evidence counts the blocks in which a replica that was stopped has evidence of equivocation.
func (c *cluster) evidence(t *testing.T, of int) (n int) {
	t.Helper()
	db, err := dbm.NewGoLevelDB("blockstore", filepath.Join(c.natures[of].Dir, "data"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	s := store.NewBlockStore(db)
	for h := s.Base(); h <= s.Height(); h++ {
		if b := s.LoadBlock(h); b != nil && len(b.Evidence.Evidence) > 0 {
			n++
		}
	}
	return n
}

// lying makes a replica change what it sends: it plays its part in the consensus, and so has what it changes.
func lying(n *node.Node) {
	l := &liar{BaseReactor: *p2p.NewBaseReactor("LIAR", nil), done: liedIn(n.Config().RootDir),
		random: rand.New(rand.NewPCG(5, 6))}
	l.BaseReactor = *p2p.NewBaseReactor("LIAR", l)
	node.CustomReactors(map[string]p2p.Reactor{"LIAR": l})(n)
}

// liar replaces the connections of a replica. It forges blocks for replicas that were away, parts of blocks, proposals
// and votes, and leaves some out.
type liar struct {
	p2p.BaseReactor
	done   string // a file with what it has done
	mu     sync.Mutex
	random *rand.Rand
	did    map[string]int
}

func (l *liar) GetChannels() []*p2p.ChannelDescriptor { return nil }
func (l *liar) InitPeer(p p2p.Peer) p2p.Peer          { return &victim{p, l} }

// victim is the connection to a replica that is lied to.
type victim struct {
	p2p.Peer
	liar *liar
}

func (v *victim) Send(e p2p.Envelope) bool    { return !v.liar.change(&e) || v.Peer.Send(e) }
func (v *victim) TrySend(e p2p.Envelope) bool { return !v.liar.change(&e) || v.Peer.TrySend(e) }

// change changes a message; false: it is not sent, and its sender thinks that it was.
func (l *liar) change(e *p2p.Envelope) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.random.IntN(4) > 0 {
		return true
	}
	what := ""
	switch m := e.Message.(type) {
	case *bcproto.BlockResponse:
		if b, err := types.BlockFromProto(m.Block); err == nil {
			m.Block, _ = forged(b).ToProto()
			what = "forged block"
		}
	case *consensus.BlockPart:
		part := *m
		part.Part.Bytes = append([]byte{}, m.Part.Bytes...)
		part.Part.Bytes[0] ^= 1
		e.Message, what = &part, "forged part"
	case *consensus.Vote:
		vote := *m.Vote
		vote.BlockID.Hash = append([]byte{}, vote.BlockID.Hash...)
		if len(vote.BlockID.Hash) > 0 {
			vote.BlockID.Hash[0] ^= 1
		}
		e.Message, what = &consensus.Vote{Vote: &vote}, "forged vote"
	case *consensus.Proposal:
		what = "withheld proposal"
	}
	if what == "" {
		return true
	}
	if l.did == nil {
		l.did = map[string]int{}
	}
	l.did[what]++
	os.WriteFile(l.done, fmt.Append(nil, l.did), 0o600)
	return what != "withheld proposal"
}

func liedIn(dir string) string { return filepath.Join(dir, "lied") }

// forged returns a block with an entry that nobody has appended, under the old signatures, with hashes that fit.
func forged(b *types.Block) *types.Block {
	entry, _ := ledgertest.Entry("forged for who was away").Encode()
	header := b.Header
	data := types.Data{Txs: types.Txs{append([]byte{1}, entry...)}}
	header.DataHash = data.Hash()
	return &types.Block{Header: header, Data: data, Evidence: b.Evidence, LastCommit: b.LastCommit}
}

// One of four replicas forges and withholds what it sends. Another one loses everything, and reaches that one first.
// It takes nothing forged, and then the blocks of the others.
func TestByzantineLiar(t *testing.T) {
	c := newCluster(t, 4, func(c *cluster) { c.natures[0].Lies = true })
	acknowledged := ledgertest.History(t, *duration, c.Add, func(stop <-chan struct{}) { <-stop })
	c.Honest = []int{1, 2, 3}
	c.Kill(3)
	c.empty(t, 3)
	c.cut(3, 1, true)
	c.Start(3)
	time.Sleep(time.Second)
	c.cut(3, 1, false)
	c.Finish(acknowledged)
	did, err := os.ReadFile(liedIn(c.natures[0].Dir))
	if err != nil {
		t.Error("it did not lie: ", err)
	}
	t.Logf("the Byzantine replica: %s", did)
	c.HasOnly(3, acknowledged)
}
