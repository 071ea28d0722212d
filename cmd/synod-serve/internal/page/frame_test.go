package page

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"synod.dev/synod/cmd/synod-serve/internal/gateway"
	"synod.dev/synod/cmd/synod-serve/internal/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestVendored compares the files of others with their digests in VENDORED.
func TestVendored(t *testing.T) {
	list, err := os.ReadFile("static/VENDORED")
	if err != nil {
		t.Fatal(err)
	}
	lines := regexp.MustCompile(`(?m)^(\S+) .* sha256 ([0-9a-f]{64})$`).FindAllStringSubmatch(string(list), -1)
	known := map[string]string{"page.css": "ours", "operate.css": "ours", "doctor.js": "ours", "page.js": "ours"}
	for _, l := range lines {
		known[l[1]] = l[2]
	}
	files, err := filepath.Glob("static/*.*")
	icons, _ := filepath.Glob("static/icons/*") // the pattern is right
	if files = append(files, icons...); err != nil || len(files) < 12 {
		t.Fatal(err, files)
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(b)
		switch want := known[filepath.Base(f)]; want {
		case "ours", hex.EncodeToString(sum[:]):
		default:
			t.Errorf("%s has the digest %x; VENDORED says %q", f, sum, want)
		}
	}
}

// TestHeaders: the policy forbids inline script and style, and no template has one. Assets are found under their
// digest.
func TestHeaders(t *testing.T) {
	h := open(t, map[string]string{"dice": dice})
	page := h.get(t, "/")
	csp := page.Header.Get("Content-Security-Policy")
	for _, want := range []string{"default-src 'none'", "script-src 'self'", "connect-src 'self'",
		"frame-ancestors 'none'", "form-action 'self'", "base-uri 'none'"} {
		if !strings.Contains(csp, want) {
			t.Errorf("the policy %q lacks %q", csp, want)
		}
	}
	if strings.Contains(csp, "unsafe") || strings.Contains(csp, "*") || page.StatusCode != 200 {
		t.Error(page.Status, csp)
	}
	assets := regexp.MustCompile(`(?:src|href)="(/static/[^"]+)"`).FindAllStringSubmatch(page.body, -1)
	if len(assets) < 4 {
		t.Fatal(page.body)
	}
	for _, a := range assets {
		got := h.get(t, a[1])
		if got.StatusCode != 200 || !strings.Contains(got.Header.Get("Cache-Control"), "immutable") {
			t.Error(a[1], got.Status, got.Header)
		}
	}
	files, err := filepath.Glob("templates/*.html")
	if err != nil {
		t.Fatal(err)
	}
	inline := regexp.MustCompile(`(?i)\son[a-z]+=|\sstyle=|<style>[^{]|<script(?: defer)?>|javascript:`)
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if m := inline.Find(b); m != nil {
			t.Errorf("%s has %q", f, m)
		}
	}
	if got := h.get(t, "/no-such-page"); got.StatusCode != 404 || !strings.Contains(got.body, "There is no page") {
		t.Error(got.Status, got.body)
	}
	if got := h.get(t, "/v1/nothing"); got.StatusCode != 404 || got.Header.Get("Content-Type") != "application/json" {
		t.Error(got.Status, got.body)
	}
}

// TestLogin: where keys are needed, nothing is shown without a session; a session ends with a logout and with its
// key; posts need the token of the session, and the page of another site gets nothing.
func TestLogin(t *testing.T) {
	h := open(t, map[string]string{"dice": dice}, func(o *gateway.Options) { o.NeedKey = true })
	if got := h.get(t, "/"); got.Request.URL.Path != "/login" {
		t.Fatal(got.Request.URL, got.body)
	}
	if got := h.login(t, "sk-synod-wrong"); got.StatusCode != 401 || !strings.Contains(got.body, "not known") {
		t.Error(got.Status, got.body)
	}
	if got := h.post(t, "/login", "csrf", "wrong", "key", "x"); got.StatusCode != 403 {
		t.Error("a wrong token:", got.Status)
	}
	secret := h.key(t, store.Key{Name: "alice"})
	home := h.login(t, secret)
	if home.StatusCode != 200 || home.Request.URL.Path != "/" || !strings.Contains(home.body, "alice") {
		t.Fatal(home.Status, home.Request.URL, home.body)
	}
	c := home.Request.Response.Cookies()
	if len(c) != 1 || !c[0].HttpOnly || c[0].SameSite != http.SameSiteStrictMode ||
		strings.Contains(c[0].Value, secret) {
		t.Error(c)
	}
	if got := h.post(t, "/logout", "csrf", h.page.local); got.StatusCode != 403 {
		t.Error("the token of no session:", got.Status)
	}
	if got := h.post(t, "/logout", "csrf", home.token(t)); got.Request.URL.Path != "/login" {
		t.Error(got.Request.URL)
	}
	h.login(t, secret)
	if err := h.store.Revoke("alice"); err != nil {
		t.Fatal(err)
	}
	if got := h.get(t, "/"); got.Request.URL.Path != "/login" {
		t.Error("a revoked key:", got.Request.URL)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, h.url+"/login", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Host = "evil.example"
	if got := h.do(t, req); got.StatusCode != http.StatusMisdirectedRequest {
		t.Error("another name:", got.Status)
	}
	for path, want := range map[string]int{"/login": 200, "/v1/models": 403} { // a link of another site is followed
		req.Host, req.URL.Path = "", path
		req.Header = http.Header{"Sec-Fetch-Site": {"cross-site"}, "Sec-Fetch-Mode": {"navigate"},
			"Sec-Fetch-Dest": {"document"}}
		if got := h.do(t, req); got.StatusCode != want {
			t.Error(path, got.Status)
		}
		if req.Header.Set("Sec-Fetch-Dest", "iframe"); h.do(t, req).StatusCode != 403 {
			t.Error(path, "in a frame of another site")
		}
	}
	for to, want := range map[string]string{"/history?q=1": "/history?q=1", "//evil.example": "/", "https://x": "/",
		`/\evil`: "/"} {
		if got := ownPath(to); got != want {
			t.Errorf("%q: %q", to, got)
		}
	}
}
