package llm

import (
	"os"
	"testing"
)

// Models of one recording share what was read of it, until the file changes.
func TestIndexIsShared(t *testing.T) {
	c := recordedConfig{Path: writeTrace(t, goodRows), Model: "lone"}
	first, again := openRecording(t, c), openRecording(t, c)
	if first.rowIndex != again.rowIndex || first.file == again.file || first.Info().Identity != again.Info().Identity {
		t.Error("the file was read twice")
	}
	text, err := os.ReadFile(c.Path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(c.Path, append([]byte("\n"), text...), 0o600); err != nil {
		t.Fatal(err)
	}
	later := openRecording(t, c)
	if later.rowIndex == first.rowIndex || later.Info().Identity == first.Info().Identity {
		t.Error("a file that has changed has the index and identity of the earlier one")
	}
}
