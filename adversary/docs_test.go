package adversary

import (
	"bytes"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/core/param"
	"synod.dev/synod/core/table"
	"synod.dev/synod/protocol/catalog"
)

var rewrite = flag.Bool("rewrite", false, "rewrite the generated table of docs/research/adversaries.md")

const docs, begin, end = "../docs/research/adversaries.md",
	"<!-- generated: go test ./adversary -run TestDocs -rewrite -->\n\n", "\n<!-- end -->"

// listed has every adversary with all that it declares.
const listed = "../docs/research/adversaries.txt"

// docs/research/adversaries.md has the traits by which adversaries attack, every test that it names exists, and
// adversaries.txt beside it has a row for every adversary and for nothing else.
func TestDocs(t *testing.T) {
	text, err := os.ReadFile(docs)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), begin)
	onFile, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatal("the page has no place for the table")
	}
	made := traitTable(t)
	if *rewrite && onFile != made {
		if err := os.WriteFile(docs, []byte(before+begin+made+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
		onFile = made
	}
	if onFile != made {
		t.Error("the table is not that of the catalogue; -rewrite renews it")
	}
	all := generated(t)
	if *rewrite {
		if err := os.WriteFile(listed, []byte(all), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if b, err := os.ReadFile(listed); err != nil || string(b) != all {
		t.Errorf("%s is not that of the catalogue (%v); -rewrite renews it", listed, err)
	}
	tests := declared(t)
	for _, name := range regexp.MustCompile(`\bTest[A-Z][A-Za-z0-9]*`).FindAllString(string(text), -1) {
		if !strings.Contains(tests, "func "+name+"(t *testing.T)") {
			t.Errorf("%s does not exist", name)
		}
	}
}

// traitTable returns which protocol has which traits.
func traitTable(t *testing.T) string {
	x := table.Table{Head: []string{"trait", "what it means", "protocols"}}
	for _, trait := range synod.Traits() {
		in := strings.Join(catalog.Admitted(synod.With(trait)), ", ")
		if x.Add("`"+string(trait)+"`", trait.Meaning(), in); trait.Meaning() == "" || in == "" {
			t.Errorf("trait %s has no meaning or no protocol", trait)
		}
	}
	var b strings.Builder
	if err := x.Write(&b, "md"); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// generated returns the table of the catalogue.
func generated(t *testing.T) string {
	x := table.Table{Head: []string{"#", "adversary", "attacks with", "sits at", "fault model", "traits", "defence",
		"promise",
		"source", "parameters"}}
	for _, e := range Catalogue.All() {
		if e.SameAs != "" {
			x.Add(numberOf(e), "`"+e.Name+"`", "the same as `"+e.SameAs+"`", "", "", "", "", "", "", "")
			continue
		}
		var params []string
		if e.Params != nil {
			for _, f := range param.Fields(e.Params()) {
				params = append(params, "`"+f.Key+"`")
			}
		}
		in := e.Where.String()
		if e.Setting != "" {
			in += " with `" + e.Setting + "`"
		}
		x.Add(numberOf(e), "`"+e.Name+"`", e.Summary, string(e.Place), string(e.Model), in, e.Defence,
			string(e.Kind), e.Source, strings.Join(params, ", "))
	}
	var b bytes.Buffer
	if err := x.Write(&b, "md"); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func numberOf(e Entry) string {
	if e.Number == 0 {
		return ""
	}
	return fmt.Sprint(e.Number)
}

// Every entry declares its facts, and the list of 43 attacks is complete.
func TestFacts(t *testing.T) {
	numbers := map[int]string{}
	for _, e := range Catalogue.All() {
		if e.Place == "" || e.Model == "" || e.Where == nil || e.Defence == "" || e.Kind == "" ||
			e.Source == "" {
			t.Errorf("%s does not declare all of its facts: %+v", e.Name, e.Facts)
		}
		if was := numbers[e.Number]; e.Number != 0 && was != "" {
			t.Errorf("%s and %s have the number %d", was, e.Name, e.Number)
		}
		numbers[e.Number] = e.Name
		if _, err := Catalogue.Find(e.SameAs); e.SameAs != "" && err != nil {
			t.Error(err)
		}
	}
	for i := 1; i <= 43; i++ {
		if numbers[i] == "" {
			t.Errorf("attack %d of the list is missing", i)
		}
	}
}

// declared returns the source of the tests that the page may name.
func declared(t *testing.T) string {
	var all strings.Builder
	for _, dir := range []string{".", "../protocol", "../network/node", "../network/link", "../llm"} {
		err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, "_test.go") {
				return err
			}
			b, err := os.ReadFile(path)
			all.Write(b)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return all.String()
}
