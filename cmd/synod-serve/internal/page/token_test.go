package page

import (
	"net/http"
	"net/http/cookiejar"
	"strings"
	"testing"
)

// Another user of the machine, who reaches the loopback address and has no token, sees nothing of the page and changes
// no council; the owner comes in by the address that was printed, or by the form.
func TestOwnersToken(t *testing.T) {
	h := open(t, map[string]string{"dice": dice})
	h.page.o.Token = "tok-123"
	const evil = "council: evil\nmodels: {m: {provider: openai, url: \"http://127.0.0.1:1\", model: x, key_env: " +
		"OPENAI_API_KEY}}\nseats: [{id: a, model: m, count: 3}]\n"
	for _, path := range []string{"/", "/history", "/councils", "/councils/dice", "/councils/dice/edit", "/keys",
		"/?token=x"} {
		if got := h.get(t, path); got.Request.URL.Path != "/login" || strings.Contains(got.body, "simulated") {
			t.Errorf("%s leads to %s", path, got.Request.URL)
		}
	}
	for _, path := range []string{"/councils/dice/edit", "/councils/-/new", "/councils/-/check", "/ask"} {
		got := h.post(t, path, "csrf", h.page.local, "name", "evil", "do", "save", "text", evil)
		if got.StatusCode != http.StatusUnauthorized && got.StatusCode != http.StatusNotFound {
			t.Errorf("%s: %d", path, got.StatusCode)
		}
	}
	if got := h.get(t, "/councils?token=tok-123"); got.StatusCode != 200 || got.Request.URL.RawQuery != "" ||
		!strings.Contains(got.body, "dice") {
		t.Errorf("the owner gets %d at %s", got.StatusCode, got.Request.URL)
	}
	h.viewer.Jar, _ = cookiejar.New(nil)
	if got := h.login(t, "tok-124"); got.StatusCode != 401 {
		t.Errorf("a wrong token: %d", got.StatusCode)
	}
	if got := h.login(t, "tok-123"); got.StatusCode != 200 || !strings.Contains(h.get(t, "/councils").body, "dice") {
		t.Errorf("the form: %d", got.StatusCode)
	}
}

// The page makes no dry run of a council that would take gigabytes.
func TestDryRunIsBounded(t *testing.T) {
	h := open(t, map[string]string{"dice": dice})
	csrf := h.get(t, "/councils/dice/edit").token(t)
	for _, count := range []string{"101", "16384"} {
		text := strings.Replace(dice, "count: 5", "count: "+count, 1)
		got := h.post(t, "/councils/dice/edit", "csrf", csrf, "do", "save", "text", text)
		if !strings.Contains(got.body, "more than 100 seats") || len(got.body) > 100_000 {
			t.Errorf("%s seats: %d, %d bytes", count, got.StatusCode, len(got.body))
		}
	}
	if got := h.post(t, "/councils/dice/edit", "csrf", csrf, "do", "check", "text",
		strings.Replace(dice, "count: 5", "count: 100", 1)); strings.Contains(got.body, "more than 100 seats") {
		t.Error("100 seats are too many")
	}
}
