package main

import (
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
)

func read(t *testing.T, table []byte) []row {
	t.Helper()
	rows, err := parquet.Read[row](bytes.NewReader(table), int64(len(table)))
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

const known = `{"preset":"p","cell":"c","task":"t","members_kind":"simulated","params":"{}","question":"q é",` +
	`"repeat":1,"answered":true,"right":false,"calls":7,"prompt_tokens":3000000000,"completion_tokens":5,"usd":0.25,` +
	`"ms":12}` + "\n"

// What is not known is null in the table, and not zero; columns have the types of the figures.
func TestWrite(t *testing.T) {
	unknown := strings.NewReplacer(`"right":false`, `"right":null`, `"usd":0.25`, `"usd":null`).Replace(known)
	var table bytes.Buffer
	if err := write(strings.NewReader(known+unknown), &table); err != nil {
		t.Fatal(err)
	}
	wrong, usd := false, 0.25
	want := row{Preset: "p", Cell: "c", Task: "t", MembersKind: "simulated", Params: "{}", Question: "q é", Repeat: 1,
		Answered: true, Right: &wrong, Calls: 7, PromptTokens: 3000000000, CompletionTokens: 5, USD: &usd, Ms: 12}
	other := want
	other.Right, other.USD = nil, nil
	if got := read(t, table.Bytes()); !reflect.DeepEqual(got, []row{want, other}) {
		t.Errorf("%+v", got)
	}
	table.Reset()
	if err := write(strings.NewReader(""), &table); err != nil || len(read(t, table.Bytes())) != 0 {
		t.Errorf("no rows: %v", err)
	}
}

// More rows than one batch and one row group hold.
func TestWriteMany(t *testing.T) {
	const many = groupRows + 1500
	var in, table bytes.Buffer
	for i := range many {
		in.WriteString(strings.Replace(known, `"calls":7`, `"calls":`+strconv.Itoa(i), 1))
	}
	if err := write(&in, &table); err != nil {
		t.Fatal(err)
	}
	got := read(t, table.Bytes())
	if len(got) != many {
		t.Fatalf("%d rows", len(got))
	}
	for i, r := range got {
		if r.Calls != int64(i) {
			t.Fatalf("row %d: %+v", i, r)
		}
	}
}

func TestWriteRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		rows string
		want error
	}{
		"another field": {strings.Replace(known, `"calls"`, `"requests"`, 1), errVersion},
		"a field less":  {strings.Replace(known, `"calls":7,`, "", 1), errVersion},
		"half a row":    {known + known[:40], io.ErrUnexpectedEOF},
	} {
		if err := write(strings.NewReader(c.rows), io.Discard); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The table that synod makes by the program beside it has the rows of the CSV.
func TestExport(t *testing.T) {
	dir := t.TempDir()
	run := func(in, name string, args ...string) []byte {
		t.Helper()
		cmd := exec.Command(name, args...)
		cmd.Dir = in
		cmd.Env = append(os.Environ(), "SYNOD_HOME="+filepath.Join(dir, "home"))
		var complaints bytes.Buffer
		cmd.Stderr = &complaints
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s: %v: %s", strings.Join(args, " "), err, &complaints)
		}
		return out
	}
	synod := filepath.Join(dir, "synod")
	run(filepath.Join("..", ".."), "go", "build", "-ldflags", "-s -w", "-o", synod, "./cmd/synod")
	run(".", "go", "build", "-ldflags", "-s -w", "-o", filepath.Join(dir, "synod-parquet"), ".")
	run(dir, synod, "bench", "run", "sac-table1", "-n", "4", "--repeat", "3", "--cell", "sac-merg-*", "-o", "grid")
	run(dir, synod, "bench", "export", "grid", "--format", "parquet", "-o", "rows.parquet")
	lines, err := csv.NewReader(bytes.NewReader(run(dir, synod, "bench", "export", "grid", "--format", "csv",
		"--questions"))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	table, err := os.ReadFile(filepath.Join(dir, "rows.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	rows := read(t, table)
	if len(rows) != 2*4*3 || len(lines) != len(rows)+1 {
		t.Fatalf("%d rows, %d lines", len(rows), len(lines))
	}
	if !reflect.DeepEqual(lines[0], columns()) {
		t.Errorf("the columns are %v and %v", lines[0], columns())
	}
	for i, r := range rows {
		if got := cells(&r); !reflect.DeepEqual(got, lines[i+1]) {
			t.Errorf("row %d: %q, and in the CSV %q", i, got, lines[i+1])
		}
	}
}

func columns() (names []string) {
	for _, c := range parquet.SchemaOf(row{}).Columns() {
		names = append(names, c[0])
	}
	return names
}

// cells is a row as CSV has it.
func cells(r *row) (all []string) {
	for v, i := reflect.ValueOf(r).Elem(), 0; i < v.NumField(); i++ {
		cell := ""
		switch x := v.Field(i).Interface().(type) {
		case string:
			cell = x
		case bool:
			cell = strconv.FormatBool(x)
		case *bool:
			if x != nil {
				cell = strconv.FormatBool(*x)
			}
		case *float64:
			if x != nil {
				cell = strconv.FormatFloat(*x, 'g', -1, 64)
			}
		case int32:
			cell = strconv.Itoa(int(x))
		case int64:
			cell = strconv.FormatInt(x, 10)
		}
		all = append(all, cell)
	}
	return all
}
