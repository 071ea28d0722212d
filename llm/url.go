package llm

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"regexp"
	"strings"
)

var (
	version = regexp.MustCompile(`^v[0-9]+([a-z]+[0-9]*)?$`) // a path segment such as v1 or v1beta
	scheme  = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9+.-]*://`)
)

// normalizeURL returns the base URL of an OpenAI-compatible API: /v1 is added
// unless the path already names a version, a trailing /chat/completions is
// removed, and 0.0.0.0, where a server listens, becomes loopback, where it can be
// reached. No error quotes the URL, which may contain a password.
func normalizeURL(raw string) (string, error) { return normalizeAPI(raw, "v1", "/chat/completions") }

// normalizeAPI does the same for an API with another version and path of completions.
func normalizeAPI(raw, standard, completions string) (string, error) {
	raw = strings.TrimSpace(raw)
	if !scheme.MatchString(raw) {
		return "", errors.New("llm: url: it does not begin with http:// or https:// (example: " +
			"http://127.0.0.1:8000/v1)")
	}
	u, err := url.Parse(raw)
	if err != nil || u.Hostname() == "" {
		return "", errors.New("llm: url: cannot be read as a URL")
	}
	if u.Scheme != "http" && u.Scheme != "https" {
		return "", fmt.Errorf("llm: url: scheme %q is neither http nor https", u.Scheme)
	}
	u.Fragment, u.RawFragment, u.RawPath = "", "", ""
	u.Host = reachable(u.Hostname(), u.Port())
	u.Path = strings.TrimSuffix(strings.TrimRight(u.Path, "/"), completions)
	if !versioned(u.Path) {
		u.Path += "/" + standard
	}
	return u.String(), nil
}

func versioned(path string) bool {
	for part := range strings.SplitSeq(path, "/") {
		if version.MatchString(part) {
			return true
		}
	}
	return false
}

// reachable joins host and port; an unspecified address becomes loopback.
func reachable(host, port string) string {
	if a, err := netip.ParseAddr(host); err == nil && a.IsUnspecified() {
		host = "127.0.0.1"
		if a.Is6() && !a.Is4In6() {
			host = "::1"
		}
	}
	if port == "" && strings.Contains(host, ":") {
		return "[" + host + "]"
	}
	if port == "" {
		return host
	}
	return net.JoinHostPort(host, port)
}

// OllamaURL returns the base URL for a value of OLLAMA_HOST, which it reads as
// Ollama does: scheme, host and port may each be missing (http, loopback, 11434; a
// scheme without a port means that scheme's default port). It fails if the value
// is none of these.
func OllamaURL(host string) (string, error) {
	host = strings.Trim(strings.TrimSpace(host), `"'`)
	bare := !scheme.MatchString(host)
	if bare {
		host = "http://" + host
	}
	u, err := url.Parse(host)
	if err != nil {
		return "", errors.New("llm: OLLAMA_HOST: cannot be read as host, host:port or URL")
	}
	name, port := u.Hostname(), u.Port()
	if name == "" {
		name = "127.0.0.1"
	}
	if bare && port == "" {
		port = "11434"
	}
	u.Host = reachable(name, port)
	return normalizeURL(u.String())
}

// StripURL returns scheme, host and path of a URL, which may be shown, without
// credentials and query.
func StripURL(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return "(unreadable url)"
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}

// Site returns scheme and host of a URL, which may be shown where the path may hold a secret too, as that of a webhook.
func Site(raw string) string {
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" {
		return "(unreadable url)"
	}
	return u.Scheme + "://" + u.Host + "/…"
}
