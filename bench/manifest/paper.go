package manifest

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"synod.dev/synod"
	"synod.dev/synod/bench/presets"
	"synod.dev/synod/bench/report"
	"synod.dev/synod/internal/durable"
)

// Paper names the figures that a grid is compared with. The first line of the file has the names of its
// columns: metric and value; if wanted questions (those behind the figure; without them there is no verdict),
// unit (percent, share or count; default percent), and table, page and remark, which say where the
// figure stands. A row with a text in the column unused is not compared. Every other column is a
// parameter or an axis, of which a cell must have the value; an empty value allows any.
type Paper struct {
	File  string            `yaml:"file" doc:"a CSV file; preset:NAME.csv is one of the program's" example:"figures.csv"`
	Where map[string]string `yaml:"where" doc:"only rows with these values of columns" example:"{table: 1}"`
}

// paperRow is a figure with the values that a cell must have.
type paperRow struct {
	where  map[string]any
	metric string
	figure report.Figure
}

// described are the columns that no cell is compared with.
var described = []string{"metric", "value", "questions", "unit", "table", "page", "remark", "unused"}

// read returns the figures of the file.
func (p *Paper) read(dir string) ([]paperRow, error) {
	if p.File == "" {
		return nil, nil
	}
	text, err := p.text(dir)
	if err != nil {
		return nil, fmt.Errorf("paper.file: %w", err)
	}
	lines, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.File, err)
	}
	if len(lines) == 0 || !slices.Contains(lines[0], "metric") || !slices.Contains(lines[0], "value") {
		return nil, fmt.Errorf("%s has no columns metric and value (example: graph,metric,value,questions)", p.File)
	}
	for column := range p.Where {
		if !slices.Contains(lines[0], column) {
			return nil, fmt.Errorf("paper.where: %s has no column %q%s", p.File, column, synod.Hint(column, lines[0]))
		}
	}
	var rows []paperRow
	for i, line := range lines[1:] {
		row, used, err := p.row(lines[0], line)
		if err != nil {
			return nil, fmt.Errorf("%s: line %d: %w", p.File, i+2, err)
		}
		if used {
			rows = append(rows, row)
		}
	}
	return rows, nil
}

func (p *Paper) text(dir string) ([]byte, error) {
	if name, ok := strings.CutPrefix(p.File, "preset:"); ok {
		return presets.File(name)
	}
	return durable.ReadFile(under(dir, p.File), maxFile)
}

// row reads a line of the file.
func (p *Paper) row(head, line []string) (row paperRow, used bool, err error) {
	row.where, used = map[string]any{}, true
	unit, number := "percent", ""
	for k, column := range head {
		text := strings.TrimSpace(line[k])
		if want, limited := p.Where[column]; limited && want != text || column == "unused" && text != "" {
			used = false
		}
		switch {
		case text == "":
		case column == "metric":
			row.metric = text
		case column == "value":
			number = text
			_, err = strconv.ParseFloat(text, 64)
		case column == "questions":
			row.figure.N, err = strconv.Atoi(text)
		case column == "unit":
			unit = text
		case !slices.Contains(described, column):
			row.where[column] = text
		}
		if err != nil {
			return row, false, fmt.Errorf("%s is %q; it must be a number", column, text)
		}
	}
	switch unit {
	case "percent":
		number += "e-2" // 33.3 is 0.333 exactly as it is read from that text
	case "share":
	case "count":
		row.figure.Count = true
	default:
		return row, false, fmt.Errorf("unit is %q; it must be percent, share or count", unit)
	}
	if row.figure.Value, err = strconv.ParseFloat(number, 64); err != nil {
		return row, false, fmt.Errorf("value is %q; it must be a number such as 62.4", number)
	}
	if row.metric == "" {
		return row, false, fmt.Errorf("the column metric is empty (example: decision_accuracy)")
	}
	return row, used, nil
}

// figuresOf returns the figures of a cell by metric.
func figuresOf(rows []paperRow, values map[string]any) map[string]report.Figure {
	figures := map[string]report.Figure{}
	for _, r := range rows {
		if meets(r.where, values) {
			figures[r.metric] = r.figure
		}
	}
	return figures
}
