package certificate_test

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"synod.dev/synod/internal/nightly"
	"synod.dev/synod/record/certificate"
)

// make certificates runs the tests of this file with a million mutants.
var (
	mutants = flag.Int("mutants", runs(3_000, 10_000), "mutated certificates that each verifier must reject")
	genuine = flag.Int("genuine", runs(300, 1_000), "real certificates that each verifier must accept")
)

// verifier judges one file after another.
type verifier struct {
	name  string
	judge func(file []byte) error
}

// runs returns how much a test tries: usually, or before a release.
func runs(usually, release int) int {
	if nightly.On() {
		return release
	}
	return usually
}

// verifiers returns ours and, where Python and its library are there, the second one.
func verifiers(t testing.TB) []verifier {
	all := []verifier{{"Go", judge}}
	if err := exec.Command("python3", "-c", "import cryptography").Run(); err != nil {
		t.Logf("SKIPPED: 1 verifier: python3 with the package cryptography is missing (%v)", err)
		return all
	}
	return append(all, verifier{"Python", batch(t, "python3", "-u", "../../examples/verify/verify.py")})
}

// verifiersOfThree returns the verifiers of version 3: a third one is in JavaScript.
func verifiersOfThree(t testing.TB) []verifier {
	all := verifiers(t)
	if err := exec.Command("node", "--version").Run(); err != nil {
		t.Logf("SKIPPED: 1 verifier: node, which runs verify.js, is missing (%v)", err)
		return all
	}
	return append(all, verifier{"JavaScript", batch(t, "node", "../../examples/verify/verify.js")})
}

// batch starts a verifier of examples/verify that reads one file after another.
func batch(t testing.TB, command ...string) func(file []byte) error {
	many := pipe(t, command...)
	return func(file []byte) error {
		verdicts, err := many([][]byte{file})
		if err != nil {
			t.Fatal(err)
		}
		return verdicts[0]
	}
}

// pipe starts a verifier of examples/verify that reads many files at once. The error is not about a file.
func pipe(t testing.TB, command ...string) func(files [][]byte) ([]error, error) {
	cmd := exec.Command(command[0], append(command[1:], "--batch")...)
	in, err1 := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	var trouble bytes.Buffer
	cmd.Stderr = &trouble
	if err1 != nil || err2 != nil || cmd.Start() != nil {
		t.Fatalf("%s does not start", command)
	}
	lines := bufio.NewReader(out)
	t.Cleanup(func() {
		in.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("%s: %v\n%s", command, err, &trouble)
		}
	})
	return func(files [][]byte) (verdicts []error, err error) {
		go func() {
			for _, file := range files {
				fmt.Fprintln(in, base64.StdEncoding.EncodeToString(file)) // if it has ended, nothing is read below
			}
		}()
		for range files {
			line, err := lines.ReadString('\n')
			switch {
			case err != nil:
				return nil, fmt.Errorf("%s: %w\n%s", command, err, &trouble)
			case line == "VALID\n":
				verdicts = append(verdicts, nil)
			case strings.HasPrefix(line, "INVALID "):
				verdicts = append(verdicts, fmt.Errorf("%s", strings.TrimSpace(line)))
			default:
				return nil, fmt.Errorf("%s says %q", command, line)
			}
		}
		return verdicts, nil
	}
}

// TestBoth has both verifiers accept real certificates and reject mutants: every flip of one
// bit and every truncation of one certificate of each kind, or an even sample of these, and
// random changes of others, among them statements that all keys signed and arithmetic refutes.
func TestBoth(t *testing.T) {
	for _, v := range verifiers(t) {
		t.Run(v.name, func(t *testing.T) {
			for seed := range uint64(*genuine) {
				if err := v.judge(newWorld(t, seed).file(t)); err != nil {
					t.Fatalf("seed %d: a real certificate: %v", seed, err)
				}
			}
			counts := map[string]int{}
			each(t, *mutants, func(kind string, file []byte) {
				counts[kind]++
				if v.judge(file) == nil {
					t.Fatalf("accepted: %s of\n%q", kind, file)
				}
			})
			t.Logf("accepted %d real certificates and rejected %v", *genuine, counts)
		})
	}
}

// each calls test with count mutants.
func each(t *testing.T, count int, test func(kind string, file []byte)) {
	done := 0
	try := func(kind string, file []byte) {
		if done < count {
			done++
			test(kind, file)
		}
	}
	files := [][]byte{smallest(t, certificate.Owner), smallest(t, certificate.Roster)}
	total := 9 * (len(files[0]) + len(files[1]))
	step := max(1, 2*total/count) // half of the mutants, or all flips and truncations
	for _, file := range files {
		for i := 0; i < 8*len(file); i += step {
			bad := bytes.Clone(file)
			bad[i/8] ^= 1 << (i % 8)
			try("flips", bad)
		}
		for i := 0; i < len(file); i += step {
			try("truncations", file[:i])
		}
	}
	r := rand.New(rand.NewPCG(1, 0x3a7))
	names := slices.Sorted(maps.Keys(lies))
	for seed := uint64(0); done < count; seed++ {
		w := newWorld(t, seed%2000)
		file := w.file(t)
		for range 40 {
			kind, bad := mutate(r, file)
			if !bytes.Equal(bad, file) {
				try(kind, bad)
			}
		}
		name := names[r.IntN(len(names))]
		if w.s.Kind == certificate.Roster && len(w.s.Members) >= 3 && w.s.Withstands != nil {
			lies[name](w)
			try("signed lies", w.file(t))
		}
	}
}

// smallest returns the smallest certificate of a kind with three members or more.
func smallest(t *testing.T, kind string) (file []byte) {
	for seed := range uint64(100) {
		if w := newWorld(t, seed); w.s.Kind == kind && len(w.s.Members) >= 3 {
			if f := w.file(t); file == nil || len(f) < len(file) {
				file = f
			}
		}
	}
	return file
}

// mutate changes a file at random: in the file itself, in the payload, or in the statement,
// which is then enveloped again so that only the signatures can show the change.
func mutate(r *rand.Rand, file []byte) (kind string, bad []byte) {
	switch r.IntN(5) {
	case 0:
		bad = bytes.Clone(file)
		bad[r.IntN(len(bad))] = byte(r.Uint32())
		return "bytes", bad
	case 1:
		at, n := r.IntN(len(file)), 1+r.IntN(8)
		return "insertions", append(append(bytes.Clone(file[:at]), file[max(0, at-n):at]...), file[at:]...)
	case 2:
		at := r.IntN(len(file))
		return "deletions", append(bytes.Clone(file[:at]), file[min(len(file), at+1+r.IntN(8)):]...)
	}
	c, err := certificate.Parse(file)
	if err != nil {
		panic(err)
	}
	if r.IntN(2) == 0 {
		at := r.IntN(len(c.Payload))
		c.Payload[at] ^= 1 << r.IntN(8)
	} else {
		s := c.Statement
		switch r.IntN(5) {
		case 0:
			s.Answer[r.IntN(32)] ^= 1 << r.IntN(8)
		case 1:
			s.Council[r.IntN(32)] ^= 1 << r.IntN(8)
		case 2:
			s.Faults.F++
		case 3:
			s.Members[r.IntN(len(s.Members))].ID += "x"
		case 4:
			s.Instance += "x"
		}
		if payload, err := s.Payload(); err == nil {
			c.Payload = payload
		}
	}
	if bad, err = c.File(); err != nil {
		panic(err)
	}
	return "enveloped again", bad
}
