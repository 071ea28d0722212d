package campaign

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"time"

	"synod.dev/synod/core/sign"
	"synod.dev/synod/protocol/check"
	"synod.dev/synod/record/ledger"
)

// ledgerDisk plays an operator's ledger: entries are appended, witnesses sign its head, and processes die.
func ledgerDisk() *subject {
	return &subject{
		Subject: check.Subject{Name: ledgerName, Share: 2, States: []string{"appended", "append failed",
			"cosigned", "refused by the witness", "opened again", "not opened",
			"entry of a failed append"}}, disk: playLedger,
		claims: claimsOf(claimCrash, claimKept, claimStopped, claimCosign, claimWhole, claimSame),
		setup:  setupDisk, horizon: diskHorizon,
	}
}

// ledgerOnDisk is a ledger on a disk, and what its users know of it.
type ledgerOnDisk struct {
	t        *trace
	d        *drive
	own      sign.Secret
	log      *ledger.Log // nil: it is not open
	kept     []string    // acknowledged, by index
	tried    []string    // all that was to be appended
	failed   bool        // an append has failed since the log was opened
	replaced bool        // the folder was lost or rolled back
	witness  ledger.Witness
	signed   []string // the entries under the last head that the witness has signed
}

const ledgerDir = "/data/ledger"

func mustSecret(n uint64) sign.Secret {
	s, err := sign.Generate(bytes.NewReader(seedBytes(n)))
	if err != nil {
		panic(err) // of a reader of bytes
	}
	return s
}

var operatorKey, witnessKey = mustSecret(1), mustSecret(2)

// witnessed is the time of all signatures of witnesses, so that two plays of one execution write the same bytes.
func witnessed() time.Time { return time.Unix(1_700_000_000, 0) }

func playLedger(t *trace) {
	s := &ledgerOnDisk{t: t, d: newDrive(t), own: operatorKey,
		witness: ledger.Witness{Secret: witnessKey, Log: operatorKey.PublicKey(), Now: witnessed}}
	open := s.open()
	for i := 0; i < t.x.Operations && open; i++ {
		s.operate(i)
		if s.d.Dead() || s.log == nil {
			open = s.restart()
		}
	}
	if open { // every execution ends with a power cut
		s.cosign()
		s.d.crash = "power-cut"
		if open = s.restart(); open {
			s.cosign()
		}
	}
	t.State("not opened", !open)
	t.ended.Ticks, t.calls, t.first = 0, s.d.Calls, s.d.digest()
}

// restart ends the process and begins another one.
func (s *ledgerOnDisk) restart() bool {
	if s.log != nil {
		_ = s.log.Close() // it fails after a kill
		s.log = nil
	}
	s.d.start()
	return s.open()
}

// open opens the ledger, and checks what it holds. It returns false if the ledger cannot be opened.
func (s *ledgerOnDisk) open() bool {
	err := s.d.again(func() (err error) {
		s.log, err = ledger.OpenOn(s.d, ledgerDir, s.own)
		return err
	})
	s.replaced = s.replaced || s.t.injected[byName["ledger-lost"]] || s.t.injected[byName["ledger-rolled-back"]]
	if err != nil {
		s.log = nil
		s.t.Claim(claimKept, s.d.rotten, "with %d acknowledged entries it cannot be opened: %v", len(s.kept), err)
		return false
	}
	s.failed = false
	s.t.State("opened again", len(s.kept) > 0)
	s.d.faulty(false)
	defer s.d.faulty(true)
	s.check()
	return true
}

// check compares the entries of the ledger with those that it has acknowledged. All that it has are under a signed head
// now, so that they are acknowledged from here on.
func (s *ledgerOnDisk) check() {
	claim := claimKept
	if s.d.rotten {
		claim = claimWhole
	}
	var held []string
	for at := range s.log.Size() {
		e, err := s.log.Entry(at)
		if err != nil {
			s.t.Fail(claimWhole, "entry %d of an opened ledger: %v", at, err)
			return
		}
		held = append(held, e.Instance)
		s.t.Claim(claimWhole, slices.Contains(s.tried, e.Instance), "entry %d is %q, which nobody appended", at,
			e.Instance)
	}
	s.t.Applies(claimWhole)
	if !s.replaced {
		ok := len(held) >= len(s.kept) && slices.Equal(held[:len(s.kept)], s.kept)
		s.t.Claim(claim, ok, "it has acknowledged %v and holds %v", s.kept, held)
		s.t.State("entry of a failed append", len(held) > len(s.kept))
	}
	s.kept = held
	if n := len(held); n > 0 {
		p, err := s.log.Prove(uint64(s.d.rand.IntN(n)))
		if err == nil {
			_, err = p.Verify(s.own.PublicKey())
		}
		s.t.Claim(claim, err == nil, "the proof of an entry: %v", err)
	}
}

// operate uses the ledger once.
func (s *ledgerOnDisk) operate(i int) {
	switch k := s.d.rand.IntN(10); {
	case k < 6 || len(s.tried) == 0:
		name := fmt.Sprint("run-", i)
		s.tried = append(s.tried, name)
		s.add(name)
	case k < 8:
		s.add(s.tried[s.d.rand.IntN(len(s.tried))])
	case k < 9:
		s.cosign()
	default:
		_ = s.log.Close()
		s.log = nil
	}
}

// add appends an entry, which the ledger may have already.
func (s *ledgerOnDisk) add(name string) {
	at, err := s.log.Append(context.Background(), diskEntry(name))
	s.t.State("append failed", err != nil)
	if err != nil {
		s.failed = true
		return
	}
	s.t.State("appended", true)
	known := slices.Contains(s.kept, name)
	s.t.Claim(claimStopped, !s.failed || known, "%s is acknowledged as entry %d after an append has failed", name, at)
	if !known {
		s.kept = append(s.kept, name)
	}
	s.t.Claim(claimKept, int(at) < len(s.kept) && s.kept[at] == name, "%s is entry %d; the ledger has acknowledged %v",
		name, at, s.kept)
}

// cosign has the witness sign the head.
func (s *ledgerOnDisk) cosign() {
	var path [][]byte
	if s.witness.Last != nil {
		path, _ = s.log.Consistency(s.witness.Last.Head.Size) // without it the witness signs nothing
	}
	head := s.log.Head()
	signature, err := s.witness.Sign(head, path)
	s.t.State("refused by the witness", err != nil)
	if err != nil {
		s.t.Claim(claimCosign, s.replaced || s.failed, "the witness does not sign a head that extends the last one: %v",
			err)
		return
	}
	size := int(head.Head.Size)
	ok := len(s.signed) <= size && size <= len(s.kept) && slices.Equal(s.kept[:len(s.signed)], s.signed)
	s.t.Claim(claimCosign, ok, "the witness has signed for %v, and signs a head of %d of %v", s.signed, size, s.kept)
	if ok {
		s.signed = append([]string{}, s.kept[:size]...)
	}
	if err := s.log.Cosigned(signature); err == nil {
		s.t.State("cosigned", true)
	}
	s.d.files = append(s.d.files, s.d.Backup())
}

func diskEntry(name string) *ledger.Entry {
	return &ledger.Entry{Format: ledger.Format, Instance: name, Council: make([]byte, 32),
		Parts: []ledger.Part{ledger.NewPart("question", []byte("question of "+name), false)}}
}
