package store

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// asked records a request that has ended, with its journal, and returns the path of that.
func asked(t *testing.T, s *Store, k *Key, id, question, answer, journals string) string {
	t.Helper()
	g, err := s.Begin(Request{ID: id, Key: k, API: "chat", Model: "m", Kept: id, Question: question})
	if err == nil {
		err = s.Settle(g, Result{Status: "ok", HTTP: 200, Spent: 3, Prompt: 2, Journal: id, Answer: answer})
	}
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(journals, g.Begun.UTC().Format(time.DateOnly), id+".jsonl")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf("{\"k\":\"head\",\"question\":%q}\n{\"reply\":%q}\n{\"cut", question, answer)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// What a person has asked is deleted by key and text, wherever it is, and nothing of it is left in any file; what
// others have asked, what does not have the text, and what was spent stay. A dry run says the same and changes nothing.
func TestErase(t *testing.T) {
	url := fresh(t)
	s := openStore(t, url, Local)
	defer s.Close()
	const name = "Mária \"Muster\" <x>"
	journals := t.TempDir()
	alice, bob := newKey(t, s, Key{Name: "alice"}), newKey(t, s, Key{Name: "bob"})
	long := strings.Repeat("z", 5<<10) + name // the store keeps the first 4 KB, the journal has all
	files := []string{asked(t, s, alice, "a1", "Who is "+name+"?", "x", journals),
		asked(t, s, alice, "a2", "other", strings.ToUpper(name), journals),
		asked(t, s, alice, "a3", long, "x", journals),
		asked(t, s, alice, "a4", "other", "x", journals), asked(t, s, bob, "b1", name, "x", journals)}
	for _, k := range []*Key{alice, bob} {
		if err := s.KeepResponse("r"+k.Name, k.ID, Response{Conversation: []byte(fmt.Sprintf("[%q]", name)),
			Body: []byte(`{}`)}); err != nil {
			t.Fatal(err)
		}
		if err := s.NewTask("t"+k.Name, k.ID, []byte(fmt.Sprintf(`{"q": %q}`, "I am "+name))); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Begin(Request{ID: "open", Key: alice, API: "chat", Model: "m", Kept: "open",
		Question: name}); err != nil {
		t.Fatal(err)
	}
	before, err := s.Keys(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	all := Erase{Key: &alice.ID, Text: "mária \"muster"}
	late := all
	late.Before = time.Now().Add(-time.Hour)
	for _, x := range []struct {
		e    Erase
		dry  bool
		want Erased
	}{
		{late, false, Erased{}},
		{all, true, Erased{Requests: 3, Journals: 3, Responses: 1, Tasks: 1, Running: 1}},
		{all, true, Erased{Requests: 3, Journals: 3, Responses: 1, Tasks: 1, Running: 1}},
		{all, false, Erased{Requests: 3, Journals: 3, Responses: 1, Tasks: 1, Running: 1}},
		{all, false, Erased{Running: 1}},
		{Erase{Text: name}, true, Erased{Requests: 1, Journals: 1, Responses: 1, Tasks: 1, Running: 1}}, // bob's
		{Erase{Key: &alice.ID}, true, Erased{Requests: 1, Journals: 1, Running: 1}},                     // a4
	} {
		if got, err := s.Erase(t.Context(), x.e, journals, x.dry); err != nil || got != x.want {
			t.Errorf("%+v: %+v, %v", x, got, err)
		}
	}
	for i, file := range files {
		if _, err := os.Stat(file); os.IsNotExist(err) != (i < 3) {
			t.Errorf("journal %d: %v", i, err)
		}
	}
	after, err := s.Keys(t.Context())
	rows, more := s.Recent(t.Context(), 10)
	if err != nil || more != nil || after[0].Today != before[0].Today || after[0].Today != 12 ||
		after[0].TokensToday != 8 || len(rows) != 6 {
		t.Errorf("%+v, %d requests, %v, %v", after, len(rows), err, more)
	}
	for _, e := range []Erase{{Key: &alice.ID}, {Text: name}} {
		if _, err := s.Erase(t.Context(), e, journals, false); err != nil {
			t.Error(err)
		}
	}
	if postgresURL == "" {
		nowhere(t, filepath.Dir(url), strings.TrimPrefix(name, "Mária"))
	}
}

// nowhere checks that no file of a folder has a text, apart from the store, which has that of the request that runs.
func nowhere(t *testing.T, dir, text string) {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, f := range files {
		b, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			t.Error(err)
		}
		n := strings.Count(string(b), text)
		want := 0
		if f.Name() == "serve.db" {
			want = 1
		}
		if n != want {
			t.Errorf("%s has the text %d times, want %d", f.Name(), n, want)
		}
	}
}

// inFiles counts a text in the bytes of the files of a store.
func inFiles(t *testing.T, path, text string) (n int) {
	t.Helper()
	files, err := filepath.Glob(path + "*")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		n += strings.Count(string(b), text)
	}
	return n
}

// fill stores many texts with a word, and some without.
func fill(t *testing.T, s *Store, word string) {
	t.Helper()
	for i := range 1500 {
		text := strings.Repeat(fmt.Sprint("word ", i, " "), 40)
		if i%3 != 0 {
			text += word
		}
		if err := s.KeepResponse(fmt.Sprint("r", i), "", Response{Conversation: []byte(fmt.Sprintf("[%q]", text)),
			Body: []byte(`{}`)}); err != nil {
			t.Fatal(err)
		}
	}
}

// What is deleted is not in the bytes of the file, though the file is not written anew, and its pages are given back.
// The control deletes the same rows without the overwriting: then the words are found, so the search can find them.
func TestEraseOverwrites(t *testing.T) {
	if postgresURL != "" {
		t.Skip("PostgreSQL has no file of ours")
	}
	const word = "Mustermann-4711"
	path := filepath.Join(t.TempDir(), "serve.db")
	s := openStore(t, path, Local)
	defer s.Close()
	fill(t, s, word)
	var before, after, free int
	pages := func(into *int, what string) {
		if err := s.db.QueryRow("PRAGMA " + what).Scan(into); err != nil {
			t.Fatal(err)
		}
	}
	pages(&before, "page_count")
	got, err := s.Erase(t.Context(), Erase{Text: word}, t.TempDir(), false)
	if err != nil || got.Responses != 1000 || got.Older {
		t.Fatalf("%+v, %v", got, err)
	}
	pages(&after, "page_count")
	pages(&free, "freelist_count")
	if n := inFiles(t, path, word); n != 0 || free != 0 || after > before/2 {
		t.Errorf("%d times in the files, %d free pages, %d pages of %d", n, free, after, before)
	}
	for round := range 5 { // rows are moved between pages by what is deleted before
		some := fmt.Sprint(round, word)
		fill(t, s, some)
		if _, err := s.db.Exec("DELETE FROM responses WHERE substr(id, -1) = $1", fmt.Sprint(round)); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Erase(t.Context(), Erase{Text: some}, t.TempDir(), false); err != nil {
			t.Fatal(err)
		}
		var sound string
		var left int
		err := s.db.QueryRow("PRAGMA integrity_check").Scan(&sound)
		also := s.db.QueryRow("SELECT count(*) FROM responses WHERE instr(conversation, 'word')").Scan(&left)
		if n := inFiles(t, path, some); n != 0 || err != nil || also != nil || sound != "ok" || left < 400 {
			t.Errorf("round %d: %d times in the files; %s, %d rows are left, %v, %v", round, n, sound, left, err, also)
		}
	}
	lax := filepath.Join(t.TempDir(), "serve.db")
	other := openStore(t, lax, Local)
	defer other.Close()
	other.db.SetMaxOpenConns(1)
	fill(t, other, word)
	for _, statement := range []string{"PRAGMA secure_delete = 0", "DELETE FROM responses WHERE body IS NOT NULL",
		"PRAGMA wal_checkpoint(TRUNCATE)"} {
		if _, err := other.db.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	if inFiles(t, lax, word) == 0 {
		t.Error("the control is not noticed")
	}
}

// A file of an earlier release may have remains of what was deleted before, which is said; written anew it has none,
// and gives pages back from then on.
func TestEraseOlderFile(t *testing.T) {
	if postgresURL != "" {
		t.Skip("PostgreSQL has no file of ours")
	}
	const word = "Mustermann-4711"
	path := filepath.Join(t.TempDir(), "serve.db")
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	for _, statement := range []string{"PRAGMA secure_delete = 0", "CREATE TABLE old (x TEXT)",
		"INSERT INTO old VALUES ('" + strings.Repeat(word+" ", 2000) + "')", "DELETE FROM old"} {
		if _, err := db.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	s := openStore(t, path, Local)
	defer s.Close()
	fill(t, s, "another")
	for _, anew := range []bool{false, true} {
		got, err := s.Erase(t.Context(), Erase{Text: "another", Anew: anew}, t.TempDir(), false)
		if err != nil || got.Older == anew {
			t.Errorf("anew %t: %+v, %v", anew, got, err)
		}
		if n, m := inFiles(t, path, "another"), inFiles(t, path, word); n != 0 || anew && m != 0 {
			t.Errorf("anew %t: %d times in the file, and what was deleted before %d times", anew, n, m)
		}
	}
	fill(t, s, word)
	if got, err := s.Erase(t.Context(), Erase{Text: word}, t.TempDir(), false); err != nil || got.Older {
		t.Errorf("%+v, %v", got, err)
	}
	if n := inFiles(t, path, word); n != 0 {
		t.Errorf("%d times in the file that was written anew", n)
	}
}
