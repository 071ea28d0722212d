package task

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"synod.dev/synod/internal/fetch"
)

const (
	rowsRevision = "0123456789abcdef0123456789abcdef01234567"
	otherCommit  = "89abcdef0123456789abcdef0123456789abcdef"
)

// viewer plays the API of the public hub: GET /rows with dataset, config, split, offset and length (at most 100).
type viewer struct {
	total    int
	revision string
	pages    []int                                                              // offsets that were asked for
	disturb  func(v *viewer, w http.ResponseWriter, offset int) (answered bool) // nil: never
	change   func(page map[string]any)                                          // nil: nothing
}

func (v *viewer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	offset, err := strconv.Atoi(q.Get("offset"))
	length, err2 := strconv.Atoi(q.Get("length"))
	if err != nil || err2 != nil || length > 100 || q.Get("dataset") != "google/boolq" ||
		q.Get("config") != "default" || q.Get("split") != "validation" {
		http.Error(w, `{"error": "Parameter is wrong"}`, http.StatusUnprocessableEntity)
		return
	}
	v.pages = append(v.pages, offset)
	if v.disturb != nil && v.disturb(v, w, offset) {
		return
	}
	var rows []map[string]any
	for i := offset; i < min(offset+length, v.total); i++ {
		rows = append(rows, map[string]any{"row_idx": i, "truncated_cells": []string{}, "row": map[string]any{
			"question": fmt.Sprintf("is %d\nodd", i), "answer": i%2 == 1, "passage": "Of <numbers>."}})
	}
	page := map[string]any{"features": []any{}, "rows": rows, "num_rows_total": v.total, "num_rows_per_page": 100,
		"partial": false}
	if v.change != nil {
		v.change(page)
	}
	w.Header().Set("X-Revision", v.revision)
	_ = json.NewEncoder(w).Encode(page)
}

// serve starts the viewer and returns an entry with its address: BoolQ with 250 rows.
func (v *viewer) serve(t *testing.T) Entry {
	t.Helper()
	e, err := Catalogue.Find("boolq")
	if err != nil {
		t.Fatal(err)
	}
	if v.total == 0 {
		v.total = 250
	}
	if v.revision == "" {
		v.revision = rowsRevision
	}
	_, query, _ := strings.Cut(e.Source.URL, "?")
	e.Source = Source{URL: hub(t, v.ServeHTTP) + "/rows?" + query,
		Rows: &Rows{"google/boolq", "default", "validation", rowsRevision, 250}}
	return e
}

// Rows are fetched in pages, each once, are found without --data, and are refused if they were changed.
func TestPullRows(t *testing.T) {
	s, v := toyStore(t), &viewer{}
	e := v.serve(t)
	var last, total int64
	var told []string
	o := PullOptions{Progress: func(d, n int64) { last, total = d, n },
		Notice: func(s string) { told = append(told, s) }}
	for range 2 {
		if err := s.Pull(context.Background(), e, o); err != nil {
			t.Fatal(err)
		}
	}
	if fmt.Sprint(v.pages) != "[0 100 200]" || last != 250 || total != 250 || s.State(e) != Here {
		t.Errorf("pages %v, progress %d of %d, %s", v.pages, last, total, s.State(e))
	}
	if all := strings.Join(told, "\n"); !strings.Contains(all,
		"boolq: 250 rows of revision "+rowsRevision+", SHA-256 ") ||
		!strings.Contains(all, "already there") {
		t.Error(all)
	}
	set, err := e.Open(Options{Pulled: s.Dir})
	if err != nil {
		t.Fatal(err)
	}
	items, err := set.Items()
	if err != nil || len(items) != 250 || items[3].key != "true" || items[3].Question.Text != "is 3\nodd?" {
		t.Errorf("%d items, %+v, %v", len(items), items[3], err)
	}
	data, err := os.ReadFile(s.file(e))
	if err != nil {
		t.Fatal(err)
	}
	write(t, s.file(e), strings.Replace(string(data), "true", "null", 1))
	if _, err := e.Open(Options{Pulled: s.Dir}); !errors.Is(err, fetch.ErrDigest) {
		t.Errorf("changed rows are read: %v", err)
	}
	write(t, s.file(e), "")
	if s.State(e) != Damaged {
		t.Errorf("it is %s", s.State(e))
	}
	write(t, s.file(e)+sumSuffix, "{")
	if _, err := e.Open(Options{Pulled: s.Dir}); !errors.Is(err, fetch.ErrDigest) || s.State(e) != Damaged {
		t.Errorf("with a broken record it is %s: %v", s.State(e), err)
	}
	if err := s.Pull(context.Background(), e, PullOptions{}); err != nil || e.verify(s.file(e)) != nil {
		t.Errorf("changed rows are not mended: %v", err)
	}
}

