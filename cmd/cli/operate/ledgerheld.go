package operate

import (
	"bytes"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"synod.dev/synod/internal/durable"
	"synod.dev/synod/record/ledger"
)

// proofsOf returns the proof of an entry as a file, and after it those of the entries in which other replicas sign the
// same record. So a reader sees without the ledger who holds it.
func proofsOf(l *ledger.Log, at uint64) ([]byte, error) {
	p, err := l.Prove(at)
	if err != nil {
		return nil, err
	}
	own, err := ledger.DecodeEntry(p.Entry)
	if err != nil {
		return nil, err
	}
	text, held := p.File(), []string{own.Claimed()}
	for i := range l.Head().Head.Size {
		e, err := l.Entry(i)
		if err != nil {
			return nil, err
		}
		if own.Claimed() == "" || e.Record() != own.Record() || slices.Contains(held, e.Claimed()) {
			continue
		}
		held = append(held, e.Claimed())
		if p, err = l.Prove(i); err != nil {
			return nil, err
		}
		text = append(text, p.File()...)
	}
	return text, nil
}

// readProofs reads what proofsOf returns.
func readProofs(text []byte) (all []*ledger.Proof, err error) {
	for len(text) > 0 {
		block, rest := pem.Decode(text)
		if block == nil {
			rest = nil
		}
		p, err := ledger.ParseProof(text[:len(text)-len(rest)])
		if err != nil {
			return nil, err
		}
		if all, text = append(all, p), rest; len(all) > 1024 {
			return nil, errors.New("ledger: the file has over 1024 proofs")
		}
	}
	if len(all) == 0 {
		return nil, errors.New("ledger: the file is empty")
	}
	return all, nil
}

// proof checks the proof of one entry, and those of entries with the same record after it, and returns the head that
// they are under.
func (v *ledgerCheck) proof(path string, _ *verifying, g *ledger.Replicas) (*ledger.SignedHead, error) {
	text, err := durable.ReadFile(path, 1<<24)
	if err != nil {
		return nil, err
	}
	proofs, err := readProofs(text)
	if err != nil {
		return nil, err
	}
	v.Kind = "ledger proof"
	first := proofs[0]
	var entries []*ledger.Entry
	for _, p := range proofs {
		e, err := p.Check()
		if err != nil {
			return nil, err
		}
		if !bytes.Equal(p.Head.File(), first.Head.File()) {
			return nil, errors.New("ledger: the proofs of the file are under several heads")
		}
		if entries = append(entries, e); e.Record() != entries[0].Record() {
			return nil, errors.New("ledger: the proofs of the file are about several records")
		}
	}
	v.Claims = append(v.Claims, fmt.Sprintf("entry %d of %d in the %s is about the run %s", first.Index,
		first.Head.Head.Size, keeper(&first.Head), entries[0].Instance))
	for _, part := range entries[0].Parts {
		v.Claims = append(v.Claims, fmt.Sprintf("its %s has the SHA-256 %x", part.Name, part.Sum))
	}
	if by := entries[0].Claimed(); by != "" && len(entries) > 1 {
		v.Claims = append(v.Claims, fmt.Sprintf("%q asserts what the entry says", by))
	}
	return &first.Head, v.holders(entries, g)
}

// holders says of entries which replicas hold their records. It fails where an entry has too few of them for its log.
func (v *ledgerCheck) holders(entries []*ledger.Entry, g *ledger.Replicas) error {
	var signed []*ledger.Entry
	for _, e := range entries {
		if e.Claimed() != "" {
			signed = append(signed, e)
		}
	}
	if len(signed) == 0 {
		return nil
	}
	if g == nil || len(g.Names) == 0 {
		v.alone(signed)
		return nil
	}
	held, err := g.Holders(entries)
	if err != nil {
		return err
	}
	least := len(g.Keys)
	for i, e := range entries {
		by := held[e.Record()]
		if least = min(least, len(by)); len(by) < g.Least {
			return fmt.Errorf("ledger: entry %d is held by %s only; the log takes an entry when %d replicas hold it", i,
				strings.Join(by, ", "), g.Least)
		}
	}
	v.Claims = append(v.Claims, fmt.Sprintf("at least %d of the %d replicas have signed the question and the answer "+
		"of each entry, and so one that is not Byzantine, if at most %d are", least, len(g.Keys), g.Least-1))
	if len(v.held(signed)) == 1 {
		v.Claims = append(v.Claims, "its record is held by "+strings.Join(held[entries[0].Record()], ", "))
	}
	v.NotProved = append(v.NotProved, "what the record of one seat says beyond question and answer: that seat alone "+
		"asserts it")
	return nil
}

