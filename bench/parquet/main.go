// Parquet writes the rows of a Parquet table to stdout, one JSON object on each line, in the form in which
// "synod bench run --data" reads them:
//
//	go run . test-00000-of-00001.parquet > rows.jsonl
//
// With -write it does the reverse for the rows of "synod bench export --format parquet", which starts it under the name
// synod-parquet:
//
//	synod-parquet -write < ROWS.jsonl > TABLE.parquet
//
// It is a module of its own because its library is larger than everything else that Synod
// downloads. It prints the table's SHA-256 on stderr; docs/measure/bench.md lists the digests of the
// published tables. With a broken table the library may panic or not terminate, so give -sha256 for
// a table from elsewhere.
package main

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/parquet-go/parquet-go"
)

func main() {
	want := flag.String("sha256", "", "expected SHA-256 of the table in hexadecimal; another table is not read")
	writes := flag.Bool("write", false, "write the rows of synod bench export on stdin as a table to stdout")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: parquet [-sha256 DIGEST] TABLE.parquet > ROWS.jsonl\n"+
			"       parquet -write < ROWS.jsonl > TABLE.parquet")
		flag.PrintDefaults()
	}
	flag.Parse()
	out := bufio.NewWriter(os.Stdout)
	var err error
	switch {
	case *writes && flag.NArg() == 0 && *want == "":
		err = write(bufio.NewReader(os.Stdin), out)
	case !*writes && flag.NArg() == 1:
		err = convert(flag.Arg(0), *want, out, os.Stderr)
	default:
		flag.Usage()
		os.Exit(2)
	}
	if err = errors.Join(err, out.Flush()); err != nil {
		fmt.Fprintln(os.Stderr, "parquet:", err)
		os.Exit(1)
	}
}

// convert writes the rows of the table at path to out as JSON lines, and its digest and number of
// rows to notes. A table with another digest than want, if want is not empty, is an error.
func convert(path, want string, out, notes io.Writer) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	hash := sha256.New()
	size, err := io.Copy(hash, f)
	if err != nil {
		return err
	}
	sum := hex.EncodeToString(hash.Sum(nil))
	if want != "" && sum != want {
		return fmt.Errorf("%s has the SHA-256 %s; expected %s", path, sum, want)
	}
	table, err := parquet.OpenFile(f, size)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	n, err := writeRows(table, out)
	if err != nil {
		return fmt.Errorf("%s: row %d: %w", path, n, err)
	}
	_, err = fmt.Fprintf(notes, "%s: %d rows, SHA-256 %s\n", path, n, sum)
	return err
}

// writeRows writes each row of a table as a line and returns how many it wrote.
func writeRows(table *parquet.File, out io.Writer) (n int, err error) {
	rows := parquet.NewReader(table)
	defer rows.Close()
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	for ; ; n++ {
		row := map[string]any{}
		if err := rows.Read(&row); errors.Is(err, io.EOF) {
			return n, nil
		} else if err != nil {
			return n, err
		}
		if err := enc.Encode(row); err != nil {
			return n, err
		}
	}
}
