package ledger_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"synod.dev/synod/core/sign"
	"synod.dev/synod/record/ledger"
)

// most bounds the inputs of the fuzz targets in bytes; the time of each is linear in its input.
const most = 64 << 10

// splice returns b with some bytes from a position on replaced.
func splice(b []byte, at, remove uint16, insert []byte) []byte {
	from := min(int(at), len(b))
	to := min(from+int(remove), len(b))
	return slices.Concat(b[:from], insert, b[to:])
}

// record returns an entry as the file of entries has it.
func record(body []byte) []byte {
	leaf := sha256.Sum256(append([]byte{0}, body...)) // RFC 6962, written without the library that ledger uses
	return slices.Concat(binary.BigEndian.AppendUint32(nil, uint32(len(body))), leaf[:], body)
}

// wholeRecords returns the bodies of the whole records at the beginning of a file, and where they end.
func wholeRecords(file []byte) (bodies [][]byte, end int) {
	for rest := file; len(rest) >= 36; rest = file[end:] {
		n := int(binary.BigEndian.Uint32(rest))
		if n > len(rest)-36 || !bytes.Equal(record(rest[36:36+n]), rest[:36+n]) {
			break
		}
		bodies, end = append(bodies, rest[36:36+n]), end+36+n
	}
	return bodies, end
}

// FuzzScan opens a file of entries without a head. What is read are its whole records up to the first damage, as a
// second scanner finds them; the rest, which was never acknowledged, is cut off [LE-4].
func FuzzScan(f *testing.F) {
	b, err := entry("run", true).Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(append(b, '\n'), uint16(0), uint16(0), []byte{0, 0, 0, 200, 1, 2})
	f.Add([]byte("a\nb\na\n"), uint16(40), uint16(1), []byte("x"))
	f.Add([]byte{}, uint16(0), uint16(0), []byte{0xff, 0xff, 0xff, 0xff})
	own := secret(f, 1)
	f.Fuzz(func(t *testing.T, bodies []byte, at, remove uint16, insert []byte) {
		if len(bodies)+len(insert) > most {
			return
		}
		var file []byte
		for body := range bytes.SplitSeq(bodies, []byte("\n")) {
			file = append(file, record(body)...)
		}
		file = splice(file, at, remove, insert)
		dir := t.TempDir()
		writeLog(t, dir, file, nil)
		want, end := wholeRecords(file)
		for range 2 { // and again: nothing changes
			l := open(t, dir, own)
			if l.Size() != uint64(len(want)) || l.Head().Head.Size != l.Size() {
				t.Errorf("%d entries under a head of %d; the file has %d", l.Size(), l.Head().Head.Size, len(want))
			}
			l.Close()
		}
		if left, err := os.ReadFile(filepath.Join(dir, "entries")); err != nil || !bytes.Equal(left, file[:end]) {
			t.Errorf("%d bytes are left of %d with whole records, %v", len(left), end, err)
		}
	})
}

// writeLog writes the files of a log.
func writeLog(t testing.TB, dir string, entries, head []byte) {
	if err := os.WriteFile(filepath.Join(dir, "entries"), entries, 0o600); err != nil {
		t.Fatal(err)
	}
	if head == nil {
		return
	}
	if err := os.WriteFile(filepath.Join(dir, "head.pem"), head, 0o600); err != nil {
		t.Fatal(err)
	}
}

// FuzzOpen changes the files of a log with a signed head. The log is refused, or it has every acknowledged entry as it
// was written [LE-3].
func FuzzOpen(f *testing.F) {
	own, dir := secret(f, 1), f.TempDir()
	l := open(f, dir, own)
	add(f, l, runs(5)...)
	head := l.Head().File()
	l.Close()
	entries, err := os.ReadFile(filepath.Join(dir, "entries"))
	if err != nil {
		f.Fatal(err)
	}
	bodies, _ := wholeRecords(entries)
	f.Add(uint16(0), uint16(0), []byte{}, uint16(0), uint16(0), []byte{})
	f.Add(uint16(50), uint16(1), []byte{7}, uint16(0), uint16(0), []byte{})
	f.Add(uint16(len(entries)), uint16(0), record([]byte("more")), uint16(100), uint16(1), []byte("A"))
	f.Add(uint16(0), uint16(len(entries)), bytes.Repeat(record(bodies[0]), 5), uint16(0), uint16(9999), []byte{})
	f.Fuzz(func(t *testing.T, at, remove uint16, insert []byte, at2, remove2 uint16, insert2 []byte) {
		if len(insert)+len(insert2) > most {
			return
		}
		dir := t.TempDir()
		writeLog(t, dir, splice(entries, at, remove, insert), splice(head, at2, remove2, insert2))
		l, err := ledger.Read(dir, own.PublicKey())
		if err != nil {
			return
		}
		defer l.Close()
		if !bytes.Equal(l.Head().File(), head) || l.Size() != uint64(len(bodies)) {
			t.Fatalf("a changed head is read, or %d entries of %d", l.Size(), len(bodies))
		}
		for i, body := range bodies {
			e, err := l.Entry(uint64(i))
			if err != nil {
				t.Fatal(err)
			}
			if again, err := e.Encode(); err != nil || !bytes.Equal(again, body) {
				t.Errorf("entry %d is not what was written: %v", i, err)
			}
		}
	})
}

