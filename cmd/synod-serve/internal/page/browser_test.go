//go:build browser

package page

import (
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	cdpage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// tab is a page of a headless browser, with what it has asked for and said.
type tab struct {
	context.Context
	url string

	mu       sync.Mutex
	requests []string
	dialogs  []string
	errors   []string // of scripts
}

// surf opens a browser, or skips the test where none is installed.
func surf(t *testing.T, h *house) *tab {
	t.Helper()
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil && path == "" {
			path = found
		}
	}
	if path == "" {
		t.Skip("no test in a browser: Chromium is not installed (Debian: apt-get install chromium)")
	}
	options := append([]chromedp.ExecAllocatorOption{}, chromedp.DefaultExecAllocatorOptions[:]...)
	options = append(options, chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-sync", true), chromedp.WindowSize(1280, 900))
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	b := &tab{Context: ctx, url: h.url}
	if err := chromedp.Listen(ctx, b.hear); err != nil {
		t.Fatal(err)
	}
	command(t, b, network.Enable, network.EnableParams{})
	command(t, b, cdpage.Enable, cdpage.EnableParams{})
	command(t, b, runtime.Enable, cdp.Empty{})
	return b
}

// command sends a command of the protocol of browsers.
func command[P, R any](t *testing.T, b *tab, c cdp.Command[P, R], params P) {
	t.Helper()
	if _, err := chromedp.Call(b.Context, c, params); err != nil {
		t.Fatal(err)
	}
}

// hear notes requests, dialogs and errors.
func (b *tab) hear(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		b.requests = append(b.requests, e.Request.URL)
	case *cdpage.EventJavascriptDialogOpening:
		b.dialogs = append(b.dialogs, e.Message)
		go chromedp.Call(b.Context, cdpage.HandleJavaScriptDialog, cdpage.HandleJavaScriptDialogParams{})
	case *runtime.EventExceptionThrown:
		b.errors = append(b.errors, e.ExceptionDetails.Text)
	}
}

func (b *tab) run(t *testing.T, actions ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	ctx, cancel := context.WithTimeout(b.Context, time.Minute)
	defer cancel()
	if err := chromedp.Do(ctx, actions...); err != nil {
		t.Fatal(err)
	}
}

