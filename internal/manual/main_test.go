package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"synod.dev/synod/cmd/cli"
)

// There is a page for every command, and the environment of whoever builds the pages is not in them.
func TestWrite(t *testing.T) {
	t.Setenv("SYNOD_HOME", "/private/home")
	t.Setenv("SOURCE_DATE_EPOCH", "0")
	share := t.TempDir()
	if err := write(share); err != nil {
		t.Fatal(err)
	}
	for _, cmd := range cli.Command().Commands() {
		if !cmd.IsAvailableCommand() {
			continue
		}
		page, err := os.ReadFile(filepath.Join(share, "man", "man1", "synod-"+cmd.Name()+".1"))
		text := string(page)
		if err != nil || !strings.Contains(text, cmd.Short) || strings.Contains(text, "/private/home") {
			t.Errorf("%s: %v\n%s", cmd.Name(), err, page)
		}
	}
	for _, file := range []string{"bash-completion/completions/synod", "zsh/site-functions/_synod",
		"fish/vendor_completions.d/synod.fish"} {
		text, err := os.ReadFile(filepath.Join(share, file))
		if err != nil || !strings.Contains(string(text), "synod") {
			t.Errorf("%s: %v", file, err)
		}
	}
}
