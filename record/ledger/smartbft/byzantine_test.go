package smartbft_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/hyperledger-labs/SmartBFT/smartbftprotos"
	"google.golang.org/protobuf/proto"

	"synod.dev/synod/internal/canonical"
	"synod.dev/synod/internal/ledgertest"
	"synod.dev/synod/record/ledger/smartbft"
)

// byzantine is what a Byzantine replica does to what it sends. The replica itself is an honest one, so it can sign
// whatever the others would take from it.
type byzantine struct {
	equivocates bool     // as a leader: proposes different blocks to different replicas
	lies        float64  // share of votes with another digest
	silent      float64  // share of messages that it does not send
	forges      bool     // answers who was away with forged blocks
	invents     [][]byte // as a leader: adds these entries to its blocks

	mu     sync.Mutex
	random *rand.Rand
	did    map[string]int
}

func (b *byzantine) count(what string) {
	if b.did == nil {
		b.did = map[string]int{}
	}
	b.did[what]++
}

// change returns what is sent in place of a message; nil: nothing.
func (b *byzantine) change(to uint64, message []byte) []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.random.Float64() < b.silent {
		b.count("silent")
		return nil
	}
	m := new(smartbftprotos.Message)
	if message[0] != 0 || proto.Unmarshal(message[1:], m) != nil {
		return message
	}
	switch {
	case m.GetPrePrepare() != nil && b.equivocates && to%2 == 0:
		entry, _ := ledgertest.Entry(fmt.Sprint("forged by the leader for ", to)).Encode()
		p := m.GetPrePrepare().Proposal
		p.Payload = canonical.Encode([][]byte{entry})
		b.count("equivocated")
	case m.GetPrePrepare() != nil && len(b.invents) > 0:
		m.GetPrePrepare().Proposal.Payload = canonical.Encode(b.invents)
		b.count("invented")
	case m.GetPrepare() != nil && b.random.Float64() < b.lies:
		m.GetPrepare().Digest = fmt.Sprintf("%x", sha256.Sum256([]byte{byte(to)}))
		b.count("another prepare")
	case m.GetCommit() != nil && b.random.Float64() < b.lies:
		c := m.GetCommit()
		c.Signature.Value = bytes.Repeat([]byte{byte(to)}, len(c.Signature.Value))
		b.count("forged commit")
	default:
		return message
	}
	changed, err := proto.Marshal(m)
	if err != nil {
		return nil
	}
	return append([]byte{0}, changed...)
}

// rawBlock has the fields of a block as it is sent.
type rawBlock struct {
	_          struct{} `cbor:",toarray"`
	Header     []byte
	Payload    []byte
	Metadata   []byte
	Signatures []rawSignature
}

type rawSignature struct {
	_     struct{} `cbor:",toarray"`
	ID    uint64
	Value []byte
	Msg   []byte
}

// blocks forges what is asked for: other entries under the old signatures, one replica's signature several times, too
// few signatures, junk, blocks of another height, and answers that never end.
func (b *byzantine) blocks(r *smartbft.Replica, from uint64) [][]byte {
	honest := r.Blocks(from)
	if !b.forges {
		return honest
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	entry, _ := ledgertest.Entry("forged for who was away").Encode()
	var k rawBlock
	if len(honest) == 0 || canonical.Decode(honest[0], 8<<20, &k) != nil {
		return [][]byte{{1, 2, 3}}
	}
	kind := b.random.IntN(6)
	b.count(fmt.Sprint("forged answer ", kind))
	switch kind {
	case 0:
		k.Payload = canonical.Encode([][]byte{entry})
	case 1:
		for i := range k.Signatures {
			k.Signatures[i] = k.Signatures[0]
		}
	case 2:
		k.Signatures = k.Signatures[:len(k.Signatures)-1]
	case 3:
		k.Signatures[0].ID = 99
	case 4:
		return r.Blocks(0) // of another height
	case 5:
		return [][]byte{bytes.Repeat([]byte{0xff}, 1<<16)}
	}
	return [][]byte{canonical.Encode(k)}
}

// With one Byzantine replica of four, which is the leader when it begins, and kills and partitions of an
// honest one at a time that let a quorum come back, histories are linearizable, honest replicas agree,
// nothing forged is in a log, and every proof verifies.
func TestByzantine(t *testing.T) {
	for name, b := range map[string]*byzantine{
		"equivocating leader": {equivocates: true},
		"silent":              {silent: 1},
		"half silent":         {silent: 0.5},
		"lying":               {lies: 0.7, forges: true},
		"forged answers":      {forges: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCluster(t, 4)
			b.random = rand.New(rand.NewPCG(3, 4))
			c.corrupt(b)
			acknowledged := ledgertest.History(t, *duration, c.Add, c.Faults(11, []int{2, 3}, time.Second))
			c.Finish(acknowledged)
			c.HasOnly(1, acknowledged)
			b.mu.Lock()
			defer b.mu.Unlock()
			t.Logf("the Byzantine replica: %v", b.did)
			if len(b.did) == 0 {
				t.Error("it did nothing")
			}
		})
	}
}