// held returns who claims to have signed each record. It checks no signature.
func (v *ledgerCheck) held(entries []*ledger.Entry) map[[32]byte][]string {
	all := map[[32]byte][]string{}
	for _, e := range entries {
		if r := e.Record(); !slices.Contains(all[r], e.Claimed()) {
			all[r] = append(all[r], e.Claimed())
		}
	}
	return all
}

// alone says what is known of entries whose signatures no roster checks, or whose log takes what one replica asserts.
func (v *ledgerCheck) alone(entries []*ledger.Entry) {
	single := 0
	for _, by := range v.held(entries) {
		if len(by) == 1 {
			single++
		}
	}
	note := fmt.Sprintf("that the council decided what the entries say: %d of %d records are what one replica alone "+
		"asserts of its own seat (synod operate ledger show names it)", single, len(v.held(entries)))
	if len(v.held(entries)) == 1 && single == 1 {
		v.Claims = append(v.Claims, fmt.Sprintf("%q alone asserts what the entry says; who else signed the head "+
			"agrees on its place, and not on its content", entries[0].Claimed()))
		note = "that the council decided what the entry says: it is the record of one seat; a certificate has the " +
			"signatures of more (synod ask --certificate)"
	}
	v.NotProved = append(v.NotProved, note)
	if single < len(v.held(entries)) {
		v.NotProved = append(v.NotProved, "that those who are named as holders are replicas: give their roster, of a "+
			"council that was made with this version or later, with --roster FILE")
	}
}

// cosigners checks that public witnesses have cosigned a checkpoint of the ledger.
func (v *ledgerCheck) cosigners(l *ledger.Log, by *verifying) error {
	stored, err := l.CosignedCheckpoint() // also checks that the log has not become shorter since
	if err != nil {
		return err
	}
	for _, key := range by.witnesses {
		if !strings.Contains(key, "+") {
			continue
		}
		w, err := ledger.ParseCosigner(key)
		if err != nil {
			return err
		}
		if stored == nil {
			return fmt.Errorf("ledger: the witness %s has not cosigned the ledger (synod operate ledger head)",
				w.Name())
		}
		h, at, err := cosignatures(stored, l, w)
		if err != nil {
			return err
		}
		when, ok := at[w.Name()]
		if !ok {
			return fmt.Errorf("ledger: the witness %s has not cosigned the checkpoint of %d entries", w.Name(), h.Size)
		}
		v.Claims = append(v.Claims, fmt.Sprintf("the public witness %s cosigned the first %d of %d entries at %s",
			w.Name(), h.Size, l.Head().Head.Size, when.Format(time.RFC3339)))
	}
	return nil
}

// cosignatures reads a checkpoint that the operator, or one of those who signed the head, has signed.
func cosignatures(checkpoint []byte, l *ledger.Log, w *ledger.Cosigner) (h ledger.Head, at map[string]time.Time,
	err error) {
	head := l.Head()
	if !head.Replicated() {
		return ledger.Cosignatures(checkpoint, head.Head.Log, w)
	}
	err = errors.New("ledger: nobody has signed the head")
	for _, s := range head.Witnesses {
		if h, at, err = ledger.Cosignatures(checkpoint, s.Key, w); err == nil {
			return h, at, nil
		}
	}
	return h, nil, err
}

// headBegins is how a file with the two heads of a fork begins.
const headBegins = "-----BEGIN SYNOD LEDGER HEAD-----"

// fork checks two heads that a witness kept, and says what they prove.
func (v *ledgerCheck) fork(text []byte, g *ledger.Replicas) error {
	f, err := ledger.ParseFork(text)
	if err != nil {
		return err
	}
	who := "the operator is Byzantine"
	if f.Earlier.Replicated() {
		who = "each replica that signed both is Byzantine"
		if g == nil {
			v.NotProved = append(v.NotProved, "that those who signed are a quorum of the replicas: give --roster FILE")
		} else if err := errors.Join(f.Earlier.VerifyGroup(g), f.Later.VerifyGroup(g)); err != nil {
			return err
		}
	}
	v.Kind = "ledger fork"
	heads := fmt.Sprintf("the log %x has two signed heads: %d entries with the root %x, and %d with %x",
		f.Earlier.Head.Log, f.Earlier.Head.Size, f.Earlier.Head.Root, f.Later.Head.Size, f.Later.Head.Root)
	v.Claims = append(v.Claims, heads)
	if f.Proved() {
		v.Claims = append(v.Claims, "the log was forked: both heads have one size and different roots; "+who)
	} else {
		v.NotProved = append(v.NotProved, "that the log was forked: the heads have two sizes, so who has the entries "+
			"of the longer one must compare")
	}
	return nil
}