// grown is a log that was asked for all proofs while it grew.
type grown struct {
	heads   []ledger.Head            // by size
	paths   map[[2]int][][]byte      // consistency, by both sizes
	proofs  map[[2]int]*ledger.Proof // inclusion, by index and size
	secret  sign.Secret
	entries int
}

func grow(f *testing.F, n int) *grown {
	g := &grown{paths: map[[2]int][][]byte{}, proofs: map[[2]int]*ledger.Proof{}, secret: secret(f, 1), entries: n}
	l := open(f, f.TempDir(), g.secret)
	defer l.Close()
	g.heads = []ledger.Head{l.Head().Head}
	for size := 1; size <= n; size++ {
		add(f, l, runs(n)[size-1])
		g.heads = append(g.heads, l.Head().Head)
		for at := range size {
			var err error
			if g.paths[[2]int{at + 1, size}], err = l.Consistency(uint64(at + 1)); err != nil {
				f.Fatal(err)
			}
			if g.proofs[[2]int{at, size}], err = l.Prove(uint64(at)); err != nil {
				f.Fatal(err)
			}
		}
	}
	return g
}

// changed returns a path in which some bytes are replaced, as hashes of 32 bytes; the last may be shorter.
func changed(path [][]byte, at, remove uint16, insert []byte) (out [][]byte) {
	return slices.Collect(slices.Chunk(splice(slices.Concat(path...), at, remove, insert), sha256.Size))
}

// FuzzConsistency: the path between two heads is accepted if it is the genuine one, and no other is [LE-1].
func FuzzConsistency(f *testing.F) {
	g := grow(f, 16)
	f.Add(uint8(3), uint8(9), uint16(0), uint16(0), []byte{}, uint8(0))
	f.Add(uint8(7), uint8(16), uint16(33), uint16(1), []byte{9}, uint8(0))
	f.Add(uint8(8), uint8(8), uint16(0), uint16(0), make([]byte, 32), uint8(1))
	f.Fuzz(func(t *testing.T, a, b uint8, at, remove uint16, insert []byte, flip uint8) {
		m, n := int(a)%g.entries+1, int(b)%g.entries+1
		earlier, later := g.heads[m], g.heads[n]
		if flip != 0 {
			later.Root = slices.Clone(later.Root)
			later.Root[int(at)%32] ^= flip
		}
		path := changed(g.paths[[2]int{m, n}], at, remove, insert)
		genuine := m <= n && flip == 0 && slices.EqualFunc(path, g.paths[[2]int{m, n}], bytes.Equal)
		if err := ledger.Extends(&earlier, &later, path); (err == nil) != genuine {
			t.Errorf("from %d to %d entries: %v, and genuine is %v", m, n, err, genuine)
		}
	})
}

// FuzzInclusion: the proof of an entry is accepted if it is the genuine one, and no other is.
func FuzzInclusion(f *testing.F) {
	g := grow(f, 16)
	f.Add(uint8(3), uint8(9), uint8(0), uint16(0), uint16(0), []byte{}, uint8(0))
	f.Add(uint8(3), uint8(9), uint8(1), uint16(0), uint16(0), []byte{}, uint8(0))
	f.Add(uint8(7), uint8(15), uint8(0), uint16(33), uint16(1), []byte{9}, uint8(0))
	f.Add(uint8(0), uint8(3), uint8(0), uint16(0), uint16(0), []byte{}, uint8(1))
	f.Fuzz(func(t *testing.T, a, b, shift uint8, at, remove uint16, insert []byte, flip uint8) {
		size := int(b)%g.entries + 1
		index := int(a) % size
		p := *g.proofs[[2]int{index, size}]
		want := p
		p.Index += uint64(shift)
		p.Path = changed(p.Path, at, remove, insert)
		if flip != 0 {
			p.Entry = slices.Clone(p.Entry)
			p.Entry[int(at)%len(p.Entry)] ^= flip
		}
		genuine := shift == 0 && flip == 0 && slices.EqualFunc(p.Path, want.Path, bytes.Equal)
		if _, err := p.Verify(g.secret.PublicKey()); (err == nil) != genuine {
			t.Errorf("entry %d of %d: %v, and genuine is %v", index, size, err, genuine)
		}
	})
}

// FuzzParseProof: a proof and a head have one spelling, and what verifies was signed by the log.
func FuzzParseProof(f *testing.F) {
	own := secret(f, 1)
	l := open(f, f.TempDir(), own)
	defer l.Close()
	add(f, l, runs(3)...)
	p, err := l.Prove(1)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(p.File())
	f.Add(l.Head().File())
	f.Fuzz(func(t *testing.T, text []byte) {
		if q, err := ledger.ParseProof(text); err == nil {
			if !bytes.Equal(q.File(), text) {
				t.Error("a proof that is read is written in other bytes")
			}
			if _, err := q.Verify(own.PublicKey()); err == nil && !bytes.Equal(text, p.File()) {
				t.Error("another proof than the genuine one verifies")
			}
		}
		if h, err := ledger.ParseHead(text); err == nil && !bytes.Equal(h.File(), text) {
			t.Error("a head that is read is written in other bytes")
		}
	})
}
