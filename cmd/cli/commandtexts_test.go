package cli

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// commandText finds texts that look like a command of synod: its name and words of small letters.
var commandText = regexp.MustCompile(`\bsynod((?: [a-z]+(?:-[a-z]+)*\b)+)`)

// prose are words that stand after the name of the program or of a group in a sentence or an identifier.
var prose = strings.Fields("account alone and cannot cascade command fence has key must of prompt uses")

// TestCommandTexts: where a text of the programs or a page says a command of synod, that command exists under this
// name. An old name that works, such as synod trust, is refused too.
func TestCommandTexts(t *testing.T) {
	root, found := Command(), 0
	check := func(where, text string) {
		for _, m := range commandText.FindAllStringSubmatch(text, -1) {
			if found++; !isCommand(root, strings.Fields(m[1])) {
				t.Errorf("%s: synod%s is no command", where, m[1])
			}
		}
	}
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && slices.Contains([]string{"testdata", "runs", "shared", ".git", ".tools"}, d.Name()):
			return fs.SkipDir
		case strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") && d.Name() != "groups.go":
			eachString(t, path, check)
		case strings.HasSuffix(path, ".md"):
			b, err := os.ReadFile(path)
			check(path, string(b))
			return err
		}
		return nil
	})
	if err != nil || found < 300 {
		t.Errorf("%d texts were found: %v", found, err)
	}
	for _, no := range []string{"trust explain", "operate truth", "lab run", "bench plot"} {
		if isCommand(root, strings.Fields(no)) {
			t.Errorf("synod %s passes as a command", no)
		}
	}
}

// eachString calls check with the strings of a file.
func eachString(t *testing.T, path string, check func(where, text string)) {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
			if text, err := strconv.Unquote(l.Value); err == nil {
				check(path, text)
			}
		}
		return true
	})
}

// isCommand says whether words begin with a command that help lists. After a command that takes arguments anything may
// stand.
func isCommand(at *cobra.Command, words []string) bool {
	for i, word := range words {
		if slices.Contains(prose, word) || i == 0 && word == "help" {
			return true
		}
		sub := at.Commands()
		next := slices.IndexFunc(sub, func(c *cobra.Command) bool { return c.Name() == word && !c.Hidden })
		if next < 0 {
			return len(sub) == 0 || slices.Contains([]string{"attack", "calibrate"}, at.Name()) // which take a task too
		}
		at = sub[next]
	}
	return true
}
