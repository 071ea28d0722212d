package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"synod.dev/synod/internal/altered"
)

// Limits of one run of tests. A mutant may loop for ever or allocate without end, and the machine may be busy, so
// the first limit counts processor time.
const (
	slower   = 10 // a mutant's tests may take so many times the time that they take without it,
	patience = 3 * time.Second
	wall     = 2 * time.Minute // and this on the clock
	memory   = 6 << 20         // KiB of addresses
)

// bench has the test binary with all mutants, and its tests.
type bench struct {
	work  string
	short bool
	tests []string // more packages whose tests run
	notes io.Writer

	folders  []*folder
	switched map[*mutant]bool
	binaries []binary
	cases    []*testCase // by time
	one      sync.Mutex  // of a mutant that is compiled alone
}

// binary is the compiled tests of one package. flag keeps package rapid, if the tests use it, from writing how they
// failed into the working tree.
type binary struct{ path, dir, flag string }

// testCase is one top-level test.
type testCase struct {
	binary  binary
	name    string
	cost    time.Duration // processor time
	took    time.Duration // by the clock: some tests mostly wait
	reaches map[int]bool
}

// prepare compiles the mutants and plays every test once without a mutant.
func (b *bench) prepare(list []*mutant) error {
	text, err := b.rewrite(list)
	if err != nil {
		return err
	}
	return b.prepareTests(text, list)
}

// rewrite returns the text of all files with their mutants behind switches.
func (b *bench) rewrite(list []*mutant) (text map[string]string, err error) {
	if b.folders, err = load(list); err != nil {
		return nil, err
	}
	b.switched = map[*mutant]bool{}
	text = map[string]string{}
	size := 1 + slices.MaxFunc(list, func(a, b *mutant) int { return a.id - b.id }).id
	for _, f := range b.folders {
		sites := f.switchable(size)
		for s := range sites {
			for _, m := range s.mutants {
				b.switched[m] = true
			}
		}
		for name, t := range f.rewrite(size, func(s *site) bool { return sites[s] }) {
			text[name] = t
		}
	}
	return text, nil
}

// prepareTests compiles the tests with the text, and plays each once.
func (b *bench) prepareTests(text map[string]string, list []*mutant) (err error) {
	if b.binaries, err = b.compile("all", text); err != nil {
		return err
	}
	for _, bin := range b.binaries {
		if err := b.baseline(bin); err != nil {
			return err
		}
	}
	slices.SortStableFunc(b.cases, func(x, y *testCase) int { return cmp.Compare(x.took, y.took) })
	for _, m := range list {
		reaches := func(c *testCase) bool { return c.reaches[m.id] }
		if m.fate == "" && b.switched[m] && !slices.ContainsFunc(b.cases, reaches) {
			m.fate = unreached
		}
	}
	return nil
}

// compile builds the test binaries with changed files.
func (b *bench) compile(name string, text map[string]string) ([]binary, error) {
	folder := filepath.Join(b.work, name)
	overlay, err := altered.Overlay(folder, text)
	if err != nil {
		return nil, err
	}
	var list []binary
	for _, dir := range b.testDirs() {
		bin := binary{path: filepath.Join(folder, fmt.Sprintf("%d.test", len(list))), dir: dir}
		some, err := altered.Test(overlay, dir, bin.path)
		if err != nil {
			return nil, err
		}
		if some {
			list = append(list, bin)
		}
	}
	return list, nil
}

// testDirs are the folders of the mutants and of -tests.
func (b *bench) testDirs() []string {
	var dirs []string
	for _, f := range b.folders {
		dirs = append(dirs, f.dir)
	}
	for _, t := range b.tests {
		if abs, err := filepath.Abs(t); err == nil && !slices.Contains(dirs, abs) {
			dirs = append(dirs, abs)
		}
	}
	return dirs
}

// baseline plays every test of a binary alone, to learn its cost and what it reaches.
func (b *bench) baseline(bin binary) error {
	list := func(flag string) ([]byte, error) {
		cmd := exec.Command(bin.path, "-test.list", ".", flag)
		cmd.Dir = bin.dir
		return cmd.Output()
	}
	bin.flag = "-rapid.nofailfile"
	out, err := list(bin.flag)
	if err != nil {
		bin.flag = "-test.v=false"
		out, err = list(bin.flag)
	}
	if err != nil {
		return fmt.Errorf("%s: -test.list: %w", bin.dir, err)
	}
	for _, name := range strings.Fields(string(out)) {
		if strings.HasPrefix(name, "Benchmark") {
			continue
		}
		c := &testCase{binary: bin, name: name, reaches: map[int]bool{}}
		seen := filepath.Join(b.work, "reached")
		if err := os.Remove(seen); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		var passed bool
		begun := time.Now()
		if passed, c.cost, err = b.play([]*testCase{c}, 0, "MUTANT_REACHED="+seen); err != nil || !passed {
			fmt.Fprintf(b.notes, "left out: %s in %s fails without a mutant\n", name, relative(bin.dir))
			continue
		}
		c.took = time.Since(begun)
		raw, err := os.ReadFile(seen)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		ids, err := idsIn(raw)
		if err != nil {
			return fmt.Errorf("what %s reaches: %w", name, err)
		}
		for _, id := range ids {
			c.reaches[id] = true
		}
		b.cases = append(b.cases, c)
	}
	return nil
}

