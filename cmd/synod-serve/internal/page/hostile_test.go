//go:build browser

package page

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"synod.dev/synod/internal/llmtest"

	"synod.dev/synod/cmd/synod-serve/internal/store"
)

// villains is a server of members that write hostile texts, one after another.
type villains struct {
	texts []string
	next  atomic.Int64
	hold  atomic.Pointer[chan struct{}] // scores wait for it
}

func (v *villains) reply(c llmtest.Call) string {
	text := func() string { return v.texts[int(v.next.Add(1)-1)%len(v.texts)] }
	quoted := func(s string) string { b, _ := json.Marshal(s); return string(b) }
	switch {
	case strings.Contains(c.System, "mark a text"):
		return `{"reasoning": ` + quoted(text()) + `, "factual_contradiction": 20, "factual_fabrication": 19,
			"instruction_inconsistency": 20, "context_inconsistency": 20, "logical_inconsistency": 18}`
	case strings.Contains(c.User, "say_it"):
		return `{"name": "say_it", "arguments": {"text": ` + quoted(text()) + `}}`
	case strings.Contains(c.User, "(prose)"):
		return text()
	case strings.Contains(strings.ToLower(c.User), "score"):
		if hold := v.hold.Load(); hold != nil {
			<-*hold
		}
		return text()
	}
	return text() + "\nAnswer: " + text()
}

// intact checks what no hostile text may change: no script has run, there is no element that loads or runs
// anything but those of the frame, links are marked, and ids are unique.
const intact = `(async () => {
	document.querySelectorAll("details").forEach(d => d.open = true);
	await new Promise(r => setTimeout(r, 15));
	const bad = [];
	if (window.pwned !== undefined) bad.push("a script has run");
	for (const e of document.querySelectorAll("*")) {
		const tag = e.tagName.toLowerCase(), at = e.outerHTML.slice(0, 200);
		if (["iframe", "frame", "object", "embed", "applet", "img", "picture", "video", "audio", "base", "portal", "dialog",
			"template", "image", "use", "animate", "foreignobject", "area", "map", "math"].includes(tag)) bad.push("element " + at);
		if (tag == "script" && !(e.getAttribute("src") || "").startsWith("/static/")) bad.push("script " + at);
		if (tag == "link" && !e.getAttribute("href").startsWith("/static/")) bad.push("link " + at);
		if (tag == "style" && location.protocol != "file:") bad.push("style " + at);
		if (tag == "meta" && e.httpEquiv && location.protocol != "file:") bad.push("meta " + at);
		for (const a of e.attributes) {
			if (a.name.startsWith("on") || a.name == "style" || a.name == "srcdoc" || a.name == "ping" || a.name == "formaction")
				bad.push("attribute " + a.name + " in " + at);
			if (/^(data-)?(hx|sse)-/.test(a.name) && !e.closest("#run, #doctor, #lab, #text")) bad.push("attribute " + a.name + " in " + at);
		}
		if (tag == "a") {
			const href = e.getAttribute("href") || "";
			const own = href.startsWith("/") && !href.startsWith("//") || href.startsWith("#") || href.startsWith("?");
			const away = e.classList.contains("away") && /^(https?|mailto):/.test(href) && /nofollow/.test(e.rel) && /noreferrer/.test(e.rel);
			if (!own && !away) bad.push("link " + at);
		}
		if (tag == "form" && !["/ask", "/login", "/logout", "/history", "/compare"].includes(e.getAttribute("action")) &&
			!/^\/runs\/[a-z0-9-]+\/(stop|calls|label)$/.test(e.getAttribute("action")) && !/^\/(councils|doctor|lab)/.test(e.getAttribute("action")))
			bad.push("form " + at);
	}
	for (const id of ["main", "run", "question"]) if (document.querySelectorAll("[id=" + id + "]").length > 1) bad.push("two of " + id);
	if (location.protocol != "file:" && !document.querySelector("header nav a.name")) bad.push("the navigation is gone");
	document.querySelectorAll("textarea").forEach(e => e.textContent = ""); // what is to be edited is there as it is
	if (/[\u202a-\u202e\u2066-\u2069\u200b-\u200f\u001b\u0007\u2028\u2029]/.test(document.body.textContent)) bad.push("a character that hides or reorders text");
	return bad.slice(0, 3).join("\n");
})()`

// check looks at a page with hostile texts.
func (b *tab) check(t *testing.T, where string) {
	t.Helper()
	if bad := value[string](t, b, intact); bad != "" {
		t.Errorf("%s: %s", where, bad)
	}
	b.fits(t, where)
	b.quiet(t, where)
}

// texts is a council of members that answer in short texts, and actors one whose members call tools. Their names
// are hostile too.
const (
	texts = `council: "<script>window.pwned=1</script>"
protocol: {name: sac, rounds: 2}
graph: {family: complete}
f: 1
form: text
models: {"<img src=x onerror=window.pwned=1>": {provider: openai, url: "URL", model: "<b>stub", attempts: 1}}
seats: [{id: s, model: "<img src=x onerror=window.pwned=1>", count: 5}]
`
	actors = `council: actors
protocol: {name: majority}
graph: {family: complete}
f: 1
models: {stub: {provider: openai, url: "URL", model: stub, attempts: 1}}
seats: [{id: a, model: stub, count: 5}]
`
)

