package page

import (
	"io"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"synod.dev/synod/cmd/synod-serve/internal/store"
	"synod.dev/synod/core/clean"
)

// elements and attributes are what a text of a member may become; nothing in it loads or runs anything.
var (
	elements = strings.Fields("a p br hr em strong del code pre blockquote ul ol li h4 h5 h6 table thead tbody tr th " +
		"td small")
	attributes = map[string]string{"class": "a small", "href": "a", "rel": "a", "target": "a", "start": "ol",
		"align": "th td"}
)

// FuzzMarkdown: a text of a member becomes only harmless elements, whose links lead to the web or to mail.
func FuzzMarkdown(f *testing.F) {
	for _, text := range hostile(f) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 16<<10 {
			return
		}
		out := string(markdown(text))
		if strings.ContainsFunc(out, clean.Hidden) {
			t.Errorf("%q becomes %q, with characters that cannot be seen", text, out)
		}
		for z := html.NewTokenizer(strings.NewReader(out)); z.Next() != html.ErrorToken; {
			token := z.Token()
			if token.Type == html.TextToken {
				continue
			}
			if token.Type == html.CommentToken || token.Type == html.DoctypeToken ||
				!slices.Contains(elements, token.Data) {
				t.Fatalf("%q becomes %q, with %s", text, out, token)
			}
			for _, a := range token.Attr {
				if !slices.Contains(strings.Fields(attributes[a.Key]), token.Data) ||
					a.Key == "href" && !leads(a.Val) {
					t.Fatalf("%q becomes %q, with %s=%q", text, out, a.Key, a.Val)
				}
			}
		}
	})
}

// leads reports whether a link leads to the web or to mail.
func leads(link string) bool {
	u, err := url.Parse(link)
	return err == nil && slices.Contains([]string{"http", "https", "mailto", ""}, u.Scheme) &&
		!strings.ContainsAny(link, "\t\r\n")
}

// FuzzNames: whatever name of a run, a council or a folder somebody asks for, no file outside of the folders of the
// gateway is read, written or removed [SC-39].
func FuzzNames(f *testing.F) {
	for _, name := range []string{"mine", "../secret", "..", ".", "", "a/../../secret", "%2e%2e/secret", "CON",
		"a\x00b", "/etc/passwd", "link", "mine/x", strings.Repeat("a", 65), "Ａ", "..\\secret"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		outside := t.TempDir()
		dir, secret := filepath.Join(outside, "in"), filepath.Join(outside, "secret.yaml")
		must(t, os.Mkdir(dir, 0o700))
		for _, file := range []string{"secret.yaml", "secret.jsonl", "run.json"} {
			must(t, os.WriteFile(filepath.Join(outside, file), []byte("secret"), 0o600))
		}
		must(t, os.Symlink(secret, filepath.Join(dir, "link.yaml")))
		must(t, os.Symlink(outside, filepath.Join(dir, "link")))
		if c, err := readCouncil(dir, name); err == nil {
			t.Errorf("the council %q is read: %q", name, c.Text)
		}
		err := writeCouncil(dir, name, "text", "")
		if (err == nil) != (editable(name) && name != "link") {
			t.Errorf("the council %q is written: %v", name, err)
		}
		_ = removeCouncil(dir, name, digestOf([]byte("secret")))
		p := &Page{o: Options{Journals: dir}}
		if f, err := p.journalFile(&store.Row{Result: store.Result{Journal: name}}); err == nil {
			b, _ := io.ReadAll(f)
			t.Errorf("the journal %q is read: %q", name, b)
		}
		root, err := os.OpenRoot(dir)
		must(t, err)
		defer root.Close()
		if found, err := (labRoot{root, dir}).folder(name); err == nil {
			t.Errorf("the folder %q is shown: %+v", name, found)
		}
		entries, err := os.ReadDir(outside)
		must(t, err)
		if b, err := os.ReadFile(secret); err != nil || string(b) != "secret" || len(entries) != 4 {
			t.Errorf("the name %q changes what is outside: %q, %v, %v", name, b, err, entries)
		}
	})
}

func must(t *testing.T, err error) {
	if err != nil {
		t.Fatal(err)
	}
}
