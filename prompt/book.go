// Package prompt renders a synod.Prompt as text for a model and writes the JSON schema of the wanted reply.
//
// It is pure: the result depends on the arguments only. All text of other members is untrusted; it is
// cleaned (clean.Line) and fenced before another model sees it.
package prompt

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"text/template"

	"synod.dev/synod"
)

// Chat is a rendered prompt.
type Chat struct {
	System string
	User   string
	Schema json.RawMessage // JSON schema of the wanted reply; nil where free text is wanted

	// Completion is a text that the answer continues, for a member that
	// completes text instead of conversing; "" where the page has none.
	Completion string
}

// Book holds a protocol's templates by name. A file NAME.tmpl has two parts,
// {{define "system"}} and {{define "user"}}, and may have a third, {{define
// "completion"}}.
type Book struct {
	pages   map[string]*template.Template
	digests map[string]string
}

// NewBook reads NAME.tmpl files from the layers in order; a later layer replaces
// pages of an earlier one. A page that replaces nothing is a mistake and an
// error, except in the first layer.
func NewBook(prefix string, layers ...fs.FS) (*Book, error) {
	b := &Book{pages: map[string]*template.Template{}, digests: map[string]string{}}
	for i, layer := range layers {
		names, err := fs.Glob(layer, "*.tmpl")
		if err != nil {
			return nil, fmt.Errorf("prompt: list templates: %w", err)
		}
		for _, name := range names {
			key := prefix + "/" + strings.TrimSuffix(name, ".tmpl")
			if i > 0 && b.pages[key] == nil {
				return nil, fmt.Errorf("prompt: template %s replaces nothing%s", name, synod.Hint(key, b.Names()))
			}
			text, err := fs.ReadFile(layer, name)
			if err != nil {
				return nil, fmt.Errorf("prompt: template %s: %w", name, err)
			}
			if b.pages[key], err = parsePage(string(text), name); err != nil {
				return nil, err
			}
			sum := sha256.Sum256(text)
			b.digests[key] = hex.EncodeToString(sum[:8])
		}
	}
	return b, nil
}

func parsePage(text, name string) (*template.Template, error) {
	t, err := template.New(path.Base(name)).Funcs(helpers).Option("missingkey=error").Parse(text)
	if err != nil {
		return nil, fmt.Errorf("prompt: template %s: %w", name, err)
	}
	for _, part := range []string{"system", "user"} {
		if t.Lookup(part) == nil {
			return nil, fmt.Errorf("prompt: template %s has no {{define %q}}", name, part)
		}
	}
	return t, nil
}

// Names lists the pages, sorted.
func (b *Book) Names() []string {
	names := make([]string, 0, len(b.pages))
	for k := range b.pages {
		names = append(names, k)
	}
	slices.Sort(names)
	return names
}

// Digests are the first bytes of SHA-256 of each page's text, by name: enough to
// notice that one was edited.
func (b *Book) Digests() map[string]string { return maps.Clone(b.digests) }

// Render says a prompt in words. Text from other members is cleaned and fenced
// by the template through its fence helper.
func (b *Book) Render(p *synod.Prompt) (Chat, error) {
	t := b.pages[p.Template]
	if t == nil {
		return Chat{}, fmt.Errorf("prompt: no template %q%s", p.Template, synod.Hint(p.Template, b.Names()))
	}
	var c Chat
	for _, part := range []struct {
		name string
		into *string
	}{{"system", &c.System}, {"user", &c.User}, {"completion", &c.Completion}} {
		if t.Lookup(part.name) == nil {
			continue
		}
		var s strings.Builder
		s.Grow(1 << 10) // most parts fit
		if err := t.ExecuteTemplate(&s, part.name, (*view)(p)); err != nil {
			return Chat{}, fmt.Errorf("prompt: render %s: %w", p.Template, err)
		}
		*part.into = strings.TrimSpace(s.String())
	}
	if !p.Exact {
		c.Schema = schemaFor(p)
	}
	return c, nil
}
