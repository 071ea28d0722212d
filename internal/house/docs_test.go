package house_test

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"synod.dev/synod/internal/golden"
)

// identifier finds the ids of claims, requirements and findings.
var identifier = regexp.MustCompile(
	`\b(?:I-)?(?:SAC|GM|DL|CP|LB|GR|BB|RU|LE|CE|CO|QU|SC|AG|DE|EN|JO|TX|WI)-(?:[0-9]{1,2}[a-zF]?|[CE])\b` +
		`|\bF(?:[1-9]|1[01])\b`)

// invented are ids that tests make up to see them refused.
var invented = []string{"LE-44", "QU-9"}

// identifiersFile has the table of all ids.
const identifiersFile = "docs/extend/identifiers.txt"

// TestHouseIdentifiers: every id of a claim, a requirement or a finding that stands in the code is in the table of
// identifiersFile, once, and the table has no other.
func TestHouseIdentifiers(t *testing.T) {
	used := usedIdentifiers(t)
	listed := listedIdentifiers(t)
	for _, id := range slices.Sorted(maps.Keys(used)) {
		if !listed[id] && !slices.Contains(invented, id) {
			t.Errorf("%s does not say what %s is, which stands in %s", identifiersFile, id, used[id])
		}
	}
	for _, id := range slices.Sorted(maps.Keys(listed)) {
		// The rules of the checklist name tests, which TestHouseChecklist looks for.
		if used[id] == "" && !strings.HasPrefix(id, "SC-") {
			t.Errorf("%s has %s, which stands in no code", identifiersFile, id)
		}
	}
}

// usedIdentifiers returns the ids in the code, with a file of each.
func usedIdentifiers(t *testing.T) map[string]string {
	used := map[string]string{}
	finding := regexp.MustCompile(`(?:[Ff]inding |, |\[|ID: ")F(?:[1-9]|1[01])\b`)
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if err == nil && slices.Contains([]string{".git", ".tools", "bin", "dist", "docs", "runs"}, path) {
				return fs.SkipDir
			}
			return err
		}
		if !slices.Contains([]string{".go", ".yaml", ".py", ".js", ".txt"}, filepath.Ext(path)) ||
			filepath.Base(path) == "docs_test.go" {
			return nil
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, at := range identifier.FindAllIndex(b, -1) {
			id := string(b[at[0]:at[1]])
			if id[0] == 'F' && !finding.Match(b[max(0, at[0]-8):at[1]]) {
				continue // a word of something else, such as a key of a keyboard
			}
			used[id] = path
		}
		return nil
	})
	if err != nil || len(used) < 100 {
		t.Fatalf("%d ids are few: %v", len(used), err)
	}
	return used
}

// listedIdentifiers returns the ids in the first column of the table, and reports those that are there twice.
func listedIdentifiers(t *testing.T) map[string]bool {
	table, err := os.ReadFile(identifiersFile)
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{}
	for line := range strings.Lines(string(table)) {
		if cells := strings.Split(line, "|"); len(cells) > 1 {
			for _, id := range identifier.FindAllString(cells[1], -1) {
				if listed[id] {
					t.Errorf("%s has %s twice", identifiersFile, id)
				}
				listed[id] = true
			}
		}
	}
	return listed
}

// The most that docs may be: pages, and words of the pages, README.md and CONTRIBUTING.md. Tables of more than a screen
// are files beside the pages.
const mostPages, mostWords = 20, 60_000

// TestHouseDocsSize: docs have at most so many pages and words.
func TestHouseDocsSize(t *testing.T) {
	pages, err := filepath.Glob("docs/*/*.md")
	if err != nil {
		t.Fatal(err)
	}
	above, _ := filepath.Glob("docs/*.md")
	pages = append(pages, above...)
	if len(pages) > mostPages || len(pages) < 5 {
		t.Errorf("docs have %d pages, of at most %d", len(pages), mostPages)
	}
	words := 0
	for _, page := range append(pages, "README.md", "CONTRIBUTING.md") {
		b, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		words += len(strings.Fields(string(b)))
	}
	if words > mostWords {
		t.Errorf("docs have %d words, of at most %d: say things once, and shorten beside additions", words, mostWords)
	}
}

// folders are those of the top level from the programs down to the vocabulary.
var folders = []string{"cmd", "bench", "network", "record", "council", "adversary", "protocol", "llm", "graph", "core",
	"synod"}

// TestHousePicture: docs/extend/architecture.md has a picture of the imports between the folders of the top level, as
// go list gives them. Renew it with: go test ./internal/house -run TestHousePicture -rewrite.
func TestHousePicture(t *testing.T) {
	const path, begin, end = "docs/extend/architecture.md",
		"<!-- picture: go test ./internal/house -run TestHousePicture -rewrite -->\n", "<!-- end of picture -->"
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(page), begin)
	_, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		t.Fatalf("%s has no place for the picture", path)
	}
	golden.Compare(t, path, before+begin+picture(folderImports(t))+end+after)
}

// folderImports returns which folders import which, without internal.
func folderImports(t *testing.T) map[string]map[string]bool {
	imports := map[string]map[string]bool{}
	for _, p := range listPackages(t) {
		from := folderOf(p.ImportPath)
		for _, i := range p.Imports {
			to := folderOf(i)
			if from == to || !slices.Contains(folders, from) || !slices.Contains(folders, to) {
				continue
			}
			if imports[from] == nil {
				imports[from] = map[string]bool{}
			}
			imports[from][to] = true
		}
	}
	return imports
}

// folderOf returns the folder of the top level that has a package; synod for the root, "" outside of the module.
func folderOf(path string) string {
	if path == "synod.dev/synod" {
		return "synod"
	}
	rest, ours := strings.CutPrefix(path, "synod.dev/synod/")
	if !ours {
		return ""
	}
	folder, _, _ := strings.Cut(rest, "/")
	return folder
}

// picture draws imports in Mermaid. An arrow down that follows from others is left out; one up is dotted.
func picture(imports map[string]map[string]bool) string {
	var b strings.Builder
	b.WriteString("```mermaid\ngraph TD\n")
	for i, from := range folders {
		for j, to := range folders {
			switch {
			case !imports[from][to]:
			case j < i:
				fmt.Fprintf(&b, "    %s -.-> %s\n", from, to)
			case !follows(imports, i, j):
				fmt.Fprintf(&b, "    %s --> %s\n", from, to)
			}
		}
	}
	return b.String() + "```\n"
}

// follows reports whether a folder between two imports leads from the first to the second.
func follows(imports map[string]map[string]bool, from, to int) bool {
	for between := from + 1; between < to; between++ {
		if imports[folders[from]][folders[between]] &&
			(imports[folders[between]][folders[to]] || follows(imports, between, to)) {
			return true
		}
	}
	return false
}
