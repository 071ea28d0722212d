package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"

	"github.com/parquet-go/parquet-go"
)

// row is a row of the table of "synod bench export --format parquet". It has the fields of bench.Row in the main
// module.
type row struct {
	Preset           string   `json:"preset" parquet:"preset,dict"`
	Cell             string   `json:"cell" parquet:"cell,dict"`
	Task             string   `json:"task" parquet:"task,dict"`
	MembersKind      string   `json:"members_kind" parquet:"members_kind,dict"`
	Params           string   `json:"params" parquet:"params,dict"` // a JSON object
	Question         string   `json:"question" parquet:"question"`
	Repeat           int32    `json:"repeat" parquet:"repeat"`
	Answered         bool     `json:"answered" parquet:"answered"`
	Right            *bool    `json:"right" parquet:"right,optional"` // null: not known
	Calls            int64    `json:"calls" parquet:"calls"`
	PromptTokens     int64    `json:"prompt_tokens" parquet:"prompt_tokens"`
	CompletionTokens int64    `json:"completion_tokens" parquet:"completion_tokens"`
	USD              *float64 `json:"usd" parquet:"usd,optional"` // null: not known
	Ms               int64    `json:"ms" parquet:"ms"`            // milliseconds
}

// groupRows bounds the rows of a row group, which is kept in memory until it is written.
const groupRows = 1 << 17

// errVersion is returned for rows with other fields than row.
var errVersion = errors.New("synod and synod-parquet are of different versions; build both from one commit")

// write reads rows, one JSON object on each line, and writes them as a table. Rows with other fields than row are an
// error.
func write(in io.Reader, out io.Writer) error {
	table := parquet.NewGenericWriter[row](out, parquet.Compression(&parquet.Zstd),
		parquet.MaxRowsPerRowGroup(groupRows))
	rows := json.NewDecoder(in)
	batch := make([]row, 0, 1024)
	for n := 1; ; n++ {
		var text json.RawMessage
		err := rows.Decode(&text)
		end := errors.Is(err, io.EOF)
		if err == nil {
			batch = append(batch, row{})
			err = parse(text, &batch[len(batch)-1])
		}
		if err != nil && !end {
			return fmt.Errorf("row %d: %w", n, err)
		}
		if end || len(batch) == cap(batch) {
			if _, err := table.Write(batch); err != nil {
				return err
			}
			batch = batch[:0]
		}
		if end {
			return table.Close()
		}
	}
}

// parse reads a row, which must have every field, and no other one.
func parse(text []byte, r *row) error {
	fields := map[string]json.RawMessage{}
	if err := json.Unmarshal(text, &fields); err != nil {
		return err
	}
	strict := json.NewDecoder(bytes.NewReader(text))
	strict.DisallowUnknownFields()
	if err := strict.Decode(r); err != nil {
		return fmt.Errorf("%w: %w", errVersion, err)
	}
	if has, want := len(fields), reflect.TypeFor[row]().NumField(); has != want {
		return fmt.Errorf("%w: it has %d of %d fields", errVersion, has, want)
	}
	return nil
}