// A rate limit, a server that is not ready and a broken connection are waited for; the reasons are told.
func TestPullRowsWaits(t *testing.T) {
	s, tries := toyStore(t), 0
	v := &viewer{disturb: func(_ *viewer, w http.ResponseWriter, offset int) bool {
		tries++
		switch {
		case offset != 100:
			return false
		case tries == 2:
			w.Header().Set("Retry-After", "1")
			http.Error(w, "slow down", http.StatusTooManyRequests)
		case tries == 3:
			w.Header().Set("X-Error-Code", "ResponseNotReady")
			http.Error(w, `{"error": "secret words"}`, http.StatusInternalServerError)
		case tries == 4:
			panic(http.ErrAbortHandler)
		default:
			return false
		}
		return true
	}}
	e := v.serve(t)
	var told []string
	err := s.Pull(context.Background(), e, PullOptions{Notice: func(s string) { told = append(told, s) }})
	all := strings.Join(told, "\n")
	if err != nil || !strings.Contains(all, "429 Too Many Requests; next try in 1s") ||
		!strings.Contains(all, "500 Internal Server Error (ResponseNotReady); next try in ") ||
		strings.Contains(all, "secret") || len(v.pages) != 6 {
		t.Errorf("%v, pages %v\n%s", err, v.pages, all)
	}
}

// Rows that were fetched before an end without success are not fetched again.
func TestPullRowsGoesOn(t *testing.T) {
	s := toyStore(t)
	v := &viewer{disturb: func(v *viewer, w http.ResponseWriter, offset int) bool {
		if offset == 200 && len(v.pages) < 6 {
			http.Error(w, "", http.StatusForbidden)
			return true
		}
		return false
	}}
	e := v.serve(t)
	err := s.Pull(context.Background(), e, PullOptions{})
	if err == nil || !strings.Contains(err.Error(),
		"after 200 of 250 rows: the server answered 403 Forbidden (the rows are kept)") {
		t.Fatal(err)
	}
	parts, _ := filepath.Glob(filepath.Join(s.Dir, "*", "*.part"))
	if len(parts) != 1 {
		t.Fatal(parts)
	}
	f, err := os.OpenFile(parts[0], os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = f.WriteString(`{"question": "cut`)
	f.Close()
	v.pages = make([]int, 6)
	if err := s.Pull(context.Background(), e, PullOptions{}); err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(v.pages[6:]) != "[200]" {
		t.Errorf("asked for %v", v.pages[6:])
	}
	if parts, _ = filepath.Glob(filepath.Join(s.Dir, "*", "*.part")); len(parts) != 0 {
		t.Errorf("left %v", parts)
	}
}

// Another revision is refused, and accepted if the caller names it.
func TestPullRowsOfAnotherRevision(t *testing.T) {
	s, v := toyStore(t), &viewer{revision: otherCommit}
	e := v.serve(t)
	var other *RevisionError
	if err := s.Pull(context.Background(), e, PullOptions{}); !errors.As(err, &other) || other.Served != otherCommit ||
		other.Pinned != rowsRevision || s.State(e) != Absent {
		t.Fatalf("%v", err)
	}
	if says := other.Error(); !strings.Contains(says, otherCommit) || !strings.Contains(says, rowsRevision) {
		t.Error(says)
	}
	for _, odd := range []string{"", "main", strings.Repeat("Z", 40)} {
		v.revision = odd
		if err := s.Pull(context.Background(), e, PullOptions{}); !errors.As(err, &other) || other.Served != "(none)" {
			t.Errorf("%q: %v", odd, err)
		}
	}
	v.revision = otherCommit
	if err := s.Pull(context.Background(), e, PullOptions{Revision: otherCommit}); err != nil || s.State(e) != Here {
		t.Fatalf("%v, %s", err, s.State(e))
	}
	if r, err := readRowsRecord(s.file(e)); err != nil || r.Revision != otherCommit || r.Rows != 250 {
		t.Errorf("%+v, %v", r, err)
	}
}

// A page that is not what was asked for is wrong content, and nothing gets the file's name.
func TestPullRowsRefuses(t *testing.T) {
	row := func(page map[string]any, i int) map[string]any { return page["rows"].([]map[string]any)[i] }
	for name, c := range map[string]struct {
		change func(page map[string]any)
		says   string
	}{
		"other total":   {func(p map[string]any) { p["num_rows_total"] = 251 }, "the split has 251 rows; expected 250"},
		"partial":       {func(p map[string]any) { p["partial"] = true }, "only a part"},
		"no rows":       {func(p map[string]any) { p["rows"] = nil }, "0 rows in a page of 100"},
		"another place": {func(p map[string]any) { row(p, 5)["row_idx"] = 4 }, "row 4 stands where row 5 is expected"},
		"cut cell":      {func(p map[string]any) { row(p, 5)["truncated_cells"] = []string{"passage"} }, "or is cut"},
		"unknown key":   {func(p map[string]any) { row(p, 0)["row"].(map[string]any)["label"] = 1 }, "unknown key"},
		"no answer": {func(p map[string]any) { row(p, 0)["row"].(map[string]any)["answer"] = nil },
			"there is no answer"},
	} {
		t.Run(name, func(t *testing.T) {
			s, v := toyStore(t), &viewer{change: c.change}
			e := v.serve(t)
			err := s.Pull(context.Background(), e, PullOptions{})
			var pe *PullError
			if !errors.As(err, &pe) || !errors.Is(err, fetch.ErrDigest) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v", err)
			}
			if s.State(e) != Absent {
				t.Errorf("it is %s", s.State(e))
			}
		})
	}
	s := Store{Dir: t.TempDir()}
	if err := s.Pull(context.Background(), (&viewer{}).serve(t), PullOptions{}); err == nil ||
		!strings.Contains(err.Error(), "only https") {
		t.Errorf("without TLS: %v", err)
	}
}
