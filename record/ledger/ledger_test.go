package ledger_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"synod.dev/synod/core/sign"
	"synod.dev/synod/internal/filelock"
	"synod.dev/synod/internal/ledgertest"
	"synod.dev/synod/record/ledger"
)

func secret(t testing.TB, n uint64) sign.Secret {
	b := sha256.Sum256(binary.BigEndian.AppendUint64(nil, n))
	s, err := sign.Generate(bytes.NewReader(b[:]))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func entry(run string, keep bool) *ledger.Entry {
	council := sha256.Sum256([]byte("council"))
	return &ledger.Entry{Format: ledger.Format, Instance: run, Council: council[:],
		Parts: []ledger.Part{ledger.NewPart("question", []byte("q "+run), keep),
			ledger.NewPart("answer", []byte("42"), keep)}}
}

func open(t testing.TB, dir string, s sign.Secret) *ledger.Log {
	t.Helper()
	l, err := ledger.Open(dir, s)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func add(t testing.TB, l *ledger.Log, runs ...string) {
	t.Helper()
	for _, run := range runs {
		if _, err := l.Append(t.Context(), entry(run, false)); err != nil {
			t.Fatal(err)
		}
	}
}

func runs(n int) (all []string) {
	for i := range n {
		all = append(all, fmt.Sprint("run-", i))
	}
	return all
}

// Every entry of a log of every size has a proof, and no changed proof verifies.
func TestProofs(t *testing.T) {
	own := secret(t, 1)
	l := open(t, t.TempDir(), own)
	defer l.Close()
	for i, run := range runs(20) {
		add(t, l, run)
		for at := range uint64(i + 1) {
			p, err := l.Prove(at)
			if err != nil {
				t.Fatal(err)
			}
			e, err := p.Verify(own.PublicKey())
			if err != nil || e.Instance != fmt.Sprint("run-", at) {
				t.Fatalf("entry %d of %d: %v, %v", at, i+1, e, err)
			}
		}
	}
	p, err := l.Prove(7)
	if err != nil {
		t.Fatal(err)
	}
	text := p.File()
	for i := range 8 * len(text) {
		bad := bytes.Clone(text)
		bad[i/8] ^= 1 << (i % 8)
		if q, err := ledger.ParseProof(bad); err == nil {
			if _, err := q.Verify(own.PublicKey()); err == nil {
				t.Fatalf("the flip of bit %d is accepted", i)
			}
		}
	}
	if _, err := p.Verify(secret(t, 2).PublicKey()); err == nil {
		t.Error("the proof is accepted for another log")
	}
}

// An entry that cannot be put on disk is not acknowledged, although the write was taken, and nothing is appended after
// it (LE-5). A null device takes writes and cannot be synced.
func TestAppendThatCannotBeSynced(t *testing.T) {
	dir := t.TempDir()
	if err := os.Symlink(os.DevNull, filepath.Join(dir, "entries")); err != nil {
		t.Skip(err)
	}
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	if null.Sync() == nil {
		t.Skip("this system syncs its null device")
	}
	l := open(t, dir, secret(t, 1))
	defer l.Close()
	for range 2 {
		if at, err := l.Append(t.Context(), entry("run", false)); err == nil {
			t.Errorf("entry %d is acknowledged without being on disk", at)
		}
	}
	if l.Size() != 0 || l.Head().Head.Size != 0 {
		t.Errorf("the log has %d entries, its head %d", l.Size(), l.Head().Head.Size)
	}
}

// An entry that is there already is not appended again, and a closed log is what it was.
func TestReopen(t *testing.T) {
	own, dir := secret(t, 1), t.TempDir()
	l := open(t, dir, own)
	add(t, l, runs(5)...)
	add(t, l, runs(5)...)
	if l.Size() != 5 {
		t.Errorf("%d entries after 5 were appended twice", l.Size())
	}
	if _, err := ledger.Open(dir, own); !errors.Is(err, filelock.ErrHeld) {
		t.Errorf("a second writer: %v", err)
	}
	head := l.Head()
	l.Close()
	l = open(t, dir, own)
	defer l.Close()
	if again := l.Head(); again.Head.Size != 5 || !bytes.Equal(again.Head.Root, head.Head.Root) {
		t.Errorf("opened again it is %+v, and was %+v", again.Head, head.Head)
	}
	if _, err := ledger.Read(dir, secret(t, 2).PublicKey()); err == nil {
		t.Error("the log of another operator is read")
	}
	r, err := ledger.Read(dir, own.PublicKey())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Append(t.Context(), entry("new", false)); err == nil {
		t.Error("a reader appends")
	}
	r.Close()
}

// LE-3: a flip of any bit of the entries, a removed, swapped or inserted entry, and a cut below
// the last head are found, and the error names an entry.
func TestTamper(t *testing.T) {
	own, dir := secret(t, 1), t.TempDir()
	l := open(t, dir, own)
	add(t, l, runs(4)...)
	l.Close()
	path := filepath.Join(dir, "entries")
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	n := len(good) / 4
	changed := map[string][]byte{
		"an entry removed":  good[n:],
		"two swapped":       append(append(bytes.Clone(good[n:2*n]), good[:n]...), good[2*n:]...),
		"one twice":         append(bytes.Clone(good[:n]), good...),
		"cut in the middle": good[:2*n+5],
		"cut at an entry":   good[:3*n],
		"empty":             {},
	}
	for i := 0; i < 8*len(good); i += 3 {
		bad := bytes.Clone(good)
		bad[i/8] ^= 1 << (i % 8)
		changed[fmt.Sprintf("bit %d flipped", i)] = bad
	}
	for name, content := range changed {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		l, err := ledger.Open(dir, own)
		if err == nil {
			l.Close()
			t.Fatalf("%s: not found", name)
		}
		if !errors.Is(err, ledger.ErrDamaged) || !strings.Contains(err.Error(), "entr") {
			t.Fatalf("%s: %v", name, err)
		}
	}
}

// LE-4: whatever part of the last, unacknowledged write reached the disk, recovery keeps every
// acknowledged entry and cuts off the rest.
func TestTornTail(t *testing.T) {
	own, dir := secret(t, 1), t.TempDir()
	l := open(t, dir, own)
	add(t, l, runs(3)...)
	l.Close()
	entries, err1 := os.ReadFile(filepath.Join(dir, "entries"))
	head, err2 := os.ReadFile(filepath.Join(dir, "head.pem"))
	l = open(t, dir, own)
	add(t, l, "last")
	l.Close()
	whole, err3 := os.ReadFile(filepath.Join(dir, "entries"))
	if err := errors.Join(err1, err2, err3); err != nil {
		t.Fatal(err)
	}
	for cut := len(entries); cut <= len(whole); cut++ { // the head was not written yet
		if err := errors.Join(os.WriteFile(filepath.Join(dir, "entries"), whole[:cut], 0o600),
			os.WriteFile(filepath.Join(dir, "head.pem"), head, 0o600)); err != nil {
			t.Fatal(err)
		}
		l := open(t, dir, own)
		want := uint64(3)
		if cut == len(whole) {
			want = 4
		}
		if l.Size() != want || l.Head().Head.Size != want {
			t.Fatalf("after %d bytes of the write: %d entries, want %d", cut-len(entries), l.Size(), want)
		}
		add(t, l, "next")
		l.Close()
	}
}

// A witness signs every head that extends the last one, and finds a fork and an older copy (LE-1, LE-6).
func TestWitness(t *testing.T) {
	own, dir := secret(t, 1), t.TempDir()
	w := &ledger.Witness{Secret: secret(t, 9), Log: own.PublicKey()}
	l := open(t, dir, own)
	cosign := func(l *ledger.Log) error {
		var path [][]byte
		if w.Last != nil && w.Last.Head.Size <= l.Size() {
			var err error
			if path, err = l.Consistency(w.Last.Head.Size); err != nil {
				return err
			}
		}
		s, err := w.Sign(l.Head(), path)
		if err != nil {
			return err
		}
		return l.Cosigned(s)
	}
	for i, run := range runs(12) {
		if add(t, l, run); i%2 == 0 {
			if err := cosign(l); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := cosign(l); err != nil || !l.Head().Witnessed(w.Secret.PublicKey()) {
		t.Fatal("the last head has no signature of the witness: ", err)
	}
	for name, all := range map[string][]string{
		"another entry": append(runs(11), "forked"), "longer, other entries": append(append(runs(5), "forked"),
			runs(12)...),
		"an older copy": runs(8),
	} {
		other := open(t, t.TempDir(), own)
		add(t, other, all...)
		var fork *ledger.ForkError
		if err := cosign(other); !errors.As(err, &fork) {
			t.Errorf("%s: the witness says %v", name, err)
		} else if fork.Earlier.Verify(own.PublicKey()) != nil || fork.Later.Verify(own.PublicKey()) != nil {
			t.Errorf("%s: the heads of the fork are not both signed", name)
		}
		other.Close()
	}
}

// TestHistories lets clients append and read while the process of the log is killed at any point of a
// write (a copy of what a part of the write left on disk), and checks that the history is linearizable,
// that nothing acknowledged is lost and that every proof verifies. A client whose append failed repeats it.
func TestHistories(t *testing.T) {
	for seed := range uint64(12) {
		history(t, seed)
	}
}

type input struct {
	run  string
	read bool
}

// state of the model: the runs in their order, each ended by a line feed.
var model = porcupine.Model{
	Init: func() any { return "" },
	Step: func(state, in, out any) (bool, any) {
		log, i, got := state.(string), in.(input), out.(string)
		if i.read {
			return got == log, log
		}
		if !strings.Contains("\n"+log, "\n"+i.run+"\n") {
			log += i.run + "\n"
		}
		at := strings.Count(("\n" + log)[:strings.Index("\n"+log, "\n"+i.run+"\n")+1], "\n") - 1
		return got == fmt.Sprint(at), log
	},
}

func history(t *testing.T, seed uint64) {
	own, dir, begin := secret(t, 1), t.TempDir(), time.Now()
	var mu sync.RWMutex // writers of it restart the log
	l := open(t, dir, own)
	var events []porcupine.Operation
	var kept sync.Mutex
	record := func(client int, in input, start int64, out string) {
		kept.Lock()
		defer kept.Unlock()
		events = append(events, porcupine.Operation{ClientId: client, Input: in, Call: start, Output: out,
			Return: time.Since(begin).Nanoseconds()})
	}
	var all sync.WaitGroup
	for client := range 4 {
		all.Go(func() {
			r := rand.New(rand.NewPCG(seed, uint64(client)))
			for i := range 12 {
				start := time.Since(begin).Nanoseconds()
				mu.RLock()
				if r.IntN(4) == 0 {
					out := strings.Builder{}
					for at := range l.Size() {
						e, err := l.Entry(at)
						if err != nil {
							t.Error(err)
							break
						}
						out.WriteString(e.Instance + "\n")
					}
					record(client, input{read: true}, start, out.String())
				} else {
					run := fmt.Sprintf("run-%d", r.IntN(20)+i)
					at, err := l.Append(t.Context(), entry(run, false))
					if err != nil {
						t.Error(err)
					}
					record(client, input{run: run}, start, fmt.Sprint(at))
				}
				mu.RUnlock()
			}
		})
	}
	all.Go(func() {
		r := rand.New(rand.NewPCG(seed, 99))
		for range 6 {
			time.Sleep(time.Duration(r.IntN(3000)) * time.Microsecond)
			mu.Lock()
			l.Close()
			f, err := os.OpenFile(filepath.Join(dir, "entries"), os.O_APPEND|os.O_WRONLY, 0)
			if err != nil {
				t.Error(err)
			} else { // a part of a write that nobody was told of
				torn := make([]byte, r.IntN(60))
				for i := range torn {
					torn[i] = byte(r.Uint32())
				}
				if len(torn) > 4 {
					copy(torn, []byte{0, 0, 0, 200})
				}
				f.Write(torn)
				f.Close()
			}
			if l, err = ledger.Open(dir, own); err != nil {
				t.Errorf("seed %d: after a kill: %v", seed, err)
			}
			mu.Unlock()
		}
	})
	all.Wait()
	defer l.Close()
	if got := porcupine.CheckOperationsTimeout(model, events, 20*time.Second); got != porcupine.Ok {
		t.Errorf("seed %d: the history of %d operations is not linearizable: %s", seed, len(events), got)
	}
	for at := range l.Size() {
		p, err := l.Prove(at)
		if err == nil {
			_, err = p.Verify(own.PublicKey())
		}
		if err != nil {
			t.Errorf("seed %d: the proof of entry %d: %v", seed, at, err)
		}
	}
}

// BenchmarkAppend appends one decision after another, each synced, under a head that n witnesses sign (0, and as many
// as a replicated ledger has replicas).
func BenchmarkAppend(b *testing.B) {
	for _, n := range []int{0, 4, 7} {
		b.Run(fmt.Sprint("witnesses=", n), func(b *testing.B) {
			own := secret(b, 1)
			l := open(b, b.TempDir(), own)
			defer l.Close()
			witnesses := []*ledger.Witness{}
			for i := range n {
				witnesses = append(witnesses, &ledger.Witness{Secret: secret(b, uint64(i)+10), Log: own.PublicKey()})
			}
			ledgertest.Bench(b, 1, func(ctx context.Context, e *ledger.Entry) error {
				if _, err := l.Append(ctx, e); err != nil {
					return err
				}
				return cosigned(l, witnesses)
			})
		})
	}
}

// cosigned has witnesses sign the head of a log.
func cosigned(l *ledger.Log, witnesses []*ledger.Witness) error {
	for _, w := range witnesses {
		var path [][]byte
		if w.Last != nil {
			var err error
			if path, err = l.Consistency(w.Last.Head.Size); err != nil {
				return err
			}
		}
		s, err := w.Sign(l.Head(), path)
		if err != nil {
			return err
		}
		if err := l.Cosigned(s); err != nil {
			return err
		}
	}
	return nil
}

// TestMain runs a writer when TestKilled starts this program again.
func TestMain(m *testing.M) {
	if dir := os.Getenv("SYNOD_LEDGER_WRITER"); dir != "" {
		write(dir)
	}
	os.Exit(m.Run())
}

// write appends entries for ever, and prints the index of each when it is acknowledged.
func write(dir string) {
	s, err := sign.Generate(bytes.NewReader(make([]byte, 32)))
	if err != nil {
		panic(err)
	}
	l, err := ledger.Open(dir, s)
	if err != nil {
		panic(err)
	}
	for i := l.Size(); ; i++ {
		at, err := l.Append(context.Background(), entry(fmt.Sprint("run-", i), false))
		if err != nil {
			panic(err)
		}
		fmt.Println(at)
	}
}

// LE-2: an entry that was acknowledged is there after the writing process was killed.
func TestKilled(t *testing.T) {
	dir, acknowledged := t.TempDir(), uint64(0)
	own, err := sign.Generate(bytes.NewReader(make([]byte, 32)))
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 0x4111))
	for kill := range *kills {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "SYNOD_LEDGER_WRITER="+dir)
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		for n := 1 + r.IntN(8); n > 0 && lines.Scan(); n-- {
			if acknowledged, err = strconv.ParseUint(lines.Text(), 10, 64); err != nil {
				t.Fatalf("the writer prints %q", lines.Text())
			}
		}
		time.Sleep(time.Duration(r.IntN(2000)) * time.Microsecond)
		cmd.Process.Kill()
		for lines.Scan() {
			if at, err := strconv.ParseUint(lines.Text(), 10, 64); err == nil {
				acknowledged = at
			}
		}
		cmd.Wait()
		l := open(t, dir, own)
		if l.Size() <= acknowledged {
			t.Fatalf("kill %d: the log has %d entries, and entry %d was acknowledged", kill, l.Size(), acknowledged)
		}
		for at := range l.Size() {
			if e, err := l.Entry(at); err != nil || e.Instance != fmt.Sprint("run-", at) {
				t.Fatalf("kill %d: entry %d is %v, %v", kill, at, e, err)
			}
		}
		l.Close()
	}
	t.Logf("%d kills, %d acknowledged entries, none lost", *kills, acknowledged+1)
}

var kills = flag.Int("kills", 20, "how often TestKilled kills a writer")
