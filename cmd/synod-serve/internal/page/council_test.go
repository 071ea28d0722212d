package page

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"synod.dev/synod/cmd/synod-serve/internal/gateway"
	"synod.dev/synod/cmd/synod-serve/internal/store"
)

// chat puts a question to a model by the API.
func (h *house) chat(t *testing.T, model string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, h.url+"/v1/chat/completions",
		strings.NewReader(`{"model": "`+model+`", "messages": [{"role": "user", "content": "What is 17 + 25?"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	h.do(t, req)
}

// wants reports which texts a page lacks.
func (s seen) wants(t *testing.T, status int, texts ...string) {
	t.Helper()
	if s.StatusCode != status {
		t.Errorf("%s: %s, want %d", s.Request.URL, s.Status, status)
	}
	for _, text := range texts {
		if !strings.Contains(s.body, text) {
			t.Errorf("%s lacks %q", s.Request.URL, text)
		}
	}
}

// nowhere is the address of a server that does not answer. The port is bound, so that no other test gets it, and nobody
// listens there, so that connections are refused.
func nowhere(t *testing.T) string {
	t.Helper()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Close(fd) })
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	at, err := syscall.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint("127.0.0.1:", at.(*syscall.SockaddrInet4).Port)
}

// paid is a council whose model has a price, at a server that does not answer.
const paid = `protocol: {name: sac, rounds: 2}
graph: {family: merg}
f: 1
models: {stub: {provider: openai, url: "http://NOWHERE/v1", model: stub, attempts: 1, max_tokens: 100},
  other: {provider: openai, url: "http://NOWHERE/v1", model: gpt-4-unpriced, attempts: 1}}
seats: [{id: s, model: stub, count: 4}, {id: o, model: other}]
`

// TestCouncilPage: a council's page has its graph, its claim, the cost of a question with unknown prices as unknown,
// and how its models are.
func TestCouncilPage(t *testing.T) {
	server := nowhere(t)
	h := open(t, map[string]string{"dice": dice, "paid": strings.ReplaceAll(paid, "NOWHERE", server),
		"broken": "seets: []\n"})
	h.get(t, "/councils").wants(t, 200, "dice", "paid", "unknown key", "did you mean", "not served", "no reply yet",
		"New council")
	h.get(t, "/councils/dice").wants(t, 200, "<svg", `role="img"`, "Who hears whom", "all others", "nothing (no member",
		"calls nobody", "4.3", "at most")
	page := h.get(t, "/councils/paid")
	page.wants(t, 200, "unknown for other", "not called yet", "expected", "worst", server, "/doctor?")
	h.get(t, "/councils/broken").wants(t, 200, "unknown key", "it is not served", "/councils/broken/edit")
	h.get(t, "/councils/nothing").wants(t, 404, "There is no council nothing")
	h.post(t, "/councils/paid/check", "csrf", page.token(t)).wants(t, 200, "What the servers answered", "unavailable",
		"start the server")
	h.chat(t, "paid")
	h.get(t, "/councils/paid").wants(t, 200, "Last failures of stub", "unavailable", "1, 1 without an answer")
	for range 2 { // a run gives a model up at its first refused call, and three in a row are needed
		h.chat(t, "paid")
	}
	h.get(t, "/councils/paid").wants(t, 200, "not called until")
	h.get(t, "/councils").wants(t, 200, "not called now: stub")
}

// TestCouncilRights: a key sees the councils that it may use; only one made for it changes files.
func TestCouncilRights(t *testing.T) {
	h := open(t, map[string]string{"dice": dice, "other": dice}, func(o *gateway.Options) { o.NeedKey = true })
	h.login(t, h.key(t, store.Key{Name: "some", Councils: []string{"dice"}}))
	list := h.get(t, "/councils")
	list.wants(t, 200, "/councils/dice", "may not change council files", "--admin")
	if strings.Contains(list.body, "/councils/other") || strings.Contains(list.body, "New council") {
		t.Error("the list shows what the key may not use")
	}
	h.get(t, "/councils/other").wants(t, 404)
	token := h.get(t, "/councils/dice").token(t)
	for _, path := range []string{"/councils/dice/edit", "/councils/-/new"} {
		h.get(t, path).wants(t, 403, "--admin")
		h.post(t, path, "csrf", token, "do", "save", "name", "x", "text", dice).wants(t, 403, "--admin")
	}
	h.post(t, "/councils/-/check", "csrf", token, "text", dice).wants(t, 403)
	h.post(t, "/councils/dice/check", "csrf", token).wants(t, 403)
	h.login(t, h.key(t, store.Key{Name: "boss", Admin: true}))
	h.get(t, "/councils/other/edit").wants(t, 200, "count: 5")
	h.post(t, "/councils/-/check", "text", dice).wants(t, 403, "out of date")
}

// disk is the text of a council file.
func (h *house) disk(t *testing.T, id string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(h.dir, id+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// field is the value of a hidden field of a page.
func (s seen) field(t *testing.T, name string) string {
	t.Helper()
	_, rest, ok := strings.Cut(s.body, `name="`+name+`" value="`)
	if !ok {
		t.Fatalf("there is no field %s in %s", name, s.body)
	}
	value, _, _ := strings.Cut(rest, `"`)
	return value
}

// TestEditor: a mistake is shown with its line and is not saved; a good text is saved and served at once; what
// somebody else has saved meanwhile is shown and not lost.
func TestEditor(t *testing.T) {
	h := open(t, map[string]string{"dice": dice})
	page := h.get(t, "/councils/dice/edit")
	page.wants(t, 200, "council: dice", "Dry run", "Guarantee 4.3", "votes are not independent")
	token, was := page.token(t), page.field(t, "was")
	bad := strings.Replace(dice, "rounds: 2", "rounds: two", 1)
	for _, do := range []string{"check", "save"} {
		status := map[string]int{"check": 200, "save": 422}[do]
		h.post(t, "/councils/dice/edit", "csrf", token, "was", was, "text", bad, "do", do).wants(t, status, "line 2",
			"rounds: two", "<mark>")
	}
	if h.disk(t, "dice") != dice {
		t.Error("a text with a mistake was saved")
	}
	good := strings.Replace(dice, "count: 5", "count: 7", 1)
	saved := h.post(t, "/councils/dice/edit", "csrf", token, "was", was, "text",
		strings.ReplaceAll(good, "\n", "\r\n"), "do", "save")
	saved.wants(t, 200, "d7")
	if h.disk(t, "dice") != good || saved.Request.URL.Path != "/councils/dice" {
		t.Errorf("%s: %q", saved.Request.URL, h.disk(t, "dice"))
	}
	theirs := strings.Replace(dice, "count: 5", "count: 9", 1)
	if err := os.WriteFile(filepath.Join(h.dir, "dice.yaml"), []byte(theirs), 0o600); err != nil {
		t.Fatal(err)
	}
	clash := h.post(t, "/councils/dice/edit", "csrf", token, "was", digestOf([]byte(good)), "text", dice, "do", "save")
	clash.wants(t, 409, "was changed since you opened it", "count: 9", "count: 5", "Save over it")
	if h.disk(t, "dice") != theirs {
		t.Error("the change of somebody else was lost")
	}
	h.post(t, "/councils/dice/edit", "csrf", token, "was", was, "do", "delete").wants(t, 409, "not deleted")
	h.post(t, "/councils/dice/edit", "csrf", token, "was", clash.field(t, "was"), "text", dice, "do",
		"save").wants(t, 200)
	if h.disk(t, "dice") != dice {
		t.Error("the text was not saved over the other one")
	}
	h.post(t, "/councils/-/check", "csrf", token, "text", bad).wants(t, 200, "A mistake", "line 2")
	h.post(t, "/councils/dice/edit", "csrf", token, "was", was, "do", "delete").wants(t, 200)
	if _, err := os.Stat(filepath.Join(h.dir, "dice.yaml")); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	h.get(t, "/councils/dice").wants(t, 404)
	if left, err := os.ReadDir(h.dir); err != nil || len(left) > 0 {
		t.Errorf("%v is left, %v", left, err)
	}
	if !strings.Contains(h.log.String(), "council file saved on the page") {
		t.Error("the log does not say who saved a file")
	}
}

// TestNewCouncil: every text to begin with has no mistake; names are strict, and no file is overwritten.
func TestNewCouncil(t *testing.T) {
	h := open(t, map[string]string{"dice": dice})
	for _, s := range starters {
		page := h.get(t, "/councils/-/new?from="+s.Name)
		page.wants(t, 200, "Guarantee 4.3", "Dry run")
	}
	page := h.get(t, "/councils/-/new?graph=0+1%0A1+2%0A2+0%0A")
	page.wants(t, 200, "edges: [[0, 1], [0, 2], [1, 2]]", "count: 3")
	h.get(t, "/councils/-/new?copy=dice").wants(t, 200, "ability: 0.9")
	token := page.token(t)
	for _, name := range []string{"", "../up", "a/b", "a.b", "UPPER", ".hidden", "-x", "a\x00", "CON", "ü",
		strings.Repeat("a", 65), "dice.yaml", "a b"} {
		h.post(t, "/councils/-/new", "csrf", token, "name", name, "text", dice, "do", "save").wants(t, 422,
			"1 to 64 of")
	}
	h.post(t, "/councils/-/new", "csrf", token, "name", "dice", "text", dice, "do", "save").wants(t, 409,
		"There is a council file dice.yaml")
	h.post(t, "/councils/-/new", "csrf", token, "name", "fresh-1", "text", dice, "do", "check").wants(t, 200, "Dry run")
	h.post(t, "/councils/-/new", "csrf", token, "name", "fresh-1", "text", dice, "do", "save").wants(t, 200,
		"Council fresh-1")
	if h.disk(t, "fresh-1") != dice {
		t.Error(h.disk(t, "fresh-1"))
	}
	if left, _ := os.ReadDir(h.dir); len(left) != 2 {
		t.Errorf("%v", left)
	}
}

// TestCouncilFiles: nothing outside the folder is read or written, whatever a name or a link says.
func TestCouncilFiles(t *testing.T) {
	dir, outside := t.TempDir(), filepath.Join(t.TempDir(), "secret.yaml")
	if err := os.WriteFile(outside, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(dir, "link.yaml")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "folder.yaml"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"link", "folder"} {
		if f, err := readCouncil(dir, id); !errors.Is(err, errNotPlain) {
			t.Errorf("%s: %q, %v", id, f.Text, err)
		}
		if err := writeCouncil(dir, id, "mine", ""); err == nil {
			t.Errorf("%s was written", id)
		}
		if err := removeCouncil(dir, id, ""); err == nil {
			t.Errorf("%s was removed", id)
		}
	}
	if f, err := readCouncil(dir, "../"+filepath.Base(filepath.Dir(outside))+"/secret"); err == nil {
		t.Errorf("%q was read", f.Text)
	}
	if b, err := os.ReadFile(outside); err != nil || string(b) != "secret" {
		t.Errorf("%q, %v", b, err)
	}
	if err := writeCouncil(dir, "a", "one", ""); err != nil {
		t.Fatal(err)
	}
	var changed *changedError
	if err := writeCouncil(dir, "a", "two", ""); !errors.As(err, &changed) || changed.now.Text != "one" {
		t.Errorf("a file that exists: %v", err)
	}
	if err := os.Chmod(filepath.Join(dir, "a.yaml"), 0o640); err != nil {
		t.Fatal(err)
	}
	if err := writeCouncil(dir, "a", "two", digestOf([]byte("one"))); err != nil {
		t.Error(err)
	}
	if info, err := os.Stat(filepath.Join(dir, "a.yaml")); err != nil || info.Mode().Perm() != 0o640 {
		t.Error(info.Mode(), err)
	}
	if err := writable(filepath.Join(dir, "none")); err == nil {
		t.Error("a folder that does not exist can be written")
	}
}

// TestHostileCouncil: names and mistakes in a council file are texts and nothing else.
func TestHostileCouncil(t *testing.T) {
	const payload = `<img src=x onerror=alert(1)>`
	hostile := `council: "` + payload + `"
protocol: {name: sac, rounds: 2}
models: {"` + payload + `": {provider: openai, url: "http://127.0.0.1:1/v1", model: "` + payload + `", attempts: 1}}
seats: [{id: "\"><b>x", model: "` + payload + `", group: "</text></svg><script>alert(2)</script>", count: 5}]
`
	h := open(t, map[string]string{"hostile": hostile, "broken": `"` + payload + `": 1`})
	h.chat(t, "hostile")
	for _, path := range []string{"/councils", "/councils/hostile", "/councils/hostile/edit", "/councils/broken",
		"/councils/broken/edit", "/councils/-/new?copy=hostile", "/councils/" + "%3Cscript%3E"} {
		got := h.get(t, path)
		for _, bad := range []string{"<img", "<b>x", "<script>alert"} {
			if strings.Contains(got.body, bad) {
				t.Errorf("%s has %q", path, bad)
			}
		}
	}
}

// TestDraftCost: the dry run of a text has the cost of its own models, not of a text with the same plan.
func TestDraftCost(t *testing.T) {
	h := open(t, map[string]string{"dice": dice})
	token := h.get(t, "/councils/-/new").token(t)
	text := strings.Replace(strings.ReplaceAll(paid, "NOWHERE", "127.0.0.1:1"), "model: gpt-4-unpriced", "model: stub",
		1)
	known := h.post(t, "/councils/-/check", "csrf", token, "text", text)
	known.wants(t, 200, "Dry run", "$0.")
	if strings.Contains(known.body, "unknown") {
		t.Error(known.body)
	}
	h.post(t, "/councils/-/check", "csrf", token, "text", strings.Replace(text, "model: stub,", "model: gpt-4-other,",
		1)).wants(t, 200, "unknown for stub", "The price of a model is not known")
}
