// Package ledgertest checks ledgers of every kind: that concurrent appends under faults are
// linearizable (porcupine), that every proof verifies, and that a witness finds a fork.
package ledgertest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"synod.dev/synod/core/sign"
	"synod.dev/synod/internal/witness"
	"synod.dev/synod/record/ledger"
)

// Secret returns a secret that follows from a number.
func Secret(t testing.TB, n uint64) sign.Secret {
	t.Helper()
	b := sha256.Sum256(binary.BigEndian.AppendUint64(nil, n))
	s, err := sign.Generate(bytes.NewReader(b[:]))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// NewWitness returns a public witness that has seen nothing of a log.
func NewWitness(t testing.TB, logKey string) *witness.Witness {
	t.Helper()
	w, err := witness.New(t.Name(), logKey)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// Group returns n replicas and their secrets.
func Group(t testing.TB, n int) (g ledger.Replicas, secrets []sign.Secret) {
	t.Helper()
	g.Name = "test"
	for i := range n {
		s := Secret(t, uint64(i))
		secrets, g.Keys = append(secrets, s), append(g.Keys, s.PublicKey())
	}
	return g, secrets
}

// Holding returns n replicas of whose log an entry needs least holders, and their secrets.
func Holding(t testing.TB, n, least int) (ledger.Replicas, []sign.Secret) {
	t.Helper()
	g, secrets := Group(t, n)
	g.Least = least
	for i := range n {
		g.Names = append(g.Names, fmt.Sprint("e", i+1))
	}
	return g, secrets
}

// Signed returns what a replica of Holding appends about a run: question, answer, its own record, its signature.
func Signed(t testing.TB, secrets []sign.Secret, replica int, run, answer string) *ledger.Entry {
	t.Helper()
	council, name := sha256.Sum256([]byte("council")), fmt.Sprint("e", replica+1)
	e := &ledger.Entry{Format: ledger.Format, Instance: run, Council: council[:],
		Parts: []ledger.Part{ledger.NewPart("question", []byte("q "+run), false),
			ledger.NewPart("answer", []byte(answer), true), ledger.NewPart("record "+name, []byte(name), false)}}
	if err := e.Sign(name, secrets[replica]); err != nil {
		t.Fatal(err)
	}
	return e
}

// Entry returns an entry about a run, as hashes.
func Entry(run string) *ledger.Entry {
	council := sha256.Sum256([]byte("council"))
	return &ledger.Entry{Format: ledger.Format, Instance: run, Council: council[:],
		Parts: []ledger.Part{ledger.NewPart("question", []byte("q "+run), false),
			ledger.NewPart("answer", []byte("42"), false)}}
}

// model is a log to which appending an entry again returns its first index.
var model = porcupine.Model{
	Init: func() any { return "" },
	Step: func(state, in, out any) (bool, any) {
		log, run := state.(string), in.(string)
		if !strings.Contains("\n"+log, "\n"+run+"\n") {
			log += run + "\n"
		}
		before, _, _ := strings.Cut("\n"+log, "\n"+run+"\n")
		return out.(uint64) == uint64(strings.Count(before, "\n")), log
	},
}

// History has three clients append for a time while faults happen, and checks that the history of what was
// acknowledged is linearizable. Two of the clients append the same entries. add appends until it is
// acknowledged; faults returns when stop is closed. It returns where each entry was acknowledged, by run.
func History(t testing.TB, long time.Duration, add func(*ledger.Entry) (uint64, error),
	faults func(stop <-chan struct{})) map[string]uint64 {
	t.Helper()
	begin, stop := time.Now(), make(chan struct{})
	var events []porcupine.Operation
	var kept sync.Mutex
	var clients, nemesis sync.WaitGroup
	nemesis.Go(func() { faults(stop) })
	for client := range 3 {
		clients.Go(func() {
			for i := 0; time.Since(begin) < long; i++ {
				run := fmt.Sprintf("run-%d-%d", client%2, i)
				start := time.Since(begin).Nanoseconds()
				at, err := add(Entry(run))
				if err != nil {
					t.Errorf("%s: %v", run, err)
					return
				}
				kept.Lock()
				events = append(events, porcupine.Operation{ClientId: client, Input: run, Call: start, Output: at,
					Return: time.Since(begin).Nanoseconds()})
				kept.Unlock()
			}
		})
	}
	clients.Wait()
	close(stop)
	nemesis.Wait()
	if got := porcupine.CheckOperationsTimeout(model, events, time.Minute); got != porcupine.Ok {
		t.Errorf("the history of %d operations is not linearizable: %s", len(events), got)
	}
	entries := map[string]uint64{}
	for _, e := range events {
		entries[e.Input.(string)] = e.Output.(uint64)
	}
	t.Logf("%d appends, %d entries", len(events), len(entries))
	return entries
}

// Has checks that a ledger has every acknowledged entry where it was acknowledged, that every proof
// verifies, and that the head extends all earlier ones, and that the proof of one entry proves no other.
func Has(t testing.TB, l ledger.Ledger, acknowledged map[string]uint64,
	verify func(*ledger.Proof) (*ledger.Entry, error)) {
	t.Helper()
	at := map[string]uint64{}
	size := l.Head().Head.Size
	var last *ledger.Proof
	for i := range size {
		p, err := l.Prove(i)
		var e *ledger.Entry
		if err == nil {
			e, err = verify(p)
		}
		if err != nil {
			t.Errorf("entry %d of %d: %v", i, size, err)
			return
		}
		at[e.Instance] = i
		if last != nil {
			p.Entry = last.Entry
			if _, err := verify(p); err == nil {
				t.Errorf("the proof of entry %d proves entry %d", i, i-1)
			}
		}
		last = p
	}
	for run, i := range acknowledged {
		if got, ok := at[run]; !ok || got != i {
			t.Errorf("%s was acknowledged as entry %d; the ledger has it as %d (%v)", run, i, got, ok)
		}
	}
}

// Extends checks that the head of a ledger extends its own earlier one.
func Extends(t testing.TB, l ledger.Ledger, earlier *ledger.SignedHead) {
	t.Helper()
	path, err := l.Consistency(earlier.Head.Size)
	if err == nil {
		err = ledger.Extends(&earlier.Head, &l.Head().Head, path)
	}
	if err != nil {
		t.Error(err)
	}
}

// Fork checks that a witness, who has signed the head of one ledger, refuses that of another one of the same
// name with other entries, and names both heads. more must have at least as many entries.
func Fork(t testing.TB, w *ledger.Witness, one, more ledger.Ledger) {
	t.Helper()
	if _, err := w.Sign(one.Head(), nil); err != nil {
		t.Fatal("the witness refuses the first head: ", err)
	}
	path, err := more.Consistency(one.Head().Head.Size)
	if err != nil {
		t.Fatal(err)
	}
	var fork *ledger.ForkError
	if _, err := w.Sign(more.Head(), path); !errors.As(err, &fork) {
		t.Fatalf("the witness does not find the fork: %v", err)
	}
	if fork.Earlier.Check() != nil || fork.Later.Check() != nil {
		t.Error("the heads of the fork are not both signed")
	}
}

// Forked returns the log of replicas, of which more than f are Byzantine, that have signed other entries.
func Forked(t testing.TB, g *ledger.Replicas, secrets []sign.Secret, runs ...string) *ledger.Log {
	t.Helper()
	l, err := ledger.OpenReplica(t.TempDir(), g, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	var entries []*ledger.Entry
	for _, run := range runs {
		entries = append(entries, Entry(run))
	}
	fill(t, l, g, secrets, entries)
	return l
}

// Filled returns the folder of a log of replicas with entries, whose head a quorum has signed whatever they are.
func Filled(t testing.TB, g *ledger.Replicas, secrets []sign.Secret, entries ...*ledger.Entry) string {
	t.Helper()
	dir := t.TempDir()
	l, err := ledger.OpenReplica(dir, g, 0)
	if err != nil {
		t.Fatal(err)
	}
	fill(t, l, g, secrets, entries)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

func fill(t testing.TB, l *ledger.Log, g *ledger.Replicas, secrets []sign.Secret, entries []*ledger.Entry) {
	t.Helper()
	var bodies [][]byte
	for _, e := range entries {
		b, err := e.Encode()
		if err != nil {
			t.Fatal(err)
		}
		bodies = append(bodies, b)
	}
	size, root, err := l.Next(bodies)
	if err == nil {
		_, err = l.Extend(bodies)
	}
	if err != nil {
		t.Fatal(err)
	}
	h := &ledger.SignedHead{Head: ledger.Head{Log: g.Log(), Size: size, Root: root}, Operator: []byte{}}
	for i := range g.Quorum() {
		if err := l.SetHead(h); err == nil && i > 0 {
			t.Fatalf("a head with %d signatures is accepted", i)
		}
		if err := h.Add(g.Sign(secrets[i], size, root)); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.SetHead(h); err != nil {
		t.Fatal(err)
	}
}

// Bench measures appends: one after another with one client, or as many at once as there are clients. It reports
// decisions a second; the time of an operation with one client is the latency.
func Bench(b *testing.B, clients int, add func(context.Context, *ledger.Entry) error) {
	ctx := context.Background()
	if err := add(ctx, Entry("first")); err != nil {
		b.Fatal(err)
	}
	runs := make(chan int)
	b.ResetTimer()
	var all sync.WaitGroup
	for range clients {
		all.Go(func() {
			for i := range runs {
				if err := add(ctx, Entry(fmt.Sprint("run-", i))); err != nil {
					b.Error(err)
				}
			}
		})
	}
	for i := range b.N {
		runs <- i
	}
	close(runs)
	all.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "decisions/s")
}
