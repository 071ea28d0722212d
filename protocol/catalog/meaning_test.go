package catalog_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/internal/golden"
	"synod.dev/synod/llm/prompt"
	"synod.dev/synod/protocol"
	"synod.dev/synod/protocol/catalog"
)

// The golden file has the meaning and the wording of every prompt template. A roster binds meanings, and not wordings.
// If this test fails because you have changed a wording, ask yourself whether a reply to the new wording means what a
// reply to the old one meant. If it does, renew the file with -rewrite. If it does not, raise the version in the
// template first ({{/* meaning: N */}}), so that nodes with the old and the new wording do not vote together.
func TestMeanings(t *testing.T) {
	var all strings.Builder
	last := map[string]string{} // of the templates that stand in for those of every protocol
	list := func(prefix string, b *prompt.Templates) {
		meanings, wordings := b.Meanings(), b.Digests()
		last = meanings
		for _, name := range slices.Sorted(maps.Keys(wordings)) {
			fmt.Fprintf(&all, "%s%s %s wording %s\n", prefix, name, meanings[name], wordings[name])
		}
	}
	for _, e := range catalog.Protocols.All() {
		if e.Name == tallyEntry.Name {
			continue
		}
		b, err := prompt.NewTemplates(e.Name, e.Prompts())
		if err != nil {
			t.Fatal(err)
		}
		list("", b)
		if j, ok := e.New().(protocol.Joining); ok {
			if b, err = prompt.NewTemplates(e.Name, j.JoinPrompts()); err != nil {
				t.Fatal(err)
			}
			list("joined ", b)
		}
	}
	for _, q := range []synod.Question{{Form: synod.Prose}, {Guessed: true}} {
		wordings := prompt.ProseDigests(&q)
		for _, name := range slices.Sorted(maps.Keys(wordings)) {
			fmt.Fprintf(&all, "%s %s wording %s\n", name, last[name], wordings[name])
		}
	}
	golden.Compare(t, "testdata/meanings.txt", all.String())
}