// TestHostileTexts has members write 200 hostile texts, as answers, tool arguments, claims, names and Markdown, and
// looks at every page that shows them: while they come, afterwards, in lists, in comparisons and in the shared file.
func TestHostileTexts(t *testing.T) {
	v := &villains{texts: hostile(t)}
	if len(v.texts) < 200 {
		t.Fatal(len(v.texts), "texts")
	}
	server := llmtest.Start(t, v.reply)
	at := func(text string) string { return strings.Replace(text, "URL", server.URL, 1) }
	h := open(t, map[string]string{"texts": at(texts), "actors": at(actors), "writers": at(prose)})
	h.key(t, store.Key{Name: "a", Councils: []string{"<script>window.pwned=1</script>"}})
	b := surf(t, h)
	b.set(t, looks[2])
	shown := map[string]bool{}
	visit := func(path string) {
		t.Helper()
		b.open(t, path)
		b.check(t, path)
	}
	last := "/runs/"
	look := func(run string) {
		t.Helper()
		for _, path := range []string{run, run + "/calls", "/?from=" + run[6:]} {
			visit(path)
		}
		if last != "/runs/" {
			visit("/compare?a=" + run[6:] + "&b=" + last[6:])
		}
		last = run
		shown[run] = true
	}
	for i := 0; i < len(v.texts); i += 5 { // while they come
		run := h.liveTexts(t, b, v, v.texts[i])
		look(run)
	}
	for i := 0; i < len(v.texts); i += 4 {
		run, _ := h.asked(t, "question", "(prose) "+v.texts[i], "council", "writers", "system", v.texts[i],
			"form", "prose")
		look(run)
		h.shared(t, b, run)
	}
	for i := 0; i < len(v.texts); i += 5 {
		look(h.acted(t, v.texts[i]))
	}
	rows, err := h.store.Search(t.Context(), store.Filter{}, 1000)
	if err != nil || len(rows) < len(shown) {
		t.Fatal(len(rows), err)
	}
	for path := "/history"; path != ""; path = after(h.get(t, path)) {
		visit(path)
	}
	visit("/compare?a=" + last[6:])
	visit("/keys")
	for _, path := range []string{"/councils", "/councils/texts", "/councils/texts/edit", "/doctor", "/lab"} {
		visit(path)
	}
	for i, text := range v.texts { // in the address
		if i%4 == 0 && len(text) < 300 {
			visit("/history?q=" + escaped(text) + "&key=" + escaped(text))
		}
	}
	t.Logf("%d texts in %d runs", len(v.texts), len(shown))
}

func escaped(text string) string {
	var b strings.Builder
	for i := range len(text) {
		fmt.Fprintf(&b, "%%%02x", text[i])
	}
	return b.String()
}

// after returns the address of the next page of the history.
func after(page seen) string {
	_, rest, ok := strings.Cut(page.body, `<a href="/history?after=`)
	if !ok {
		return ""
	}
	id, _, _ := strings.Cut(rest, `"`)
	return "/history?after=" + id
}

// liveTexts asks for short texts, looks at the run while scores are held back, and stops it.
func (h *house) liveTexts(t *testing.T, b *tab, v *villains, question string) string {
	t.Helper()
	hold := make(chan struct{})
	v.hold.Store(&hold)
	page := h.post(t, "/ask", "csrf", h.get(t, "/").token(t), "question", question+" (text)", "council", "texts")
	path := page.Request.URL.Path
	if !strings.HasPrefix(path, "/runs/") {
		t.Fatal(page.Status, page.body)
	}
	b.open(t, path)
	b.wait(t, "what members said", `document.querySelectorAll(".rounds td").length >= 5 || document.querySelector(".tiles")`)
	b.check(t, "live "+path)
	v.hold.Store(nil)
	close(hold)
	if got := h.post(t, path+"/stop", "csrf", h.get(t, "/").token(t)); got.StatusCode != 200 {
		t.Fatal(got.Status, got.body)
	}
	return path
}

// shared looks at the file of a run.
func (h *house) shared(t *testing.T, b *tab, run string) {
	t.Helper()
	file := t.TempDir() + "/run.html"
	if err := os.WriteFile(file, []byte(h.get(t, run+"/share").body), 0o600); err != nil {
		t.Fatal(err)
	}
	b.navigate(t, "file://"+file)
	b.check(t, "the file of "+run)
}

// acted has the council call a tool, and returns the run.
func (h *house) acted(t *testing.T, question string) string {
	t.Helper()
	body, err := json.Marshal(map[string]any{"model": "actors", "tool_choice": "required",
		"messages": []any{map[string]any{"role": "user", "content": "Call say_it. " + question}},
		"tools": []any{map[string]any{"type": "function", "function": map[string]any{"name": "say_it",
			"description": question, "parameters": map[string]any{"type": "object", "required": []string{"text"},
				"properties": map[string]any{"text": map[string]any{"type": "string"}}}}}}})
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, h.url+"/v1/chat/completions",
		bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	got := h.do(t, req)
	if got.StatusCode != 200 && got.StatusCode != 422 {
		t.Fatal(got.Status, got.body)
	}
	return "/runs/" + got.Header.Get("X-Request-Id")
}
