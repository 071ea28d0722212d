package plan

import (
	"fmt"
	"maps"
	"strings"
	"testing"
)

// The query of a URL may hold a key. Records name an environment variable in its place, and
// whoever has the queries gets the spec back.
func TestQueriesAreNotRecorded(t *testing.T) {
	model := func(url string) Params { return Params{"provider": "openai", "url": url} }
	spec := Spec{Models: map[string]Params{
		"a": model("https://x.example/v1?key=secret&v=2"), "b": model("https://y.example/v1"),
		"c": model("https://z.example/v1#part?no=query"), "m-é.9z": model("https://x.example/?k=1#part"),
		"d": {"provider": "simulated"},
	}}
	shown := spec.WithoutQueries()
	for name, want := range map[string][2]string{
		"a": {"https://x.example/v1", "SYNOD_QUERY_a"}, "b": {"https://y.example/v1", ""},
		"c": {"https://z.example/v1#part?no=query", ""}, "m-é.9z": {"https://x.example/",
			"SYNOD_QUERY_m_2D_C3_A9_2E9z"},
		"d": {"", ""},
	} {
		url, _ := shown.Models[name]["url"].(string)
		env, _ := shown.Models[name]["query_env"].(string)
		if url != want[0] || env != want[1] {
			t.Errorf("%s: %q, %q; want %q", name, url, env, want)
		}
	}
	if spec.Models["a"]["url"] != "https://x.example/v1?key=secret&v=2" {
		t.Error("the spec itself was changed")
	}
	queries := spec.Queries()
	if want := map[string]string{"SYNOD_QUERY_a": "key=secret&v=2", "SYNOD_QUERY_m_2D_C3_A9_2E9z": "k=1"}; !maps.Equal(
		queries, want) {
		t.Errorf("the queries are %v, want %v", queries, want)
	}
	back := shown.WithQueries(queries)
	for name, want := range map[string]string{"a": "https://x.example/v1?key=secret&v=2", "b": "https://y.example/v1",
		"m-é.9z": "https://x.example/?k=1"} {
		_, left := back.Models[name]["query_env"]
		if got := back.Models[name]["url"]; got != want || left {
			t.Errorf("%s is %v again, with query_env %v; want %s", name, got, left, want)
		}
	}
	if _, kept := shown.Models["a"]["query_env"]; !kept {
		t.Error("the recorded spec was changed")
	}
	// A record from elsewhere gets no query for another variable than its model's.
	shown.Models["b"]["query_env"] = "SYNOD_QUERY_a"
	if back := shown.WithQueries(queries); back.Models["b"]["url"] != "https://y.example/v1" {
		t.Errorf("model b got the query of model a: %v", back.Models["b"])
	}
	if back := shown.WithQueries(nil); back.Models["a"]["url"] != "https://x.example/v1" {
		t.Errorf("without queries: %v", back.Models["a"])
	}
}

// What people see of a spec has no password and no path of a webhook, and leaves other addresses as they are written.
func TestShown(t *testing.T) {
	model := func(url string) Params { return Params{"provider": "openai", "url": url} }
	spec := Spec{Models: map[string]Params{
		"a": model("http://u:secret@x.example/v1?k=secret"), "b": model("u:secret@y.example/v1"),
		"c": model("127.0.0.1:8000/v1"), "d": model("http://u:secret@z.example/v1"),
	}}
	spec.Breakers.Escalate.Webhook = "https://u:secret@hooks.example/secret?t=secret"
	shown := spec.Shown()
	if text := fmt.Sprint(shown); strings.Contains(text, "secret") {
		t.Error(text)
	}
	if shown.Models["c"]["url"] != "127.0.0.1:8000/v1" || shown.Models["d"]["url"] != "http://z.example/v1" ||
		shown.Breakers.Escalate.Webhook != "https://hooks.example/…" {
		t.Errorf("%v", shown)
	}
	if spec.Models["d"]["url"] != "http://u:secret@z.example/v1" {
		t.Error("the spec itself was changed")
	}
}