// value evaluates a JavaScript expression.
func value[T any](t *testing.T, b *tab, expression string) T {
	t.Helper()
	v, err := chromedp.Run(b.Context, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// open loads a page of the gateway.
func (b *tab) open(t *testing.T, path string) {
	t.Helper()
	b.navigate(t, b.url+path)
}

func (b *tab) navigate(t *testing.T, address string) {
	t.Helper()
	b.run(t, chromedp.Navigate(address), chromedp.WaitReady(chromedp.CSS("main")))
}

// text returns what an element shows.
func (b *tab) text(t *testing.T, selector string) string {
	t.Helper()
	text, err := chromedp.Run(b.Context, chromedp.Text(chromedp.CSS(selector)))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// wait waits until a JavaScript expression holds, on this page or on one that the browser has gone to meanwhile: a
// page that is left ends the polls that were begun on it with an error.
func (b *tab) wait(t *testing.T, what, expression string) {
	t.Helper()
	for begun := time.Now(); ; {
		_, err := chromedp.Run(b.Context, chromedp.Poll[chromedp.Void](expression))
		if err == nil {
			return
		}
		if time.Since(begun) > 10*time.Second {
			t.Fatalf("not %s: %v\n%s", what, err, b.text(t, "body"))
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// quiet fails the test if a request has left for elsewhere, a script has failed or a dialog was opened.
func (b *tab) quiet(t *testing.T, where string) {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, r := range b.requests {
		if !strings.HasPrefix(r, b.url+"/") && !strings.HasPrefix(r, "file:///") && !strings.HasPrefix(r, "data:") {
			t.Errorf("%s: a request for %.200s", where, r)
		}
	}
	if len(b.dialogs)+len(b.errors) > 0 {
		t.Errorf("%s: dialogs %q, errors %q", where, b.dialogs, b.errors)
	}
	b.requests, b.dialogs, b.errors = nil, nil, nil
}

// axeDigest is that of axe.min.js of the npm package axe-core 4.14.1 (MPL-2.0), which only tests use.
const axeDigest = "29348999450cdf2849a8e70b7912fc2da85a849da39c0d0d5394f51d4a9ed95c"

var axe = sync.OnceValue(func() string {
	f, err := os.Open("testdata/axe.min.js.gz")
	if err != nil {
		panic(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		panic(err)
	}
	b, err := io.ReadAll(z)
	if sum := sha256.Sum256(b); err != nil || hex.EncodeToString(sum[:]) != axeDigest {
		panic(fmt.Sprintf("testdata/axe.min.js.gz: %v, digest %x", err, sum))
	}
	return string(b)
})

// accessible has axe look at the page; findings that are serious or critical fail the test.
func (b *tab) accessible(t *testing.T, where string) {
	t.Helper()
	value[int](t, b, axe()+`;0`)
	out := value[string](t, b, `axe.run(document).then(r => JSON.stringify(`+
		`r.violations.map(v => ({id: v.id, impact: v.impact, nodes: v.nodes.map(n => n.html + " " + n.failureSummary)}))))`)
	var found []struct {
		ID, Impact string
		Nodes      []string
	}
	if err := json.Unmarshal([]byte(out), &found); err != nil {
		t.Fatal(err)
	}
	for _, f := range found {
		if f.Impact == "serious" || f.Impact == "critical" {
			t.Errorf("%s: %s (%s): %.600q", where, f.ID, f.Impact, f.Nodes)
		}
	}
}

// fits fails the test if the page is wider than the window, or something covers it.
func (b *tab) fits(t *testing.T, where string) {
	t.Helper()
	problem := value[string](t, b, `(() => {
		const wide = document.documentElement.scrollWidth - document.documentElement.clientWidth;
		if (wide > 1) {
			const r = [...document.querySelectorAll("main *")].filter(e => !e.closest(".scroll, pre, svg, .prose") &&
				e.getBoundingClientRect().right > document.documentElement.clientWidth + 1).map(e => e.outerHTML.slice(0, 120));
			return "the page is " + wide + " pixels too wide: " + r.slice(-1);
		}
		const nav = document.querySelector("header nav"), main = document.querySelector("main");
		if (nav && nav.getBoundingClientRect().bottom > main.getBoundingClientRect().top + 1) return "the navigation is covered";
		for (const e of document.querySelectorAll("main *")) {
			if (["fixed", "sticky"].includes(getComputedStyle(e).position) && e.tagName != "TH") return "it floats: " + e.outerHTML.slice(0, 200);
		}
		return "";
	})()`)
	if problem != "" {
		t.Errorf("%s: %s", where, problem)
	}
}

// look is how a page is looked at.
type look struct {
	name          string
	width, height int64
	dark          bool
}

var looks = []look{{"light", 1280, 900, false}, {"dark", 1280, 900, true}, {"phone", 390, 844, false}}

// set makes the browser look at pages in this way.
func (b *tab) set(t *testing.T, l look) {
	t.Helper()
	scheme := "light"
	if l.dark {
		scheme = "dark"
	}
	b.run(t, chromedp.EmulateViewport(l.width, l.height))
	command(t, b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
}

// picture saves what the browser shows, where the variable SYNOD_SCREENSHOTS names a folder.
func (b *tab) picture(t *testing.T, name string) {
	t.Helper()
	folder := os.Getenv("SYNOD_SCREENSHOTS")
	if folder == "" {
		return
	}
	png, err := chromedp.Run(b.Context, chromedp.CaptureScreenshot())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, name+".png"), png, 0o600); err != nil {
		t.Fatal(err)
	}
}
