package main

import (
	_ "embed"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"

	"synod.dev/synod"
	"synod.dev/synod/bench/campaign"
)

// Listed is the list of bugs.
//
//go:embed bugs.yaml
var Listed []byte

// Bug is a mistake that somebody could have made in one function.
type Bug struct {
	Name    string   `yaml:"name"`
	Mistake string   `yaml:"mistake"` // what is wrong with it, in a few words
	File    string   `yaml:"file"`
	Old     string   `yaml:"old"` // occurs once in the file, within a function
	New     string   `yaml:"new"`
	Tests   []string `yaml:"tests"` // as in test
	// Campaign is the subject of a campaign whose claims the bug violates, or trials; "": none is about what it breaks.
	Campaign string `yaml:"campaign"`
	// Claims are ids of claims that the campaign must find violated: each of them, first or soon after another one. Any
	// claim is enough if it is empty.
	Claims []string `yaml:"claims"`
	at     int      // offset of Old in the file
}

// test is a check: one test of a package, or all of them if it names none. In the list it is "FOLDER" or "FOLDER NAME".
type test struct{ dir, name string }

func (t test) String() string { return strings.TrimSpace(t.dir + " " + t.name) }

// tests returns the checks of a bug, in the order in which they are tried.
func (b *Bug) tests() (all []test) {
	for _, text := range b.Tests {
		dir, name, _ := strings.Cut(text, " ")
		all = append(all, test{dir, name})
	}
	return all
}

var plainName = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// Load reads a list of bugs in the source tree at root, and checks that every bug can be seeded there and names checks
// that exist.
func Load(root string, list []byte) ([]*Bug, error) {
	var bugs []*Bug
	if err := yaml.UnmarshalWithOptions(list, &bugs, yaml.Strict()); err != nil {
		return nil, err
	}
	var all []error
	seen := map[string]bool{}
	for i, b := range bugs {
		if b == nil {
			return nil, fmt.Errorf("entry %d is empty", i+1)
		}
		err := b.check(root)
		if seen[b.Name] {
			err = errors.New("another bug has this name")
		}
		if seen[b.Name] = true; err != nil {
			all = append(all, fmt.Errorf("bug %q: %w", b.Name, err))
		}
	}
	return bugs, errors.Join(all...)
}

// check finds the text of the bug.
func (b *Bug) check(root string) error {
	switch {
	case !plainName.MatchString(b.Name):
		return errors.New("its name must have lower-case letters, digits and hyphens, for example game-66-percent")
	case b.Mistake == "" || len(b.Tests) == 0 && b.Campaign == "":
		return errors.New("it needs a mistake, and tests or a campaign")
	case len(b.Claims) > 0 && b.Campaign == "":
		return errors.New("it has claims and no campaign")
	case b.Campaign != "" && b.Campaign != trials && !slices.Contains(campaign.Subjects(), b.Campaign):
		return fmt.Errorf("no campaign is of %q; there are: %s, %v", b.Campaign, trials, campaign.Subjects())
	}
	for _, id := range b.Claims {
		if all := campaign.ClaimIDs(); !slices.Contains(all, id) {
			return fmt.Errorf("there is no claim %q%s", id, synod.Hint(id, all))
		}
	}
	source, err := os.ReadFile(filepath.Join(root, b.File))
	if err != nil {
		return err
	}
	if n := strings.Count(string(source), b.Old); n != 1 || b.Old == b.New {
		return fmt.Errorf("old must occur in %s once, and differ from new; it occurs %d times: the code has changed, "+
			"so write the mistake for the code as it is", b.File, n)
	}
	b.at = strings.Index(string(source), b.Old)
	tree, err := parser.ParseFile(token.NewFileSet(), b.File, source, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	if b.function(tree) == nil {
		return fmt.Errorf("old is in no function of %s, so it cannot be switched", b.File)
	}
	for _, t := range b.tests() {
		if err := t.exists(root); err != nil {
			return err
		}
	}
	return nil
}

// function returns the function that has the text of the bug in its body.
func (b *Bug) function(tree *ast.File) *ast.FuncDecl {
	base := int(tree.FileStart)
	i := slices.IndexFunc(tree.Decls, func(d ast.Decl) bool {
		f, ok := d.(*ast.FuncDecl)
		return ok && f.Body != nil && int(f.Body.Lbrace)-base < b.at && b.at+len(b.Old) <= int(f.Body.Rbrace)-base
	})
	if i < 0 {
		return nil
	}
	return tree.Decls[i].(*ast.FuncDecl)
}

// exists returns an error if there is no such test.
func (t test) exists(root string) error {
	files, err := filepath.Glob(filepath.Join(root, t.dir, "*_test.go"))
	if err != nil || len(files) == 0 {
		return fmt.Errorf("there are no tests in %s", t.dir)
	}
	if t.name == "" {
		return nil
	}
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if strings.Contains(string(source), "\nfunc "+t.name+"(") {
			return nil
		}
	}
	return fmt.Errorf("%s has no test %s", t.dir, t.name)
}
