package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// fate is what became of a mutant.
type fate string

const (
	killed    fate = "KILLED"
	endless   fate = "TIMED OUT" // no test ended within ten times its usual processor time
	lived     fate = "LIVED"
	unreached fate = "UNREACHED" // no test executes the line
	broken    fate = "NOT VIABLE"

	byCampaign fate = "CAMPAIGN" // a claim of a campaign is violated
)

// mutant is one changed operator.
type mutant struct {
	id           int // from 1, in the order of the source
	file         string
	line, column int
	kind         string
	from, to     token.Token
	text         string // the line of source
	fate         fate
	claims       []string // that a campaign found violated, if it found the mutant
}

func (m *mutant) String() string {
	return fmt.Sprintf("%s at %s:%d:%d (%s for %s)", m.kind, relative(m.file), m.line, m.column, m.to, m.from)
}

// exchanges are gremlins' default operators.
var exchanges = map[string]map[token.Token]token.Token{
	"ARITHMETIC_BASE": {token.ADD: token.SUB, token.SUB: token.ADD, token.MUL: token.QUO, token.QUO: token.MUL,
		token.REM: token.MUL},
	"CONDITIONALS_BOUNDARY": {token.GEQ: token.GTR, token.GTR: token.GEQ, token.LEQ: token.LSS, token.LSS: token.LEQ},
	"CONDITIONALS_NEGATION": {token.EQL: token.NEQ, token.NEQ: token.EQL, token.GEQ: token.LSS, token.LSS: token.GEQ,
		token.GTR: token.LEQ, token.LEQ: token.GTR},
	"INCREMENT_DECREMENT": {token.INC: token.DEC, token.DEC: token.INC},
	"INVERT_NEGATIVES":    {token.SUB: token.ADD},
}

// find returns the mutants of the package in dir and of its subfolders, in the order of the source.
func find(gremlins, dir, work string) (list []*mutant, err error) {
	files, err := fromGremlins(gremlins, dir, filepath.Join(work, "list.json"))
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		path, err := filepath.Abs(filepath.Join(dir, f.Name))
		if err != nil {
			return nil, err
		}
		if ofAnotherModule(dir, path) {
			continue
		}
		for _, m := range f.Mutations {
			list = append(list, &mutant{file: path, line: m.Line, column: m.Column, kind: m.Type})
		}
	}
	slices.SortFunc(list, func(a, b *mutant) int {
		return cmp.Or(cmp.Compare(a.file, b.file), a.line-b.line, a.column-b.column, cmp.Compare(a.kind, b.kind))
	})
	// Gremlins lists a minus twice, under two kinds with the same replacement.
	list = slices.CompactFunc(list, func(a, b *mutant) bool {
		return a.file == b.file && a.line == b.line && a.column == b.column &&
			min(a.kind, b.kind) == "ARITHMETIC_BASE" && max(a.kind, b.kind) == "INVERT_NEGATIVES"
	})
	for i, m := range list {
		m.id = i + 1
	}
	return list, nil
}

// listedFile is a file in gremlins' list.
type listedFile struct {
	Name      string `json:"file_name"`
	Mutations []struct {
		Type         string
		Line, Column int
	}
}

// fromGremlins has gremlins list the mutants in a file, and reads it. Gremlins plays no test for that.
func fromGremlins(gremlins, dir, out string) ([]listedFile, error) {
	cmd := exec.Command(gremlins, "unleash", dir, "--dry-run", "--silent", "--output", out,
		"--exclude-files", `(^|/)testdata/`)
	cmd.Env = append(os.Environ(), "GOFLAGS="+os.Getenv("GOFLAGS")+" -run=^$ -vet=off")
	if said, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", gremlins, err, said)
	}
	raw, err := os.ReadFile(out)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil // no mutants
	} else if err != nil {
		return nil, err
	}
	var found struct{ Files []listedFile }
	if err := json.Unmarshal(raw, &found); err != nil {
		return nil, fmt.Errorf("gremlins' list: %w", err)
	}
	return found.Files, nil
}

// ofAnotherModule reports whether a folder between dir and a file in it is a module of its own.
func ofAnotherModule(dir, file string) bool {
	top, err := filepath.Abs(dir)
	if err != nil {
		return false
	}
	for at := filepath.Dir(file); at != top && strings.HasPrefix(at, top); at = filepath.Dir(at) {
		if _, err := os.Stat(filepath.Join(at, "go.mod")); err == nil {
			return true
		}
	}
	return false
}
