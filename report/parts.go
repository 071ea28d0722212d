package report

import (
	"fmt"
	"strconv"

	"synod.dev/synod/metrics"
)

// partTable is a run's figures by one property of its questions, with a head; nil
// where they have it not, or all the same.
func partTable(by string, parts []metrics.Part) [][]string {
	if len(parts) == 0 {
		return nil
	}
	table := [][]string{{by, "questions", "members right at first", "at the end", "plurality right", "decisions right"}}
	for _, p := range parts {
		line := []string{plain(p.Name), strconv.Itoa(p.Questions)}
		for _, f := range partFigures(p) {
			line = append(line, inWords(f.rate))
		}
		table = append(table, line)
	}
	return table
}

func partFigures(p metrics.Part) []row {
	return []row{{name: "iaa", rate: p.IAA}, {name: "faa", rate: p.FAA}, {name: "ra", rate: p.RA}, {name: "decision_accuracy", rate: p.Decision}}
}

func inWords(r *metrics.Rate) string {
	if r == nil {
		return "–"
	}
	value, interval := percent(r)
	return fmt.Sprintf("%s (%s, n %d)", value, interval, r.N)
}

// breakdown is every table of figures by a property of the questions.
func (r *Report) breakdown() (tables [][][]string) {
	for _, t := range [][][]string{partTable("level", r.Levels), partTable("topic", r.Topics)} {
		if t != nil {
			tables = append(tables, t)
		}
	}
	return tables
}

// partRows are the same figures one by one, named for scripts: faa[level=3].
func (r *Report) partRows() (rows []row) {
	for _, by := range []struct {
		name  string
		parts []metrics.Part
	}{{"level", r.Levels}, {"topic", r.Topics}} {
		for _, p := range by.parts {
			for _, f := range partFigures(p) {
				rows = append(rows, row{name: fmt.Sprintf("%s[%s=%s]", f.name, by.name, plain(p.Name)), rate: f.rate})
			}
		}
	}
	return rows
}
