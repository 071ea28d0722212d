package computed

import (
	"encoding/csv"
	"flag"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"synod.dev/synod/bench/metrics"
	"synod.dev/synod/core/table"
)

var (
	rewrite = flag.Bool("rewrite", false, "rewrite the tables of docs/worth-it.md")
	fresh   = flag.String("report", "", "with -rewrite: the report of the preset worth-it as CSV, for new figures")
)

const (
	worthPage    = "../../docs/worth-it.md"
	worthFigures = "../../docs/worth-it.csv" // cell, figure, value, n, low, high; see make worth-it
)

// figures are those of the page, by cell and name.
type figures map[string]map[string]*metrics.Rate

// published reads the figures of the page.
func published(t *testing.T) figures {
	t.Helper()
	all := figures{}
	for _, of := range rowsOf(t, worthFigures) {
		number := func(name string) float64 {
			x, err := strconv.ParseFloat(of[name], 64)
			if err != nil {
				t.Fatalf("%s, %s: %v", of["cell"], of["figure"], err)
			}
			return x
		}
		if all[of["cell"]] == nil {
			all[of["cell"]] = map[string]*metrics.Rate{}
		}
		all[of["cell"]][of["figure"]] = &metrics.Rate{Value: number("value"), N: int(number("n")), Low: number("low"),
			High: number("high")}
	}
	return all
}

// rowsOf reads a CSV file with a head.
func rowsOf(t *testing.T, path string) (all []map[string]string) {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows[1:] {
		of := map[string]string{}
		for i, name := range rows[0] {
			of[name] = row[i]
		}
		all = append(all, of)
	}
	return all
}

