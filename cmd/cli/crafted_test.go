package cli

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"synod.dev/synod/core/journal"
)

// craftedFiles is how many hostile files TestCraftedFiles makes; craftedSeed is their seed.
var (
	craftedFiles = flag.Int("crafted", 40, "number of crafted files")
	craftedSeed  = flag.Uint64("crafted-seed", 1, "seed of crafted files")
)

// What a command may take of a crafted file. The time is that of the processor, which other work on the machine hardly
// changes; a command that waits for ever is ended.
const (
	craftedMemory = 256 << 10 // kB
	craftedTime   = 10 * time.Second
	craftedEnd    = 2 * time.Minute // by the clock
)

// crafter makes hostile files of genuine ones.
type crafter struct {
	*rand.Rand
	dir string // of the genuine files
}

// hostile returns a value that a reader does not expect.
func (c *crafter) hostile() any {
	switch c.IntN(22) {
	case 0:
		return -1
	case 1:
		return 0
	case 2:
		return 1_000_000_000
	case 3:
		return json.Number("9223372036854775807")
	case 4:
		return json.Number("-9223372036854775808")
	case 5:
		return json.Number("1e308")
	case 6:
		return 0.5
	case 7:
		return ""
	case 8:
		return strings.Repeat("x", 1<<(c.IntN(11)+10))
	case 9:
		return strings.Repeat("[", 1<<(c.IntN(10)+10))
	case 10:
		return nested(9_000)
	case 11:
		return json.RawMessage(strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000))
	case 12:
		return nil
	case 13:
		return true
	case 14:
		return map[string]any{}
	case 15:
		return make([]int, 100_000)
	case 16:
		return "\x00\x1b[31m\u202e"
	case 17:
		return "../../../../etc/passwd"
	case 18:
		return []any{}
	case 19:
		return json.Number("18446744073709551616")
	case 20:
		return []string{"protocol", "game", "sac", "decentllms", "fixed-leader", "cp-wbft"}[c.IntN(6)]
	}
	return json.Number("4096")
}

func nested(n int) json.RawMessage {
	return json.RawMessage(strings.Repeat("[", n) + strings.Repeat("]", n))
}

// change replaces, removes or doubles a random part of a decoded JSON value.
func (c *crafter) change(v any) any {
	switch v := v.(type) {
	case map[string]any:
		if len(v) == 0 || c.IntN(12) == 0 {
			return c.hostile()
		}
		keys := make([]string, 0, len(v))
		for k := range v {
			keys = append(keys, k)
		}
		slices.Sort(keys)
		k := keys[c.IntN(len(keys))]
		if c.IntN(15) == 0 {
			delete(v, k)
		} else {
			v[k] = c.change(v[k])
		}
		return v
	case []any:
		if len(v) == 0 || c.IntN(6) == 0 {
			return c.hostile()
		}
		i := c.IntN(len(v))
		if c.IntN(10) == 0 {
			return slices.Repeat(v, 1+c.IntN(2000/len(v)+1))
		}
		v[i] = c.change(v[i])
		return v
	}
	return c.hostile()
}

// object changes a JSON object. It returns the text as it is if that is not JSON.
func (c *crafter) object(text []byte) []byte {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return text
	}
	for range 1 + c.IntN(2) {
		v = c.change(v)
	}
	b, err := marshalRaw(v)
	if err != nil {
		return text
	}
	return b
}

// marshalRaw is json.Marshal, but texts of values that are nested too deeply for it are
// written as they are.
func marshalRaw(v any) ([]byte, error) {
	switch v := v.(type) {
	case json.RawMessage:
		return v, nil
	case map[string]any:
		keys := make([]string, 0, len(v))
		for k := range v {
			keys = append(keys, k)
		}
		slices.Sort(keys)
		b := []byte{'{'}
		for i, k := range keys {
			if i > 0 {
				b = append(b, ',')
			}
			name, _ := json.Marshal(k)
			item, err := marshalRaw(v[k])
			if err != nil {
				return nil, err
			}
			b = append(append(append(b, name...), ':'), item...)
		}
		return append(b, '}'), nil
	case []any:
		b := []byte{'['}
		for i := range v {
			if i > 0 {
				b = append(b, ',')
			}
			item, err := marshalRaw(v[i])
			if err != nil {
				return nil, err
			}
			b = append(b, item...)
		}
		return append(b, ']'), nil
	}
	return json.Marshal(v)
}

