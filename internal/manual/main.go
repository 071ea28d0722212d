// Manual writes the manual pages and the shell completion of synod into a folder that is laid out like /usr/share:
//
//	go run ./internal/manual share
//
// writes share/man/man1/synod*.1 and completion files for bash, zsh and fish. "make install" and "make release" run
// it. It is a program of its own because synod itself does not need the library that renders manual pages. Its rank
// is 9, as cmd/synod's.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"synod.dev/synod/cmd/cli"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: manual FOLDER")
		os.Exit(2)
	}
	if err := write(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "manual:", err)
		os.Exit(1)
	}
}

// write writes all files below a folder. The date in the pages is that of SOURCE_DATE_EPOCH, or today.
func write(share string) error {
	for _, name := range []string{"SYNOD_HOME", "SYNOD_COUNCIL", "SYNOD_PRICES"} { // flags show these as defaults
		if err := os.Unsetenv(name); err != nil {
			return err
		}
	}
	root := cli.Command()
	root.DisableAutoGenTag = true
	pages := filepath.Join(share, "man", "man1")
	if err := os.MkdirAll(pages, 0o755); err != nil {
		return err
	}
	root.InitDefaultCompletionCmd()
	header := &doc.GenManHeader{Title: "SYNOD", Section: "1", Source: "Synod " + root.Version, Manual: "Synod"}
	if err := doc.GenManTree(root, header, pages); err != nil {
		return err
	}
	for _, c := range []struct {
		file  string
		write func(file string, root *cobra.Command) error
	}{
		{"bash-completion/completions/synod", func(f string, c *cobra.Command) error {
			return c.GenBashCompletionFileV2(f, true)
		}},
		{"zsh/site-functions/_synod", func(f string, c *cobra.Command) error { return c.GenZshCompletionFile(f) }},
		{"fish/vendor_completions.d/synod.fish", func(f string, c *cobra.Command) error {
			return c.GenFishCompletionFile(f, true)
		}},
	} {
		path := filepath.Join(share, filepath.FromSlash(c.file))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := c.write(path, root); err != nil {
			return err
		}
	}
	return nil
}