// idsIn reads what a process has noted.
func idsIn(raw []byte) (ids []int, err error) {
	for _, line := range strings.Fields(string(raw)) {
		id, err := strconv.Atoi(line)
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// workers is how many mutants are tried at once. Some tests mostly wait.
const workers = 2

// tryAll tries the mutants whose fate is open, and calls done, one call at a time, when they were tried.
func tryAll(list []*mutant, try func(*mutant) error, done func(*mutant)) error {
	var wait sync.WaitGroup
	var mu sync.Mutex
	var failed error
	next := make(chan *mutant)
	for range workers {
		wait.Go(func() {
			for m := range next {
				var err error
				if m.fate == "" {
					err = try(m)
				}
				mu.Lock()
				if err != nil {
					failed = cmp.Or(failed, fmt.Errorf("%s: %w", m, err))
				} else {
					done(m)
				}
				mu.Unlock()
			}
		})
	}
	for _, m := range list {
		next <- m
	}
	close(next)
	wait.Wait()
	return failed
}

// try plays the tests that reach a mutant until one fails.
func (b *bench) try(m *mutant) error {
	cases := b.cases
	if b.switched[m] {
		cases = slices.DeleteFunc(slices.Clone(cases), func(c *testCase) bool { return !c.reaches[m.id] })
	} else {
		bins, ok, err := b.alone(m)
		if err != nil || !ok {
			m.fate = broken
			return err
		}
		cases = nil
		for _, c := range b.cases {
			copied := *c
			same := func(o binary) bool { return o.dir == c.binary.dir }
			copied.binary.path = bins[slices.IndexFunc(bins, same)].path
			cases = append(cases, &copied)
		}
	}
	m.fate = lived
	for len(cases) > 0 {
		n, sum, took := 0, time.Duration(0), time.Duration(0)
		for n < len(cases) && (n == 0 || took+cases[n].took < time.Second && cases[n].binary == cases[0].binary) {
			sum, took = sum+cases[n].cost, took+cases[n].took
			n++
		}
		passed, _, err := b.play(cases[:n], patience+slower*sum, "MUTANT="+strconv.Itoa(m.id))
		switch {
		case errors.Is(err, altered.ErrEndless):
			m.fate = endless
			return nil
		case err != nil:
			return err
		case !passed:
			m.fate = killed
			return nil
		}
		cases = cases[n:]
	}
	return nil
}

// alone compiles the tests with one mutant without a switch. It is not viable if it does not compile.
func (b *bench) alone(m *mutant) ([]binary, bool, error) {
	b.one.Lock()
	defer b.one.Unlock()
	text, err := b.textAlone(m)
	if text == nil || err != nil {
		return nil, false, err
	}
	bins, err := b.compile(fmt.Sprint("one", m.id), text)
	return bins, err == nil, err
}

// textAlone is the file with one mutant without a switch; nil: it is not viable.
func (b *bench) textAlone(m *mutant) (map[string]string, error) {
	for _, f := range b.folders {
		for _, s := range f.sites[m.file] {
			if !slices.Contains(s.mutants, m) {
				continue
			}
			_, pos := operator(s.node)
			at := f.set.Position(pos).Offset
			src := f.source[m.file]
			text := string(src[:at]) + m.to.String() + string(src[at+len(m.from.String()):])
			whole := map[string]string{m.file: text}
			for name := range f.files {
				if name != m.file {
					whole[name] = string(f.source[name])
				}
			}
			if !f.typechecks(whole) {
				return nil, nil
			}
			return map[string]string{m.file: text}, nil
		}
	}
	return nil, fmt.Errorf("no such place")
}

// tryCampaigns plays campaigns with a mutant. Its fate stays open if none finds it.
func (b *bench) tryCampaigns(d *detector, m *mutant) error {
	program, alone := filepath.Join(b.work, "campaigns", "program"), !b.switched[m]
	if alone {
		b.one.Lock()
		defer b.one.Unlock()
		text, err := b.textAlone(m)
		if text == nil || err != nil {
			m.fate = broken
			return err
		}
		if program, err = d.build(fmt.Sprint("campaign", m.id), text); err != nil {
			m.fate = broken
			return nil
		}
	}
	var err error
	if m.claims, err = d.try(program, m.id, alone); m.claims != nil {
		m.fate = byCampaign
	}
	return err
}

// play runs tests of one binary. The limit is processor time; 0 is none.
func (b *bench) play(cases []*testCase, limit time.Duration, env ...string) (bool, time.Duration, error) {
	var names []string
	for _, c := range cases {
		names = append(names, c.name)
	}
	p := altered.Process{Path: cases[0].binary.path, Dir: cases[0].binary.dir, Env: env, CPU: limit,
		Wall: wall + limit*slower, Memory: memory, Args: []string{"-test.failfast",
			"-test.run", "^(" + strings.Join(names, "|") + ")$", "-test.short=" + strconv.FormatBool(b.short),
			"-test.timeout=0", cases[0].binary.flag}}
	r, err := p.Run()
	return r.Passed, r.CPU, err
}
