package manifest

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"synod.dev/synod/core/table"
	"synod.dev/synod/protocol/catalog"
)

var rewrite = flag.Bool("rewrite", false, "rewrite the generated part of docs/research/papers.md")

// papersHead begins the generated part of docs/research/papers.md.
const papersHead = "## All presets and protocols\n"

// papersTables is the generated part of docs/research/papers.md: what the catalogues say.
func papersTables() string {
	var b strings.Builder
	b.WriteString(papersHead + "\nGenerated from the catalogues (`go test ./bench/manifest -run TestPapersPage " +
		"-rewrite`).\n\n| preset | source | what it runs |\n|---|---|---|\n")
	for _, p := range Presets().All() {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", p.Name, table.MarkdownText(p.Source), table.MarkdownText(p.Summary))
	}
	b.WriteString("\n| protocol | source | what it is |\n|---|---|---|\n")
	for _, p := range catalog.Protocols.All() {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", p.Name, table.MarkdownText(p.Source), table.MarkdownText(p.Summary))
	}
	return b.String()
}

// docs/research/papers.md has a row for every preset, with its command, and names every protocol. Its
// last part is generated.
func TestPapersPage(t *testing.T) {
	const path = "../../docs/research/papers.md"
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	written, generated, _ := strings.Cut(string(b), papersHead)
	want := papersTables()
	if *rewrite {
		if err := os.WriteFile(path, []byte(written+want), 0o644); err != nil {
			t.Fatal(err)
		}
		generated = strings.TrimPrefix(want, papersHead)
	}
	if papersHead+generated != want {
		t.Errorf("the generated part of %s is old; -rewrite renews it", path)
	}
	for _, p := range Presets().All() {
		if !strings.Contains(written, "| `"+p.Name+"` |") ||
			!strings.Contains(written, "`synod bench run "+p.Name+"`") {
			t.Errorf("no row of %s runs the preset %s", path, p.Name)
		}
	}
	for _, p := range catalog.Protocols.All() {
		if !strings.Contains(written, "`"+p.Name+"`") && !strings.Contains(written, "synod explain "+p.Name+"`") &&
			!strings.Contains(written, "`protocol/"+strings.ReplaceAll(p.Name, "-", "")+"`") {
			t.Errorf("%s does not name the protocol %s", path, p.Name)
		}
	}
}
