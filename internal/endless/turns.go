package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// kind is a way of looking for bugs.
type kind struct {
	name string
	// commands are those of turn n of this kind, played one after the other. length is for those that take as long as
	// they may.
	commands func(l *log, n int, length time.Duration) ([]command, error)
	// spent is a folder of turn n that is of no use if it found nothing; nil: there is none.
	spent func(l *log, n int) string
}

// command is a program to run in a folder.
type command struct {
	Dir  string   `json:"dir"`
	Args []string `json:"args"`
}

func (c command) String() string { return "cd " + c.Dir + " && " + strings.Join(c.Args, " ") }

// goTest is the go command that plays tests of a package with flags of theirs.
func goTest(pkg, run string, flags ...string) command {
	return command{".", append([]string{"go", "test", "-count=1", "-timeout", "2h", "-run", run, pkg}, flags...)}
}

// seedOf is the seed of a turn: another one in each turn of a folder, and in folders that were begun at another time.
func (l *log) seedOf(n int) string { return fmt.Sprint(l.begun + int64(n)) }

var kinds = []kind{
	{"campaign", func(l *log, n int, length time.Duration) ([]command, error) {
		return []command{{".", []string{"bin/synod", "research", "campaign", "run", "--seed", l.seedOf(n),
			"--executions", "1000000000", "--minutes", fmt.Sprintf("%.3f", length.Minutes()), "--quiet",
			"-o", campaignFolder(l, n)}}}, nil
	}, campaignFolder},
	{"fuzz", fuzzTurn, nil},
	{"kills", func(l *log, n int, _ time.Duration) ([]command, error) {
		return []command{goTest("./cmd/cli", "^TestKills$", "-kills", "20", "-kills-seed", l.seedOf(n))}, nil
	}, nil},
	{"flips", func(l *log, n int, _ time.Duration) ([]command, error) {
		return []command{goTest("./cmd/cli", "^TestFlips$", "-flips", "100", "-flip-seed", l.seedOf(n))}, nil
	}, nil},
}

func campaignFolder(l *log, n int) string { return filepath.Join(l.dir, "campaign-"+l.seedOf(n)) }

func kindNames() string {
	var names []string
	for _, k := range kinds {
		names = append(names, k.name)
	}
	return strings.Join(names, ", ")
}

// fuzzTurn plays the next fuzz target, with the corpus of the folder. Its tests are compiled for that, because only
// they take the folder of a corpus.
func fuzzTurn(l *log, n int, length time.Duration) ([]command, error) {
	targets, err := fuzzTargets(".")
	if err != nil || len(targets) == 0 {
		return nil, fmt.Errorf("no fuzz targets: %w", err)
	}
	t := targets[n%len(targets)]
	corpus, err := filepath.Abs(filepath.Join(l.dir, "corpus", t.dir))
	if err != nil {
		return nil, err
	}
	binary := filepath.Join(corpus, "tests")
	return []command{
		{t.dir, []string{"go", "test", "-c", "-fuzz=.", "-o", binary, "."}},
		{t.dir, []string{binary, "-test.run=^$", "-test.fuzz=^" + t.name + "$", "-test.fuzztime=" + length.String(),
			"-test.fuzzminimizetime=10s", "-test.fuzzcachedir=" + corpus}},
	}, nil
}

// target is a fuzz target in a folder of the repository.
type target struct{ dir, name string }

var fuzzes = regexp.MustCompile(`(?m)^func (Fuzz\w+)\(`)

// fuzzTargets lists the fuzz targets of all modules below a folder, in order.
func fuzzTargets(root string) (list []target, err error) {
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != root && (d.Name() == "testdata" || d.Name() == "runs" || d.Name()[0] == '.') {
			return fs.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(path)
		for _, m := range fuzzes.FindAllSubmatch(text, -1) {
			list = append(list, target{filepath.Dir(path), string(m[1])})
		}
		return err
	})
	slices.SortFunc(list, func(a, b target) int { return strings.Compare(a.dir+a.name, b.dir+b.name) })
	return list, err
}
