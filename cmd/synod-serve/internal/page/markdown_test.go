package page

import (
	"bytes"
	"encoding/json"
	"html/template"
	"os"
	"regexp"
	"strings"
	"testing"

	"synod.dev/synod/council/outcome"
)

// hostile returns the texts in testdata/hostile.txt.
func hostile(t testing.TB) (all []string) {
	t.Helper()
	b, err := os.ReadFile("testdata/hostile.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(b) {
		if line[0] == '#' {
			continue
		}
		var s string
		if err := json.Unmarshal(line, &s); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		all = append(all, s)
	}
	return all
}

// TestMarkdown: what Markdown is for stays; images are named and not loaded, headings stay below those of the page,
// and links say where they lead.
func TestMarkdown(t *testing.T) {
	for in, want := range map[string]string{
		"**bold** and `code`":               "<p><strong>bold</strong> and <code>code</code></p>\n",
		"# Title":                           "<h4>Title</h4>\n",
		"![a cat](http://evil.example/c)":   "<p><em>[image: a cat]</em></p>\n",
		"a <b>tag</b> <script>x()</script>": "<p>a tag x()</p>\n",
		"[x](javascript:alert(1))":          "<p>x</p>\n",
		"[bank](http://evil.example/a?b=1)": `<p><a class="away" href="http://evil.example/a?b=1" ` +
			`rel="nofollow noreferrer noopener" target="_blank">bank</a> <small class="host">[evil.example]</small></p>` +
			"\n",
		"| a |\n|--:|\n| 1 |": "<table>\n<thead>\n<tr>\n<th align=\"right\">a</th>\n</tr>\n</thead>\n<tbody>\n<tr>\n" +
			"<td align=\"right\">1</td>\n</tr>\n</tbody>\n</table>\n",
		"\u202egnp.exe":  "<p>\\u202egnp.exe</p>\n",
		"&#x202e;&rlm;x": "<p>\\u202e\\u200fx</p>\n",
	} {
		if got := string(markdown(in)); got != want {
			t.Errorf("%q: %q, not %q", in, got, want)
		}
	}
	tag := regexp.MustCompile(`<(/?[a-zA-Z][a-zA-Z0-9]*)[^>]*>`)
	allowed := map[string]bool{}
	for _, name := range strings.Fields("a p br hr em strong del code pre blockquote ul ol li h4 h5 h6 table " +
		"thead tbody tr th td small") {
		allowed[name] = true
	}
	for _, text := range hostile(t) {
		for _, m := range tag.FindAllStringSubmatch(string(markdown(text)), -1) {
			if !allowed[strings.TrimPrefix(m[1], "/")] ||
				regexp.MustCompile(`(?i)\son\w+=|style=|javascript:`).MatchString(m[0]) {
				t.Errorf("%.80q becomes %q", text, m[0])
			}
		}
	}
}

// TestMarkedProse: claims are marked in rendered Markdown, across tags and lists, and not at all where a claim is
// not text any more.
func TestMarkedProse(t *testing.T) {
	claim := func(text string, of string) template.HTML {
		at := strings.Index(of, text)
		return markedProse(mark(of, []outcome.Claim{{ID: "c1", Verdict: "disputed", Start: at, End: at + len(text)}}))
	}
	const sup = `<sup><a href="#c1" aria-label="claim c1, disputed">c1</a></sup>`
	for _, c := range []struct{ of, text, want string }{
		{"The **sky is blue**.", "sky is blue",
			`<p>The <strong><mark class="disputed" id="mark-c1">sky is blue</mark>` + sup + "</strong>.</p>\n"},
		{"- one **two** three", "- one **two** three", "<ul>\n<li>" +
			`<mark class="disputed" id="mark-c1">one </mark><strong>` +
			`<mark class="disputed">two</mark></strong> <mark class="disputed">three</mark>` + sup + "</li>\n</ul>\n"},
		{"&#xe001;a claim &#xe000;b", "a claim", ""},
		{"See [x](http://a.example/b) \ue000", "example/b", ""},
		{"a \ue001 <b> & c", "<b> & c", "<p>a \\ue001  " + `<mark class="disputed" id="mark-c1">&amp; c</mark>` + sup +
			"</p>\n"},
	} {
		if got := string(claim(c.text, c.of)); got != c.want {
			t.Errorf("%q in %q:\n%q, not\n%q", c.text, c.of, got, c.want)
		}
	}
	for _, text := range hostile(t) {
		out := string(markedProse(mark(text, []outcome.Claim{{ID: "c1", Verdict: "open", Start: 0, End: len(text)}})))
		if strings.ContainsFunc(out, signs) {
			t.Errorf("%.80q keeps a sign: %q", text, out)
		}
	}
}
