package main

import (
	"encoding/json"
	"io"
	"io/fs"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"synod.dev/synod/internal/canary"
)

// No secret leaves the gateway: not in an answer or an error of any API, a page, the metrics, a trace, the log, its
// commands, or a file that it writes. The control shows that each of these outputs quotes the servers of models.
func TestCanaries(t *testing.T) {
	for _, control := range []bool{false, true} {
		secrets := canary.All()
		if control {
			secrets = secrets.Backwards()
		}
		found := map[string]bool{}
		for output, texts := range gatewayOutputs(t, control) {
			for _, text := range texts {
				if places := secrets.In([]byte(text)); len(places) > 0 {
					if found[output] = true; !control {
						t.Errorf("%s: has the secrets of %q:\n%.1000s", output, places, text)
					}
				}
			}
			if len(texts) == 0 {
				t.Errorf("no %s", output)
			}
		}
		for _, output := range []string{"chat", "responses", "messages", "page", "trace", "log", "file"} {
			if control && !found[output] {
				t.Errorf("control: the %s quotes nothing of the server, so this test says little of it", output)
			}
		}
	}
}

// gatewayOutputs asks councils with secrets everywhere, and returns what a gateway puts out, by kind.
func gatewayOutputs(t *testing.T, control bool) map[string][]string {
	t.Helper()
	up := httptest.NewServer(canary.Server(control))
	defer up.Close()
	collects := &collected{}
	otlp := httptest.NewServer(collects)
	defer otlp.Close()
	for name, value := range canary.Environment(up.URL) {
		t.Setenv(name, value)
	}
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", otlp.URL)
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "authorization=c4nary-openai-key")
	t.Setenv(captures, "true")
	dir := t.TempDir()
	councils := filepath.Join(dir, "councils")
	if err := os.Mkdir(councils, 0o700); err != nil {
		t.Fatal(err)
	}
	own := map[string]bool{}
	for _, c := range canary.Councils(up.URL) {
		file := filepath.Join(councils, c.Name+".yaml")
		own[file] = true
		if err := os.WriteFile(file, []byte(c.Text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	common := []string{"--home", dir, "--store", filepath.Join(dir, "serve.db")}
	g := startGateway(t, "", append([]string{"-v", "--councils", councils, "--metrics", "127.0.0.1:0"}, common...)...)
	all := map[string][]string{}
	askCanaries(t, g, all)
	readPages(t, g, all)
	all["metrics"] = []string{get(t, http.DefaultClient, regexp.MustCompile(`metrics on (\S+)`).
		FindStringSubmatch(g.log.String())[1])}
	http.DefaultClient.CloseIdleConnections()
	g.end(15)
	all["log"] = []string{g.log.String()}
	collects.mu.Lock()
	all["trace"] = []string{collects.bodies.String()}
	collects.mu.Unlock()
	for _, args := range [][]string{{"keys", "list"}, {"labels", "list"}, {"backup", filepath.Join(dir, "copy")}} {
		_, out, errs := command(t, append(append([]string{"serve"}, args...), common...)...)
		all["command"] = append(all["command"], out+errs)
	}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || own[path] || strings.Contains(path, "owner.key") {
			return err
		}
		text, err := os.ReadFile(path)
		all["file"] = append(all["file"], path+"\n"+string(text))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// askCanaries asks every council by every API, and a model of each alone.
func askCanaries(t *testing.T, g *gatewayProcess, all map[string][]string) {
	t.Helper()
	const question = `[{"role": "user", "content": "What is 17 + 25?"}]`
	for _, c := range canary.Councils("") {
		for _, model := range []string{c.Name, "solo:" + c.Name + "/m"} {
			for api, body := range map[string]string{"chat": `, "messages": ` + question,
				"responses": `, "input": ` + question, "messages": `, "max_tokens": 100, "messages": ` + question} {
				for _, stream := range []string{"", `, "stream": true`} {
					path := map[string]string{"chat": "/v1/chat/completions"}[api]
					if path == "" {
						path = "/v1/" + api
					}
					res, err := http.Post(g.url+path, "application/json", strings.NewReader(`{"model": "`+model+`"`+body+
						stream+"}"))
					if err != nil {
						t.Fatal(err)
					}
					all[api] = append(all[api], read(t, res))
				}
			}
		}
	}
	all["models"] = []string{get(t, http.DefaultClient, g.url+"/v1/models"), get(t, http.DefaultClient,
		g.url+"/readyz")}
}

// readPages reads every page that a link leads to, as the owner. What the owner edits is the owner's own file.
func readPages(t *testing.T, g *gatewayProcess, all map[string][]string) {
	t.Helper()
	jar, _ := cookiejar.New(nil) // it never fails without options
	owner := &http.Client{Jar: jar}
	defer owner.CloseIdleConnections()
	queue := []string{strings.TrimPrefix(regexp.MustCompile(`page of its owner: (\S+)`).
		FindStringSubmatch(g.log.String())[1], g.url), "/history", "/keys", "/doctor", "/councils"}
	seen := map[string]bool{}
	link := regexp.MustCompile(`(?:href|src|action)="(/[^"]*)"`)
	for k := 0; k < len(queue) && k < 400; k++ {
		path := strings.ReplaceAll(queue[k], "&amp;", "&")
		if seen[path] || strings.HasSuffix(path, "/edit") || strings.Contains(path, "/events") {
			continue
		}
		seen[path] = true
		text := get(t, owner, g.url+path)
		all["page"] = append(all["page"], path+"\n"+text)
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			queue = append(queue, m[1])
		}
	}
}

func get(t *testing.T, c *http.Client, url string) string {
	t.Helper()
	res, err := c.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	return read(t, res)
}

// read returns the status, the headers and the body of a response.
func read(t *testing.T, res *http.Response) string {
	t.Helper()
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	head, _ := json.Marshal(res.Header)
	return res.Status + "\n" + string(head) + "\n" + string(b)
}
