package journal_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"synod.dev/synod/core/journal"
)

// A hostile journal takes little memory, and no reader overflows its stack.
func TestHostileJournals(t *testing.T) {
	head := `{"k":"head","version":3}` + "\n"
	path := filepath.Join(t.TempDir(), "j")
	for name, text := range map[string]string{
		"brackets":         strings.Repeat("[", 30<<20),
		"nested opinion":   head + `{"k":"effect","t":0,"n":0,"w":"note","opinion":` + strings.Repeat("[", 30<<20) + "\n",
		"nested and valid": head + `{"k":"effect","t":0,"n":0,"w":"note","opinion":` + deep(1<<20) + "}\n",
		"nested reply":     head + `{"k":"reply","n":0,"id":0,"usage":` + deep(1<<20) + "}\n",
		"round":            head + `{"k":"effect","t":0,"n":0,"w":"note","opinion":{"round":1000000000,"answer":"x"}}` + "\n",
		"negative round":   head + `{"k":"effect","t":0,"n":0,"w":"note","opinion":{"round":-1,"answer":"x"}}` + "\n",
		"seat":             head + `{"k":"event","t":0,"n":1000000000,"w":"begin"}` + "\n",
	} {
		if err := os.WriteFile(path, []byte(journal.Summed(text)), 0o600); err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, err := journal.Load(path); err == nil {
			t.Errorf("%s: Load accepts it", name)
		}
		if _, err := journal.SummarizeFile(path); err == nil {
			t.Errorf("%s: Summarize accepts it", name)
		}
		runtime.ReadMemStats(&after)
		if mb := (after.TotalAlloc - before.TotalAlloc) >> 20; mb > 400 { // of both readers, freed or not
			t.Errorf("%s: %d MB were allocated", name, mb)
		}
	}
}

func deep(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
