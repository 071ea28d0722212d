package preset

import (
	"bytes"
	_ "embed"
	"encoding/csv"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"synod.dev/synod"
	"synod.dev/synod/council"
	"synod.dev/synod/graph"
	"synod.dev/synod/graph/topology"
	"synod.dev/synod/report"
)

// sacFigures are Tables 1 to 6 of the SAC paper, in percent.
//
//go:embed sac.csv
var sacFigures []byte

// sacQuestions is the number of questions behind the figures of the paper.
const sacQuestions = 30

// sacTable has the settings of one table.
type sacTable struct {
	number    int
	task      string
	strong    float64 // ability of simulated members: the mean of the initial accuracies in the table
	weak      float64
	n         int
	robust    map[string]int // r by graph family
	byzantine []int          // b; there are 3-b weak members
	summary   string
}

var (
	small = map[string]int{"merg": 4, "complete": 4, "er": 4}
	large = map[string]int{"merg": 5, "complete": 5, "preferential": 4, "er": 4}
)

func sacTables() (all []Preset) {
	for _, t := range []sacTable{
		{1, "sac-math", 0.837, 0.261, 7, small, []int{1}, "MATH level 4, n=7: IAA, FAA, BFTI, RA, groups, H-Majority"},
		{2, "sac-math", 0.837, 0.261, 7, small, []int{1}, "MATH level 4, n=7: weak and strong by round"},
		{3, "sac-commonsense", 0.838, 0.747, 7, small, []int{1},
			"commonsense, n=7: IAA, FAA, BFTI, RA, groups, H-Majority"},
		{4, "sac-commonsense", 0.838, 0.747, 7, small, []int{1}, "commonsense, n=7: weak and strong by round"},
		{5, "sac-math", 0.837, 0.261, 7, small, []int{1, 2, 3}, "MATH level 4, n=7: one to three adversaries"},
		{6, "sac-math", 0.837, 0.261, 9, large, []int{1}, "MATH level 4, n=9"},
	} {
		all = append(all, Preset{
			Entry:  synod.Entry{Name: fmt.Sprintf("sac-table%d", t.number), Summary: "SAC " + t.summary},
			Source: fmt.Sprintf("arXiv 2605.09076, Table %d", t.number),
			About: `SAC and CP-WBFT on the graphs of the paper, with F=3, T=6 and two adversaries: replay
(a reply to another question, as in the text) and weak-answer (as in the reference
code). Members sit as in that code: of seven nodes the adversaries are at 6, then 3, then
0; of nine at 7. Weak members have the first nodes that are left. The report lists who
never hears an adversary: on a MERG of seven, nodes 1 and 5 do not hear node 6. The
figures of the paper are for 30 questions and are compared with both adversaries. CP-WBFT runs one round
with stated confidence and decides by its own last step; in the paper its later rounds
repeat the first.

simulated  members with the initial accuracies of the table; "assumed" marks the
           figures that follow from them
embedded   the embedded model with a low temperature as strong and a high one as weak
           model. They hardly differ, so this does not test the claim of the paper
FILE       a council file with models strong and weak (gpt-4o-mini and gpt-3.5-turbo
           in the paper); seats, graph and protocol are those of the preset`,
			plan: t.plan,
		})
	}
	return all
}

func (t sacTable) plan(o Options) (*plan, error) {
	found, err := models(o, map[string]map[string]council.Params{
		"simulated": {
			"strong": {"provider": "simulated", "ability": t.strong, "seed": 1},
			"weak":   {"provider": "simulated", "ability": t.weak, "seed": 2},
		},
		"embedded": {
			"strong": {"provider": "embedded", "model": "smollm2-135m-instruct", "temperature": 0.2},
			"weak":   {"provider": "embedded", "model": "smollm2-135m-instruct", "temperature": 1.5},
		},
	}, "strong", "weak")
	if err != nil {
		return nil, err
	}
	p := &plan{}
	var note string
	if p.task, p.items, note, err = questions(o, t.task, sacQuestions); err != nil {
		return nil, err
	}
	p.note = strings.TrimSpace(sacNotes[o.Members] + " Adversary replay: its answers are invented. " + note)
	paper, err := sacPaper(t.number)
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"sac", "cp-wbft"} {
		for _, family := range slices.Sorted(maps.Keys(t.robust)) {
			for _, b := range t.byzantine {
				for _, adversary := range []string{"replay", "weak-answer"} {
					c, err := t.cell(o, name, family, b, adversary, found)
					if err != nil {
						return nil, err
					}
					c.Params["task"] = p.task
					c.Paper = paper[sacKey{name, family, b}]
					p.cells = append(p.cells, c)
				}
			}
		}
	}
	return p, nil
}

var sacNotes = map[string]string{
	"simulated": "Members: simulated, with the initial accuracies of the table.",
	"embedded":  "Members: one small model at two temperatures, so weak and strong hardly differ.",
}

