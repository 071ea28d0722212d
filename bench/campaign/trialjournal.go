package campaign

import (
	"bytes"
	"context"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"

	"synod.dev/synod/core/journal"
	"synod.dev/synod/council"
	"synod.dev/synod/council/outcome"
)

var journalTrials = []ClaimTrial{
	{Claim: claimOf("JO-1"), try: replayed},
	{Claim: claimOf("JO-2"), try: resumed},
	{Claim: claimOf("JO-3"), try: flippedJournal},
}

// journalled plays a run with a journal in a new folder.
func (t *ClaimTried) journalled() (r run, dir string, ok bool) {
	if dir, ok = t.folder(); !ok {
		return r, dir, false
	}
	r, ok = t.play(filepath.Join(dir, "run.jsonl"))
	return r, dir, ok
}

func (r *run) close() {
	if r.council != nil {
		_ = r.council.Close() // simulated models have nothing to close
	}
}

// written plays a run and returns its journal as well, nil if that failed. The caller calls done.
func (t *ClaimTried) written() (r run, whole []byte, done func()) {
	r, dir, ok := t.journalled()
	if ok {
		var err error
		if whole, err = os.ReadFile(r.ask.Journal); !t.Need(err) {
			whole = nil
		}
	}
	return r, whole, func() { r.close(); t.remove(dir) }
}

func replayed(t *ClaimTried) {
	for range 20 {
		t.pages()
	}
	packedAlike(t)
	r, dir, ok := t.journalled()
	defer t.remove(dir)
	defer r.close()
	if !ok {
		return
	}
	kept, err := journal.Load(r.ask.Journal)
	if !t.Need(err) {
		return
	}
	if text, err := os.ReadFile(r.ask.Journal); t.Need(err) {
		t.digested(kept, text)
	}
	digest, err := council.ReplayOf(r.council.Plan(), kept)
	t.Check(err == nil && digest == kept.Digest() && digest == r.outcome.Digest,
		"the run has the digest %s, its replay %s: %v",
		r.outcome.Digest, digest, err)
	again := r.ask
	again.Journal = filepath.Join(dir, "again.jsonl")
	o, err := r.council.Decide(context.Background(), again)
	if t.Need(err) {
		t.Check(o.Digest == r.outcome.Digest, "two runs with the seed %d have the digests %s and %s", again.Seed,
			r.outcome.Digest, o.Digest)
	}
}

func resumed(t *ClaimTried) {
	r, whole, done := t.written()
	defer done()
	if whole == nil {
		return
	}
	head := firstWrite(whole)
	for range 3 {
		cut := head + t.Rand.IntN(len(whole)-head)
		if !t.Need(os.WriteFile(r.ask.Journal, whole[:cut], 0o600)) {
			return
		}
		o, err := t.resume(&r)
		t.Check(err == nil && o.Decision == r.outcome.Decision && o.Status == r.outcome.Status,
			"cut after %d of %d bytes: %q is decided, and was %q: %v", cut, len(whole),
			o.Decision, r.outcome.Decision, err)
	}
}

// firstWrite returns how many bytes of a journal are written at first: its head with their sum. Before they are there
// nothing was asked, and there is no run to go on with.
func firstWrite(whole []byte) int {
	sum := bytes.Index(whole, []byte("\n"+`{"k":"sum"`)) + 1
	return sum + bytes.IndexByte(whole[sum:], '\n') + 1
}

// resume goes on with the run in a journal that was cut off.
func (t *ClaimTried) resume(r *run) (outcome.Outcome, error) {
	cutOff, lock, err := journal.Resume(r.ask.Journal)
	if err != nil {
		return outcome.Outcome{}, err
	}
	defer lock.Close()
	ask := r.ask
	ask.Resume = cutOff
	return r.council.Decide(context.Background(), ask)
}

func flippedJournal(t *ClaimTried) {
	r, whole, done := t.written()
	defer done()
	if whole == nil {
		return
	}
	for range 20 {
		bit, bad := t.Rand.IntN(8*len(whole)), bytes.Clone(whole)
		bad[bit/8] ^= 1 << (bit % 8)
		digest := ""
		kept, err := journal.Read(bytes.NewReader(bad))
		if err == nil {
			digest, err = council.ReplayOf(r.council.Plan(), kept)
		}
		t.Check(err != nil || digest == r.outcome.Digest, "bit %d of %d is flipped, and the replay has another "+
			"digest without an error", bit, 8*len(whole))
	}
	forgedEnd(t, &r, whole)
}

// forgedEnd writes the end of a journal without one of its digests, and the checksum anew, as somebody may who changes
// a journal on purpose.
func forgedEnd(t *ClaimTried, r *run, whole []byte) {
	sum := bytes.LastIndex(whole, []byte(`{"k":"sum"`))
	if t.Check(sum > 0 && bytes.Equal(summed(whole[:sum]), whole), "a journal does not end with its sum"); sum < 0 {
		return
	}
	for _, name := range []string{"record", "digest"} {
		at := bytes.LastIndex(whole, fmt.Appendf(nil, ",%q:", name))
		if t.Check(at > 0, "a journal has no %s", name); at < 0 {
			continue
		}
		rest := whole[at+1 : sum]
		lacking := slices.Concat(whole[:at], rest[bytes.IndexAny(rest, ",}"):])
		kept, err := journal.Read(bytes.NewReader(summed(lacking)))
		if err == nil {
			_, err = council.ReplayOf(r.council.Plan(), kept)
		}
		t.Check(err != nil, "a journal is played whose end has no %s: %s", name, whole[at:])
	}
}

// summed adds the sum to the lines of a journal.
func summed(lines []byte) []byte {
	crc := crc32.Checksum(lines, crc32.MakeTable(crc32.Castagnoli))
	return fmt.Appendf(slices.Clip(lines), "{\"k\":\"sum\",\"bytes\":%d,\"crc\":\"%08x\"}\n", len(lines), crc)
}
