package llm

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"log/slog"
	"net/netip"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

func TestNormalizeURL(t *testing.T) {
	for in, want := range map[string]string{
		"http://h:9000":                            "http://h:9000/v1",
		"http://h:9000/":                           "http://h:9000/v1",
		"http://h:9000/v1":                         "http://h:9000/v1",
		"http://h:9000/v1/":                        "http://h:9000/v1",
		" https://api.openai.com/v1 ":              "https://api.openai.com/v1",
		"https://openrouter.ai/api/v1":             "https://openrouter.ai/api/v1",
		"https://g.example/v1beta/openai":          "https://g.example/v1beta/openai",
		"https://h/openai":                         "https://h/openai/v1",
		"http://h/v1/chat/completions":             "http://h/v1/chat/completions"[:len("http://h/v1")],
		"http://0.0.0.0:8080":                      "http://127.0.0.1:8080/v1",
		"http://[::]:8080/v1":                      "http://[::1]:8080/v1",
		"https://h/v1?api-version=2024-10-21#frag": "https://h/v1?api-version=2024-10-21",
		"h:9000":                               "",
		"ftp://h":                              "",
		"http://":                              "",
		"":                                     "",
		"http://user:pass@h/chat/completions/": "http://user:pass@h/v1",
		"https://h/openai/deployments/m/v1preview2": "https://h/openai/deployments/m/v1preview2",
	} {
		got, err := normalizeURL(in)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v; want %q", in, got, err, want)
		}
		if again, _ := normalizeURL(got); want != "" && again != got {
			t.Errorf("%q: a second time %q", got, again)
		}
	}
}

func TestOllamaURL(t *testing.T) {
	for in, want := range map[string]string{
		"":                     "http://127.0.0.1:11434/v1",
		"0.0.0.0":              "http://127.0.0.1:11434/v1",
		"0.0.0.0:80":           "http://127.0.0.1:80/v1",
		":7000":                "http://127.0.0.1:7000/v1",
		"box":                  "http://box:11434/v1",
		"http://box":           "http://box/v1",
		"https://box:1":        "https://box:1/v1",
		`"http://0.0.0.0:5" `:  "http://127.0.0.1:5/v1",
		"http://box:11434/v1/": "http://box:11434/v1",
	} {
		if got, err := OllamaURL(in); got != want || err != nil {
			t.Errorf("%q: %q, %v; want %q", in, got, err, want)
		}
	}
}

func TestStripURL(t *testing.T) {
	if got := StripURL("https://u:p@h:1/v1?key=k#f"); got != "https://h:1/v1" {
		t.Error(got)
	}
}

// TestConnectOnlyTo is SC-10: what a name may lead to.
func TestConnectOnlyTo(t *testing.T) {
	for _, x := range []struct {
		host, address string
		ok            bool
	}{
		{"api.example", "93.184.216.34:443", true},
		{"api.example", "169.254.169.254:80", false},
		{"api.example", "127.0.0.1:80", false},
		{"api.example", "[::1]:80", false},
		{"api.example", "[::ffff:10.0.0.1]:80", false},
		{"api.example", "[::ffff:169.254.169.254]:80", false},
		{"api.example", "[fe80::1%eth0]:80", false},
		{"api.example", "[fd00::1]:80", false},
		{"api.example", "0.0.0.0:80", false},
		{"api.example", "100.100.100.200:80", false},
		{"0x7f.1", "127.0.0.1:80", false},
		{"localhost", "127.0.0.1:80", true},
		{"LOCALHOST", "[::1]:80", true},
		{"localhost", "10.0.0.1:80", false},
		{"127.0.0.1", "127.0.0.1:80", true},
		{"10.1.2.3", "10.1.2.3:80", true},
	} {
		err := connectOnlyTo(x.host)("tcp", x.address, nil)
		if (err == nil) != x.ok {
			t.Errorf("%s at %s: %v", x.host, x.address, err)
		}
	}
	if !public(netip.MustParseAddr("2606:4700::1111")) {
		t.Error("a public IPv6 address is refused")
	}
}

// TestSecret prints a key in every way that people print structs (SC-30).
func TestSecret(t *testing.T) {
	type inside struct {
		Key    Secret
		hidden Secret
	}
	v := inside{NewSecret(" " + canary + "\n"), NewSecret(canary)}
	var all strings.Builder
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%T", "%p", "%08.3f"} {
		fmt.Fprintf(&all, verb+"\n", v.Key)
		fmt.Fprintf(&all, verb+"\n", v)
		fmt.Fprintf(&all, verb+"\n", &v)
	}
	fmt.Fprintln(&all, v.Key, &v.Key, v, []Secret{v.Key}, map[string]Secret{"k": v.Key}, fmt.Errorf("x: %v", v.Key))
	b, err := json.Marshal(v)
	all.Write(b)
	x, err2 := xml.Marshal(v)
	all.Write(x)
	y, err3 := yaml.Marshal(v)
	all.Write(y)
	slog.New(slog.NewTextHandler(&all, nil)).Info("m", "key", v.Key, "v", v)
	slog.New(slog.NewJSONHandler(&all, nil)).Info("m", "key", v.Key, "v", v)
	if err != nil || err2 != nil || err3 != nil {
		t.Error(err, err2, err3)
	}
	for _, leak := range []string{"canary", fmt.Sprintf("%x", "canary"), fmt.Sprintf("%X", "canary")} {
		if strings.Contains(all.String(), leak) {
			t.Errorf("leaks: %s", all.String())
		}
	}
	if !strings.Contains(string(b), `"Key":"***"`) || !strings.Contains(string(y), "***") {
		t.Errorf("%s %s", b, y)
	}
	if v.Key.Reveal() != canary || !NewSecret(" \n").IsZero() || v.hidden.IsZero() {
		t.Error("the key itself is lost")
	}
}
