package gateway

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"synod.dev/synod/cmd/synod-serve/internal/store"
)

// A key whose prompts draw a 500 is refused for a while; another key is served by the same model.
func TestOnePromptBreaksNothing(t *testing.T) {
	up := newUpstream(t)
	poisoned := serveModel(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		if strings.Contains(string(b), "poison") {
			w.WriteHeader(500)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, up.whole)
	}))
	defer poisoned.Close()
	h := open(t, map[string]string{"seven": stubbed(poisoned.URL)}, func(o *Options) { o.NeedKey = true })
	hog, honest := h.key(t, store.Key{Name: "hog"}), h.key(t, store.Key{Name: "honest"})
	ask := func(key, text string) reply {
		return h.post(t, chats, questionBody("solo:stub", text), "Authorization", key)
	}
	for range 5 {
		ask(hog, "poison")
	}
	if r := ask(honest, "hi"); r.StatusCode != 200 {
		t.Errorf("another key: %d %s", r.StatusCode, r.body)
	}
	if r := ask(hog, "hi"); r.StatusCode != 503 || r.problem(t).Error.Code != "upstream_out_of_order" {
		t.Errorf("the same key: %d %s", r.StatusCode, r.body)
	}
	rows := h.rows(t)
	if held := rows["upstream_out_of_order"]; len(held) == 0 || held[0].Calls != 0 {
		t.Errorf("a request that did not leave counts as a call: %+v", held)
	}
	if failed := rows["upstream_error"]; len(failed) == 0 || failed[0].Calls != 1 {
		t.Errorf("a request that drew a failure is no call: %+v", failed)
	}
}
