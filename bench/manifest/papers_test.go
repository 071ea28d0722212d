package manifest

import (
	"flag"
	"os"
	"strings"
	"testing"

	"synod.dev/synod/protocol/catalog"
)

var rewrite = flag.Bool("rewrite", false, "rewrite docs/measure/manifest.txt")

// docs/research/papers.md has a row for every preset, with its command, and names every protocol.
func TestPapersPage(t *testing.T) {
	const path = "../../docs/research/papers.md"
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	written := string(b)
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