// cell returns one council of the paper.
func (t sacTable) cell(o Options, name, family string, b int, adversary string,
	models map[string]council.Params) (cell, error) {
	weak := 3 - b
	spec := council.Default()
	spec.Council = fmt.Sprintf("%s-%s-b%d-%s", name, family, b, adversary)
	spec.Protocol = council.Params{"name": name}
	spec.Graph = council.Params{"family": family}
	if family == "er" || family == "preferential" {
		spec.Graph["r"] = t.robust[family]
	}
	if family == "er" {
		spec.Graph["seed"] = o.Seed
	}
	spec.F, spec.Exact, spec.Limits = 3, "paper", council.Limits{}
	switch name {
	case "sac":
		spec.Protocol["rounds"] = 6
	case "cp-wbft": // one round with stated confidence: later rounds of the paper repeat the first
		spec.Rule.Name = council.ByProtocol
	}
	if o.Members == "embedded" { // the embedded model writes no readable scores
		spec.Exact = ""
		if name == "sac" {
			spec.Protocol["score"] = "likelihood"
		}
	}
	spec.Models = models
	byzantine := sacByzantine[t.n][:b]
	spec.Seats = sacSeats(t.n, weak, byzantine, adversary)
	c := cell{spec: spec}
	c.Name = spec.Council
	g, err := topology.FromSpec(spec.Graph, t.n, 0)
	if err != nil {
		return c, err
	}
	c.Remark = unheard(g.Graph, spec.Seats, byzantine)
	c.Params = map[string]any{"protocol": name, "graph": family, "n": t.n, "b": b, "w": weak, "f": 3,
		"adversary": adversary, "r": t.robust[family], "exact": spec.Exact}
	if o.Members == "simulated" {
		c.Assumed = report.Assume(setAbility, "iaa", "weak_before", "strong_before", "weak_round_0", "strong_round_0")
	}
	return c, nil
}

// sacByzantine are the nodes of the adversaries, by the number of nodes. The reference code
// draws them with the seed 1234: {6}, {6,3} and {6,3,0} of seven nodes, {7} of nine.
var sacByzantine = map[int][]int{7: {6, 3, 0}, 9: {7}}

// sacSeats returns the seats in the order of the nodes: the adversaries at the given nodes,
// weak members at the first others, strong ones at the rest.
func sacSeats(n, weak int, byzantine []int, adversary string) (seats []council.SeatSpec) {
	for node := range n {
		s := council.SeatSpec{ID: fmt.Sprintf("s%d", node), Model: "strong", Group: "strong"}
		switch {
		case slices.Contains(byzantine, node):
			s = council.SeatSpec{ID: fmt.Sprintf("m%d", node), Model: "weak",
				Adversary: council.Params{"name": adversary}}
		case weak > 0:
			weak--
			s = council.SeatSpec{ID: fmt.Sprintf("w%d", node), Model: "weak", Group: "weak"}
		}
		seats = append(seats, s)
	}
	return seats
}

// unheard says which honest members have no adversary among their neighbours, so that they
// never hear one.
func unheard(g graph.Graph, seats []council.SeatSpec, byzantine []int) string {
	var ids []string
	for node, s := range seats {
		if !slices.Contains(byzantine, node) &&
			!slices.ContainsFunc(g.In(node), func(j int) bool { return slices.Contains(byzantine, j) }) {
			ids = append(ids, s.ID)
		}
	}
	if len(ids) == 0 {
		return "every honest member hears an adversary"
	}
	return "never hear an adversary: " + strings.Join(ids, ", ")
}

// setAbility is why the first answers of simulated members show nothing.
const setAbility = "the abilities of the simulated members were set to the initial accuracies in the paper"

// sacKey identifies a row of a table.
type sacKey struct {
	protocol, graph string
	b               int
}

// sacPaper returns the figures of a table.
func sacPaper(table int) (map[sacKey]map[string]report.Figure, error) {
	rows, err := csv.NewReader(bytes.NewReader(sacFigures)).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("sac.csv: %w", err)
	}
	figures := map[sacKey]map[string]report.Figure{}
	for i, row := range rows[1:] {
		number, err1 := strconv.Atoi(row[0])
		b, err2 := strconv.Atoi(row[3])
		value, err3 := strconv.ParseFloat(row[5], 64)
		if err1 != nil || err2 != nil || err3 != nil {
			return nil, fmt.Errorf("sac.csv: line %d is not valid", i+2)
		}
		if number != table || row[1] == "cp-wbft" && repeats(row[4]) {
			continue
		}
		key := sacKey{row[1], row[2], b}
		if figures[key] == nil {
			figures[key] = map[string]report.Figure{}
		}
		figures[key][row[4]] = report.Figure{Value: value / 100, N: sacQuestions}
	}
	return figures, nil
}

// repeats reports whether a metric is of a round after the first. For CP-WBFT, which has
// one round, the paper prints the same figures for all later rounds.
func repeats(metric string) bool {
	_, round, found := strings.Cut(metric, "_round_")
	return found && round > "1"
}
