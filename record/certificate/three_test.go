package certificate_test

import (
	"bytes"
	"errors"
	"flag"
	"math/rand/v2"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"

	"synod.dev/synod/internal/forge"
	"synod.dev/synod/record/certificate"
)

var structuredMutants = flag.Int("structured", runs(1_000, 3_000),
	"structured mutants of version 3 that all verifiers judge")

// Three verifiers, which share no code, judge certificates of version 3 alike: genuine ones, those that hostile callers
// put together, and mutants of their structure under which those who make them sign again, so that only rules about the
// content differ. The Go verifier alone merges again, so it may refuse a merged value that the others accept, and says
// that this is why.
func TestThreeVerifiersAgree(t *testing.T) {
	all := panelOfThree(t)
	count := map[string]*tallied{}
	files := 0
	for seed := uint64(0); files < *structuredMutants && !t.Failed(); seed++ {
		names, list := mutantsOf(t, seed)
		all.agree(t, seed, names, list, count)
		files += len(list)
	}
	for _, k := range kinds {
		c := count[k.name]
		if c == nil {
			t.Errorf("no mutant changes %s", k.name)
			continue
		}
		t.Logf("%7d valid, %7d refused: %s", c.valid, c.refused, k.name)
		if c.refused == 0 {
			t.Errorf("no mutant is refused that changes %s", k.name)
		}
	}
	g, h := count["nothing: genuine"], count["nothing: of a hostile caller"]
	t.Logf("%d verifiers agree on %d files: %d of %d without a change are valid, and %d of %d of hostile callers",
		len(all), files, g.valid, g.valid+g.refused, h.valid, h.valid+h.refused)
	if g.valid == 0 || h.valid == 0 || h.refused == 0 || *structuredMutants > 2000 && count[kinds[2].name].valid == 0 {
		t.Error("the files are too far from certificates, or too near")
	}
}

// tallied counts files of a kind.
type tallied struct{ valid, refused int }

// mutantsOf are the files of one council, each with the name of its kind.
func mutantsOf(t *testing.T, seed uint64) (names []string, files [][]byte) {
	add := func(name string, file []byte) {
		if file != nil {
			names, files = append(names, name), append(files, file)
		}
	}
	m := newMaker(t, seed)
	add("nothing: genuine", m.fileOf(m.genuine()))
	if seed%8 == 0 {
		for _, file := range hostileFiles(t, m.r) {
			add("nothing: of a hostile caller", file)
		}
	}
	for k := range 6 * len(kinds) {
		kind := kinds[k%len(kinds)]
		own := *m // a kind may change what the next ones begin with
		roster, council := *m.c.Roster, *m.c
		council.Roster, council.First, council.Final = &roster, slices.Clone(council.First), slices.Clone(council.Final)
		own.c = &council
		add(kind.name, kind.make(&own))
	}
	return names, files
}

// panel is verifiers that judge many files at once.
type panel []struct {
	name  string
	judge func(files [][]byte) ([]error, error)
}

func panelOfThree(t *testing.T) (p panel) {
	add := func(name string, judge func(files [][]byte) ([]error, error)) {
		p = append(p, struct {
			name  string
			judge func(files [][]byte) ([]error, error)
		}{name, judge})
	}
	add("Go", func(files [][]byte) (verdicts []error, err error) {
		for _, file := range files {
			verdicts = append(verdicts, judge(file))
		}
		return verdicts, nil
	})
	if err := exec.Command("python3", "-c", "import cryptography").Run(); err != nil {
		t.Logf("SKIPPED: 1 verifier: python3 with the package cryptography is missing (%v)", err)
	} else {
		add("Python", pipe(t, "python3", "-u", "../../examples/verify/verify.py"))
	}
	if err := exec.Command("node", "--version").Run(); err != nil {
		t.Logf("SKIPPED: 1 verifier: node, which runs verify.js, is missing (%v)", err)
	} else {
		add("JavaScript", pipe(t, "node", "../../examples/verify/verify.js"))
	}
	return p
}

// agree has all verifiers judge files at the same time, and compares their verdicts with those of the first one.
func (p panel) agree(t *testing.T, seed uint64, names []string, files [][]byte, count map[string]*tallied) {
	t.Helper()
	verdicts, trouble := make([][]error, len(p)), make([]error, len(p))
	var wait sync.WaitGroup
	for i, v := range p {
		wait.Go(func() { verdicts[i], trouble[i] = v.judge(files) })
	}
	wait.Wait()
	if err := errors.Join(trouble...); err != nil {
		t.Fatal(err)
	}
	for k, want := range verdicts[0] {
		c := count[names[k]]
		if c == nil {
			c = &tallied{}
			count[names[k]] = c
		}
		if want == nil {
			c.valid++
		} else {
			c.refused++
		}
		for i := range p[1:] {
			got := verdicts[1+i][k]
			if (got == nil) != (want == nil) && !(got == nil && aboutMerge(want)) {
				t.Errorf("seed %d, %s: %s says %v, and %s says %v:\n%q", seed, names[k], p[0].name, want, p[1+i].name,
					got, files[k])
			}
		}
	}
}

// aboutMerge reports whether an error is what only the verifier in Go finds: the others do not merge again.
func aboutMerge(err error) bool {
	return strings.HasPrefix(err.Error(), "certificate: its members' answers give") ||
		strings.HasPrefix(err.Error(), "certificate: the schema:")
}

func mutateBytes(r *rand.Rand, file []byte) (kind string, bad []byte) {
	bad = bytes.Clone(file)
	bad[r.IntN(len(bad))] = byte(r.Uint32())
	return "bytes", bad
}

// hostileFiles are the files that hostile callers put together, of real keys.
func hostileFiles(t *testing.T, r *rand.Rand) [][]byte {
	a, err := forge.NewArena(r, 1+r.IntN(7), false)
	if err != nil {
		t.Fatal(err)
	}
	for range 4 {
		if err := a.Step(); err != nil {
			t.Fatal(err)
		}
	}
	var files [][]byte
	for _, file := range a.Files() { // verify.js does not read earlier versions
		if c, err := certificate.Parse(file); err != nil || c.Statement.Domain == certificate.DomainThree {
			files = append(files, file)
		}
	}
	return files
}