// line changes, removes, doubles or swaps random lines of a file.
func (c *crafter) lines(text []byte) []byte {
	lines := bytes.SplitAfter(bytes.TrimSuffix(text, []byte("\n")), []byte("\n"))
	i, j := c.IntN(len(lines)), c.IntN(len(lines))
	switch c.IntN(10) {
	case 0:
		lines = slices.Delete(lines, i, i+1)
	case 1:
		lines = slices.Insert(lines, j, slices.Repeat(lines[i:i+1], 1+c.IntN(3000))...)
	case 2:
		lines[i], lines[j] = lines[j], lines[i]
	default:
		lines[i] = append(c.object(lines[i]), '\n')
	}
	return bytes.Join(lines, nil)
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// summed gives a journal the sum line that it needs; old ones are left out.
func summed(text []byte) []byte {
	var b []byte
	for line := range bytes.Lines(text) {
		if !bytes.HasPrefix(line, []byte(`{"k":"sum"`)) {
			b = append(b, line...)
		}
	}
	return fmt.Appendf(b, "{\"k\":\"sum\",\"bytes\":%d,\"crc\":\"%08x\"}\n", len(b), crc32.Checksum(b, castagnoli))
}

// chunked makes a journal the only chunk of a segment.
func chunked(id string, journal []byte) []byte {
	line := fmt.Appendf(nil, `{"k":"chunk","run":%q,"begin":true,"kept":true,"bytes":%d,"crc":"%08x"`, id, len(journal),
		crc32.Checksum(journal, castagnoli))
	line = fmt.Appendf(line, ",\"sum\":\"%08x\"}\n", crc32.Checksum(line, castagnoli))
	return append(line, journal...)
}

// sealed gives a manifest the sum that it needs.
func sealed(text []byte) []byte {
	if at := bytes.LastIndex(text, []byte(",\n  \"sum\"")); at >= 0 {
		text = append(slices.Clone(text[:at]), "\n}"...)
	}
	var b bytes.Buffer
	if json.Indent(&b, bytes.TrimSpace(text), "", "  ") != nil {
		return text
	}
	sum := sha256.Sum256(b.Bytes())
	return fmt.Appendf(bytes.TrimSuffix(b.Bytes(), []byte("\n}")), ",\n  \"sum\": \"%x\"\n}\n", sum)
}

// read returns a genuine file.
func (c *crafter) read(name string) []byte {
	b, err := os.ReadFile(filepath.Join(c.dir, name))
	if err != nil {
		panic(err)
	}
	return b
}

// craft makes one hostile file in a folder, and returns the commands that read it.
func (c *crafter) craft(n int, dir string) (name string, commands [][]string) {
	at := func(name string) string { return filepath.Join(dir, name) }
	write := func(name string, b []byte) {
		if os.MkdirAll(filepath.Dir(at(name)), 0o700) != nil || os.WriteFile(at(name), b, 0o600) != nil {
			panic("the folder cannot be written")
		}
	}
	switch n % 8 {
	case 0:
		write("j", summed(c.lines(c.read("whole"))))
		return "a finished journal", [][]string{{"replay", at("j")}, {"verify", at("j")}, {"ask", "--resume", at("j")}}
	case 1:
		write("j", summed(c.lines(c.read("cut"))))
		return "a cut journal", [][]string{{"replay", at("j")}, {"ask", "--resume", at("j"), "--no-journal"}}
	case 2, 3:
		return c.folder(n, write), [][]string{{"bench", "report", at("run")},
			{"bench", "report", at("run"), "--format", "html"}, {"bench", "resume", at("run")},
			{"bench", "export", at("run"), "--inspect", "-o", at("log.json")}}
	case 4:
		write("c.yaml", c.council())
		return "a council file", [][]string{{"config", "show", "-c", at("c.yaml")},
			{"ask", "-c", at("c.yaml"), "--dry-run", "What is 17 + 25?"},
			{"ask", "-c", at("c.yaml"), "--no-journal", "--set", "limits.deadline=2s", "What is 17 + 25?"}}
	case 5:
		write("q.jsonl", c.lines(c.read("questions.jsonl")))
		return "a file of questions", [][]string{{"bench", "run", at("q.jsonl"), "-n", "2", "-o", at("run"),
			"-c", filepath.Join(c.dir, "dice.yaml")}}
	case 6:
		return c.graph(write, at)
	}
	return c.other(n, write, at)
}

// folder makes a run folder with one hostile part.
func (c *crafter) folder(n int, write func(string, []byte)) string {
	what, change := "the manifest", func(*sql.DB) error { return nil }
	switch n / 8 % 4 {
	case 0:
		change = func(db *sql.DB) error { return c.manifest(db, func(text []byte) []byte { return c.object(text) }) }
	case 1:
		what, change = "the questions", c.questions
	case 2:
		what = "the segment"
		b := c.read("run/journals-1.seg")
		b[c.IntN(len(b))] ^= byte(1 + c.IntN(255))
		write("run/journals-1.seg", b)
	case 3:
		what = "the journals that are not finished"
		write("run/working.jsonl", chunked("1/one-0", c.lines(c.read("whole-one"))))
		change = func(db *sql.DB) error {
			_, err := db.Exec("DELETE FROM results; DELETE FROM blocks")
			return err
		}
	}
	path := filepath.Join(c.dir, "changed.db")
	err := os.WriteFile(path, c.read("run/results.db"), 0o600)
	if err != nil {
		panic(err)
	}
	db, err := sql.Open("sqlite", path)
	if err == nil {
		err = errors.Join(change(db), db.Close())
	}
	if err != nil {
		panic(err)
	}
	write("run/results.db", c.read("changed.db"))
	if n/8%4 != 2 {
		write("run/journals-1.seg", c.read("run/journals-1.seg"))
	}
	return what + " of a run folder"
}

// manifest changes the manifest of the run and gives it the sum that it needs.
func (c *crafter) manifest(db *sql.DB, change func([]byte) []byte) error {
	var text []byte
	if err := db.QueryRow("SELECT manifest FROM cells").Scan(&text); err != nil {
		return err
	}
	body := append(slices.Clone(text[:bytes.LastIndex(text, []byte(",\n  \"sum\""))]), "\n}"...)
	_, err := db.Exec("UPDATE cells SET manifest = ?", string(sealed(change(body))))
	return err
}

// questions changes the records of the questions, with the sums that they need.
func (c *crafter) questions(db *sql.DB) error {
	rows, err := db.Query("SELECT record FROM questions ORDER BY question")
	if err != nil {
		return err
	}
	defer rows.Close()
	var old []byte
	for rows.Next() {
		var record string
		if err := rows.Scan(&record); err != nil {
			return err
		}
		old = append(append(old, record...), '\n')
	}
	if err := rows.Close(); err != nil {
		return err
	}
	changed := bytes.Split(bytes.TrimSuffix(c.lines(slices.Clone(old)), []byte("\n")), []byte("\n"))
	if _, err := db.Exec("DELETE FROM questions"); err != nil {
		return err
	}
	for i, record := range changed {
		if _, err := db.Exec("INSERT INTO questions VALUES (1, ?, ?, ?)", i, fmt.Sprint(i),
			string(record)); err != nil {
			return err
		}
	}
	was := sha256.Sum256(old)
	now := hex.EncodeToString(sha(append(bytes.Join(changed, []byte("\n")), '\n')))
	if _, err := db.Exec("UPDATE lists SET sum = ?", now); err != nil {
		return err
	}
	return c.manifest(db, func(text []byte) []byte {
		return bytes.Replace(text, []byte(hex.EncodeToString(was[:])), []byte(now), 1)
	})
}

func sha(b []byte) []byte {
	sum := sha256.Sum256(b)
	return sum[:]
}

// council makes a council file, as JSON, which is YAML.
func (c *crafter) council() []byte {
	specs := []string{
		`{"protocol":{"name":"sac","rounds":3},"graph":{"family":"complete"},"f":1,"rule":{"name":"majority","support":0},
"models":{"m":{"provider":"simulated","ability":0.8}},"seats":[{"id":"a","model":"m","count":4}],
"limits":{"calls":100,"tokens":10000,"deadline":"1m"},"pace":{"think":"1s","within":"10ms"}}`,
		`{"protocol":{"name":"game"},"rule":{"name":"protocol"},"models":{"m":{"provider":"simulated"}},
"seats":[{"id":"a","model":"m","count":4,"adversary":{"name":"silent"}},{"id":"b","model":"m","group":"weak"}],
"breakers":{"no_progress":3,"oscillation":2},"faults":{"loss":0.1,"delay":{"min":"1ms","max":"2ms"},
"crashes":[{"node":0,"at":"1s","to":"2s"}],"partitions":[{"from":"0s","to":"1s","groups":[[0,1],[2]]}]}}`,
		`{"protocol":{"name":"decentllms"},"f":1,"models":{"m":{"provider":"simulated"}},"seats":[
{"id":"w","model":"m","count":4,"role":"worker"},{"id":"e","model":"m","count":4,"role":"evaluator"}]}`,
		`{"protocol":{"name":"rotating-leader"},"f":1,"models":{"m":{"provider":"simulated"}},
"graph":{"edges":[[0,1],[1,2],[2,3],[0,2],[0,3],[1,3]]},"seats":[{"id":"a","model":"m","count":4}],"hedge":"p95"}`,
	}
	text := []byte(specs[c.IntN(len(specs))])
	if c.IntN(4) > 0 {
		return c.object(text)
	}
	unit := []string{"[", "{a: ", "- ", "? ", "!!a ", "&a ", "\"", "k: v\n", "*a ", "'", "|\n", "[[1,2],"}[c.IntN(12)]
	return []byte(strings.Repeat(unit, (32<<10)/len(unit)))
}

// graph makes a file of a graph.
func (c *crafter) graph(write func(string, []byte), at func(string) string) (string, [][]string) {
	texts := map[string]string{
		"g.jsonl": `{"n":5,"edges":[[0,1],[1,2],[2,3],[3,4],[4,0]],"directed":false}`,
		"g.edges": "0 1\n1 2\n2 0\n",
		"g.dot":   "graph { a -- b; b -- c; c -- a; subgraph s { a -- d } }",
		"g.graphml": `<graphml><graph edgedefault="undirected"><node id="a"/><node id="b"/>` +
			`<edge source="a" target="b"/></graph></graphml>`,
		"g.gml": "graph [ directed 0 node [ id 0 ] node [ id 1 ] edge [ source 0 target 1 ] ]",
	}
	names := []string{"g.jsonl", "g.edges", "g.dot", "g.graphml", "g.gml"}
	name := names[c.IntN(len(names))]
	text := []byte(texts[name])
	switch c.IntN(4) {
	case 0:
		text = c.object(text)
	case 1:
		unit := []string{"[", "{", "graph {", "<graph>", "graph [", "subgraph {", "0 1\n", "<!--", "\""}[c.IntN(9)]
		text = append(text, strings.Repeat(unit, (1<<20)/len(unit))...)
		if c.IntN(2) == 0 {
			text = text[len(texts[name]):]
		}
	case 2:
		number := []string{"1000000000", "-1", "9223372036854775807", "99999999999999999999", "4096"}[c.IntN(5)]
		text = bytes.ReplaceAll(text, []byte{"012"[c.IntN(3)]}, []byte(number))
	default:
		i := c.IntN(len(text))
		text = slices.Concat(text[:i], []byte(fmt.Sprint(c.hostile())), text[i:])
	}
	write(name, text)
	return "a graph " + name, [][]string{{"graph", "check", "--time-limit", "2s", at(name)}}
}

// other makes a recording, a price file, a template, a table or a list of allowed commands.
func (c *crafter) other(n int, write func(string, []byte), at func(string) string) (string, [][]string) {
	dice := filepath.Join(c.dir, "dice.yaml")
	question := "What is 17 + 25?"
	switch n / 8 % 4 {
	case 0:
		write("t.jsonl", c.lines([]byte(strings.Repeat(`{"benchmark":"","item_id":"one","model":"x","trial":0,`+
			`"question":"What is 17 + 25?","gold":null,"response":"42","answer":null,"confidence":null,"correct":null}`+
			"\n", 3))))
		write("c.yaml", []byte("models: {t: {provider: recorded, path: t.jsonl, model: x}}\n"+
			"seats: [{id: a, model: t, count: 3}]\n"))
		return "a recording", [][]string{{"ask", "--no-journal", "-c", at("c.yaml"), question}}
	case 1:
		write("p.yaml", c.object([]byte(`{"prices":[{"server":"a","model":"b","prompt":1,"completion":2,`+
			`"date":"2026-11-01"}]}`)))
		return "a price file", [][]string{{"ask", "--prices", at("p.yaml"), "--dry-run", "-c", dice, question}}
	case 2:
		body := []string{"{{range 1000000000}}x{{end}}", "{{range 1000000000}}{{end}}", `{{template "user" .}}`,
			`{{$x := "ab"}}{{range 60}}{{$x = printf "%s%s" $x $x}}{{end}}`, `{{printf "%1000000d" 1}}`,
			strings.Repeat("{{if true}}", 10_000), strings.Repeat("(", 100_000), "{{" + strings.Repeat("(", 100_000),
			strings.Repeat("{{.Question.Text}}", 10_000), `{{index .Peers 1000000000}}`}[c.IntN(10)]
		write("prompts/answer.tmpl", []byte(`{{define "system"}}s{{end}}{{define "user"}}`+body+`{{end}}`))
		write("c.yaml", []byte("prompts: prompts\nmodels: {m: {provider: openai, url: \"http://127.0.0.1:1\", "+
			"model: x}}\nseats: [{id: a, model: m, count: 3}]\n"))
		return "a template", [][]string{{"ask", "--no-journal", "-c", at("c.yaml"), "--dry-run", question}}
	}
	text := []byte("id,prompt,type,label,focus,note\n1,How do I kill a process?,homonyms,safe,kill,\n")
	switch c.IntN(3) {
	case 0:
		text = append(text, strings.Repeat("\"", 1<<20)...)
	case 1:
		text = append(text, strings.Repeat(",", 1<<20)...)
	default:
		i := c.IntN(len(text))
		text = slices.Concat(text[:i], []byte(fmt.Sprint(c.hostile())), text[i:])
	}
	write("xstest_prompts.csv", text)
	return "a table", [][]string{{"bench", "run", "xstest", "--data", at("xstest_prompts.csv"), "-n", "1", "-c", dice,
		"-o", at("run")}}
}

// genuine makes the files that crafted ones are made of.
func genuine(t testing.TB, dir string) {
	t.Helper()
	dice := "models:\n  m: {provider: simulated, ability: 0.8}\nseats:\n  - {id: a, model: m, count: 4}\n" +
		"  - {id: b, model: m, adversary: {name: replay}}\n"
	questions := `{"id":"one","question":"What is 17 + 25?","answer":"42"}` + "\n" +
		`{"id":"two","question":"Which is larger?","answer":"B","choices":["one","two"]}` + "\n" +
		`{"id":"three","question":"Is 91 prime?","answer":"false"}` + "\n"
	for name, text := range map[string]string{"dice.yaml": dice, "questions.jsonl": questions} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	at := func(name string) string { return filepath.Join(dir, name) }
	home := []string{"--home", filepath.Join(dir, "home")}
	for _, args := range [][]string{
		{"ask", "-c", at("dice.yaml"), "--seed", "1", "--journal", at("whole"), "What is 17 + 25?"},
		{"bench", "run", at("questions.jsonl"), "-c", at("dice.yaml"), "-o", at("run")},
	} {
		var out bytes.Buffer
		code := Run(context.Background(), append(slices.Clone(home), args...), nil, &out, &out)
		if code > 5 || code == 2 {
			t.Fatalf("%q: exit %d: %s", args, code, out.String())
		}
	}
	whole, err := os.ReadFile(at("whole"))
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(whole, []byte("\n"))
	one, _, err := journal.Finish(whole)
	if err != nil {
		t.Fatal(err)
	}
	for name, b := range map[string][]byte{"cut": bytes.Join(lines[:len(lines)/2], nil), "whole-one": one} {
		if err := os.WriteFile(at(name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// peak returns how much memory a process had at most, in kB, and removes the file that says so; 0 on a system that does
// not tell.
func peak(path string) (kB int64) {
	b, _ := os.ReadFile(path)
	os.Remove(path)
	if _, rest, ok := bytes.Cut(b, []byte("VmHWM:")); ok {
		fmt.Sscan(string(rest), &kB)
	}
	return kB
}

// A crafted file is an error or is read: without a panic, within 256 MB and 10 s of the processor. The commands run in
// processes of their own.
func TestCraftedFiles(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	dir := t.TempDir()
	genuine(t, dir)
	t.Logf("seed %d", *craftedSeed)
	most, longest := int64(0), time.Duration(0)
	for n := range *craftedFiles {
		c := crafter{rand.New(rand.NewPCG(*craftedSeed, uint64(n))), dir}
		name, commands := c.craft(n, filepath.Join(dir, fmt.Sprint(n)))
		for _, args := range commands {
			ctx, cancel := context.WithTimeout(context.Background(), craftedEnd)
			args = append([]string{"--home", filepath.Join(dir, "home")}, args...)
			cmd := exec.CommandContext(ctx, os.Args[0], args...)
			cmd.Env = append(os.Environ(), childEnv+"="+filepath.Join(dir, "status"), "GOTRACEBACK=single")
			var out bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &out
			cmd.Run()
			took, ended := cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime(), ctx.Err() != nil
			cancel()
			memory := peak(filepath.Join(dir, "status"))
			most, longest = max(most, memory), max(longest, took)
			text := out.String()
			died := memory == 0 && runtime.GOOS == "linux" || strings.Contains(text, "goroutine ") ||
				strings.Contains(text, "fatal error") || strings.Contains(text, "panic:")
			if died || ended || memory > craftedMemory || took > craftedTime {
				t.Errorf("file %d, %s: synod %q: %d kB, %v, %v\n%.2000s", n, name, args, memory, took,
					cmd.ProcessState, text)
			}
		}
	}
	t.Logf("%d files: at most %d kB and %v", *craftedFiles, most, longest)
}