// publish writes the figures of the page from a report: those with an interval, which members of lists lack.
func publish(t *testing.T, from string) {
	t.Helper()
	head := []string{"cell", "figure", "value", "n", "low", "high"}
	var b strings.Builder
	w := csv.NewWriter(&b)
	write := func(row []string) {
		if err := w.Write(row); err != nil {
			t.Fatal(err)
		}
	}
	write(head)
	for _, of := range rowsOf(t, from) {
		if of["low"] == "" {
			continue
		}
		var row []string
		for _, name := range head {
			if x, err := strconv.ParseFloat(of[name], 64); err == nil {
				of[name] = strconv.FormatFloat(math.Round(x*1e4)/1e4, 'f', -1, 64)
			}
			row = append(row, of[name])
		}
		write(row)
	}
	if w.Flush(); w.Error() != nil {
		t.Fatal(w.Error())
	}
	if err := os.WriteFile(worthFigures, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}

// say prints a figure, or a dash if a cell has none.
func (all figures) say(format, cell, figure string) string {
	if r := all[cell][figure]; r != nil {
		return fmt.Sprintf(format, r.Value)
	}
	return "–"
}

// percent prints a share.
func (all figures) percent(cell, figure string) string {
	if r := all[cell][figure]; r != nil {
		return fmt.Sprintf("%.1f", 100*r.Value)
	}
	return "–"
}

// points prints a difference of shares with its interval.
func (all figures) points(cell, figure string) string {
	if r := all[cell][figure]; r != nil {
		return fmt.Sprintf("%+.1f (%+.1f to %+.1f)", 100*r.Value, 100*r.Low, 100*r.High)
	}
	return "–"
}

// gain prints a figure in points with its interval.
func (all figures) gain(cell, figure string) string {
	if r := all[cell][figure]; r != nil {
		return fmt.Sprintf("%+.1f (%+.1f to %+.1f)", r.Value, r.Low, r.High)
	}
	return "–"
}

var (
	pageSets   = []string{"gsm8k", "math-l5", "crux", "mmlu-pro"}
	pageLabels = []string{"60", "200"}
)

// each calls a function for each set and number of labels.
func each(row func(set, labels string)) {
	for _, set := range pageSets {
		for _, n := range pageLabels {
			row(set, n)
		}
	}
}

func (all figures) budgets() *table.Table {
	t := &table.Table{Head: []string{"set", "labels", "F", "0.5 USD", "1 USD", "3 USD", "7 USD", "20 USD"},
		Align: "lrrrrrrr"}
	each(func(set, labels string) {
		for _, f := range []string{"0", "1"} {
			row := []any{set, labels, f}
			for _, usd := range []string{"0.5", "1", "3", "7", "20"} {
				cell := fmt.Sprintf("%s-%s-usd-%s-f%s", set, labels, usd, f)
				text := "–"
				if gain := all[cell]["gain"]; gain != nil {
					text = fmt.Sprintf("%+.1f, %s ×", 100*gain.Value, all.say("%.2f", cell, "price"))
				}
				row = append(row, text)
			}
			t.Add(row...)
		}
	})
	return t
}

func (all figures) casts() *table.Table {
	t := &table.Table{Head: []string{"set", "labels", "F", "right, %", "best model, %", "gain, points", "price",
		"one model alone", "promised too much, points"}, Align: "lrrrrrrrr"}
	each(func(set, labels string) {
		for _, f := range []string{"0", "1"} {
			cell := fmt.Sprintf("%s-%s-casts-f%s", set, labels, f)
			t.Add(set, labels, f, all.percent(cell, "right"), all.percent(cell, "single_right"),
				all.points(cell, "gain"),
				all.say("%.2f ×", cell, "price"), all.percent(cell, "alone")+" %", all.points(cell, "predicted_more"))
		}
	})
	return t
}

func (all figures) odds() *table.Table {
	t := &table.Table{Head: []string{"set", "labels", "error", "of the product of odds", "area under the curve",
		"of agreement", "≥ 0.95, %", "of these right, %", "≥ 0.95 with a liar, %", "of these right, %"},
		Align: "lrrrrrrrrr"}
	each(func(set, labels string) {
		cell, liar := fmt.Sprintf("%s-%s-odds-f0", set, labels), fmt.Sprintf("%s-%s-liar-f1", set, labels)
		t.Add(set, labels, all.say("%.3f", cell, "ece"), all.say("%.3f", cell, "odds_ece"),
			all.say("%.3f", cell, "auc"), all.say("%.3f", cell, "agreement_auc"), all.percent(cell, "high"),
			all.percent(cell, "high_right"),
			all.percent(liar, "high"), all.percent(liar, "high_right"))
	})
	return t
}

func (all figures) unlabelled() *table.Table {
	t := &table.Table{Head: []string{"set", "F", "tiers, %", "all, %", "dearest, %", "best, %", "USD: tiers", "all",
		"dearest", "best"}, Align: "lrrrrrrrrr"}
	for _, set := range pageSets {
		for _, f := range []string{"0", "1"} {
			cell := fmt.Sprintf("%s-none-unlabelled-f%s", set, f)
			row := []any{set, f}
			for _, of := range []string{"tiers", "all", "dearest", "best"} {
				row = append(row, all.percent(cell, of))
			}
			for _, of := range []string{"tiers_usd", "all_usd", "dearest_usd", "best_usd"} {
				row = append(row, all.say("%.1f", cell, of))
			}
			t.Add(row...)
		}
	}
	return t
}

func (all figures) named() *table.Table {
	t := &table.Table{Head: []string{"set", "cast", "its best member, %", "most frequent answer, %",
		"most probable answer, %", "hijacked: most frequent, %", "most probable, %"}, Align: "llrrrrr"}
	for _, set := range pageSets {
		for _, cast := range []string{"large", "cheap"} {
			cell := fmt.Sprintf("%s-200-%s-f0", set, cast)
			hijacked := fmt.Sprintf("%s-200-%s-hijacked-f0", set, cast)
			t.Add(set, cast, all.percent(cell, "best"), all.percent(cell, "plurality"), all.percent(cell, "probable"),
				all.percent(hijacked, "plurality"), all.percent(hijacked, "probable"))
		}
	}
	return t
}

func (all figures) alike() *table.Table {
	t := &table.Table{Head: []string{"set", "one family", "one maker", "three makers",
		"independent votes of the three"},
		Align: "lrrrr"}
	for _, set := range pageSets {
		row, votes := []any{set}, []string{}
		for _, of := range []string{"one-family", "one-maker", "no-maker-twice"} {
			cell := fmt.Sprintf("%s-200-%s-f0", set, of)
			row = append(row, all.gain(cell, "plurality_gain"))
			votes = append(votes, all.say("%.2f", cell, "effective"))
		}
		t.Add(append(row, strings.Join(votes, ", "))...)
	}
	return t
}

func (all figures) spread() *table.Table {
	t := &table.Table{Head: []string{"set", "0 to 4", "4 to 8", "8 to 12", "12 to 16", "16 to 24"}, Align: "lrrrrr"}
	for _, set := range pageSets {
		row := []any{set}
		for _, s := range []string{"2", "6", "10", "14", "20"} {
			cell := fmt.Sprintf("%s-200-spread-%s-f0", set, s)
			text := "–"
			if of := all[cell]; of != nil {
				text = fmt.Sprintf("%+.1f, %+.1f", of["plurality_gain"].Value, of["probable_gain"].Value)
			}
			row = append(row, text)
		}
		t.Add(row...)
	}
	return t
}

// The tables of docs/worth-it.md are made from docs/worth-it.csv. New figures: make worth-it.
func TestWorthPage(t *testing.T) {
	if *rewrite && *fresh != "" {
		publish(t, *fresh)
	}
	all := published(t)
	text, err := os.ReadFile(worthPage)
	if err != nil {
		t.Fatal(err)
	}
	page := string(text)
	for name, made := range map[string]*table.Table{"budgets": all.budgets(), "casts": all.casts(), "odds": all.odds(),
		"unlabelled": all.unlabelled(), "named": all.named(), "alike": all.alike(), "spread": all.spread()} {
		head, rest, _ := strings.Cut(page, "<!-- generated: "+name+" -->\n")
		_, tail, found := strings.Cut(rest, "<!-- end -->\n")
		if !found {
			t.Fatalf("%s has no place for the table %s", worthPage, name)
		}
		var b strings.Builder
		if err := made.Write(&b, "md"); err != nil {
			t.Fatal(err)
		}
		page = head + "<!-- generated: " + name + " -->\n" + b.String() + "<!-- end -->\n" + tail
	}
	if page != string(text) && !*rewrite {
		t.Errorf("%s has other tables than its figures; run: go test ./bench/computed -run TestWorthPage -rewrite",
			worthPage)
	}
	if *rewrite {
		if err := os.WriteFile(worthPage, []byte(page), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// The figures of the page are those of today's computations: some quick cells are played again.
func TestWorthFigures(t *testing.T) {
	all := published(t)
	for cell, given := range map[string]map[string]any{
		"crux-200-spread-2-f0": {"name": "worth-casts", "set": "crux", "low": 0.0, "high": 0.04},
		"math-l5-200-one-maker-f0": {"name": "worth-casts", "set": "math-l5", "alike": "one maker", "number": 3,
			"high": 0.08},
		"crux-60-odds-f0":         {"name": "worth-odds", "set": "crux", "labels": 60},
		"crux-none-unlabelled-f1": {"name": "worth-price", "set": "crux", "f": 1},
	} {
		for figure, got := range recorded(t, given["name"].(string), given).Rates {
			want := all[cell][figure]
			if got == nil && want == nil {
				continue
			}
			if got == nil || want == nil || math.Abs(got.Value-want.Value) > 1e-4 {
				t.Errorf("%s, %s: %+v, and the page has %+v; run: make worth-it", cell, figure, got, want)
			}
		}
	}
}
