package preset

import (
	"bytes"
	_ "embed"
	"encoding/csv"
	"fmt"
	"slices"
	"strconv"

	"synod.dev/synod"
	"synod.dev/synod/council"
	"synod.dev/synod/graph/topology"
	"synod.dev/synod/report"
)

// cpFigures are Tables 1 to 3 of the CP-WBFT paper, in percent, with the number of
// questions behind each; 0: not printed. RA in Table 2 is the share of right decisions by
// Eq. 4, which is our decision_accuracy.
//
//go:embed cpwbft.csv
var cpFigures []byte

const (
	cpQuestions = 10 // questions of each task in the paper
	cpSize      = 7  // members
	cpPaper     = "arXiv 2511.10400, "
)

func cpTables() []Preset {
	return []Preset{
		{
			Entry: synod.Entry{Name: "cpwbft-pilot",
				Summary: "CP-WBFT pilot: traditional and LLM agents, 1 to 6 malicious of 7, every attack"},
			Source: cpPaper + "pilot study (Appendix A.3 and Table 1)", About: aboutPilot, plan: pilotPlan,
		},
		{
			Entry: synod.Entry{Name: "cpwbft-table1",
				Summary: "CP-WBFT pilot, GSM8K and XSTest: traditional and LLM agents by graph"},
			Source: cpPaper + "Table 1", About: aboutPilot, plan: cpTable1,
		},
		{
			Entry: synod.Entry{Name: "cpwbft-table2",
				Summary: "CP-WBFT, GSM8K and XSTest: stated and hidden confidence by graph, 6 malicious of 7"},
			Source: cpPaper + "Table 2", About: aboutTable2, plan: cpTable2,
		},
		{
			Entry: synod.Entry{Name: "cpwbft-table3",
				Summary: "CP-WBFT, GSM8K and XSTest: accuracy of the hidden probe by model and states"},
			Source: cpPaper + "Table 3", About: aboutTable3, plan: cpTable3,
		},
	}
}

// cpRow identifies a row of a table.
type cpRow struct{ task, graph, position, who string }

// cpTable returns the figures of a table.
func cpTable(table int) (map[cpRow]map[string]report.Figure, error) {
	lines, err := csv.NewReader(bytes.NewReader(cpFigures)).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("cpwbft.csv: %w", err)
	}
	figures := map[cpRow]map[string]report.Figure{}
	for i, line := range lines[1:] {
		number, err1 := strconv.Atoi(line[0])
		value, err2 := strconv.ParseFloat(line[6], 64)
		n, err3 := strconv.Atoi(line[7])
		if err1 != nil || err2 != nil || err3 != nil {
			return nil, fmt.Errorf("cpwbft.csv: line %d is not valid", i+2)
		}
		if number != table {
			continue
		}
		row := cpRow{line[1], line[2], line[3], line[4]}
		if figures[row] == nil {
			figures[row] = map[string]report.Figure{}
		}
		figures[row][line[5]] = report.Figure{Value: value / 100, N: n}
	}
	return figures, nil
}

// cpPlace is a row of Tables 1 and 2: a graph and the position of the malicious members.
type cpPlace struct{ graph, position string }

func (p cpPlace) String() string {
	if p.position == "any" {
		return p.graph
	}
	return p.graph + "-" + p.position
}

var cpPlaces = []cpPlace{
	{"complete", "any"}, {"star", "leaf"}, {"star", "centre"}, {"random", "any"}, {"layered", "any"}, {"tree", "any"},
	{"chain", "any"},
}

// allBut returns the malicious nodes if only one member is honest. The honest member is
// at node 1 or, on the star with malicious leaves, at the centre, node 0. This follows
// from Table 2, where FAA is (1 + degree of the honest node)/7.
func (p cpPlace) allBut() (malicious []int) {
	honest := 1
	if p.position == "leaf" {
		honest = 0
	}
	for i := range cpSize {
		if i != honest {
			malicious = append(malicious, i)
		}
	}
	return malicious
}

// fitted reports whether the place of the honest member, or the graph, was inferred from
// the FAA of hidden confidence in Table 2. On the complete graph all nodes are alike, and the
// rows of the star name the place.
func (p cpPlace) fitted() bool { return p.graph != "complete" && p.graph != "star" }

// build returns the graph (CP-6). The random graphs of the paper are not known, but node
// 1 has degree 3 in Table 2, so the first seed with this property is used.
func (p cpPlace) build() (topology.Built, error) {
	for seed := range uint64(1000) {
		g, err := topology.Build(p.graph, cpSize, nil, seed)
		if err != nil || p.graph != "random" && p.graph != "layered" || g.InDegree(1) == 3 {
			return g, err
		}
	}
	return topology.Built{}, fmt.Errorf("no %s graph with degree 3 at node 1 was found", p.graph)
}

// cpCouncil describes a council of seven members with some malicious ones.
type cpCouncil struct {
	cpPlace
	name      string
	malicious []int
	set       cpSet
	protocol  council.Params
	rule      string
	models    cpModels
	adversary string // of malicious members; "": they are a weaker model that takes part honestly
}

// cell returns the cell of the council. Seats are in the order of the nodes.
func (c cpCouncil) cell() (cell, error) {
	g, err := c.build()
	if err != nil {
		return cell{}, err
	}
	spec := council.Default()
	spec.Council, spec.Protocol, spec.Rule = c.name, c.protocol, council.Rule{Name: c.rule}
	spec.Graph = council.Params{"family": c.graph}
	if c.graph == "random" || c.graph == "layered" {
		spec.Graph["seed"] = g.Seed
	}
	spec.F, spec.Exact, spec.Limits, spec.Models = len(c.malicious), c.models.exact(), council.Limits{}, c.models.by
	for i := range cpSize {
		seat := council.SeatSpec{ID: fmt.Sprintf("s%d", i), Model: "strong", Group: "strong"}
		if slices.Contains(c.malicious, i) {
			seat = council.SeatSpec{ID: fmt.Sprintf("m%d", i), Model: "weak", Group: "weak"}
			if c.adversary != "" {
				seat.Group, seat.Adversary = "", council.Params{"name": c.adversary}
			}
		}
		spec.Seats = append(spec.Seats, seat)
	}
	out := cell{spec: spec, task: c.set.task, items: c.set.items, blank: c.models.missing}
	out.Name, out.Assumed = c.name, c.models.assumed.And(nil)
	adversary := c.adversary
	if adversary == "" {
		adversary = "weak-model"
	}
	out.Params = map[string]any{
		"protocol": "cp-wbft", "probe": c.protocol["probe"], "graph": c.graph, "position": c.position, "n": cpSize,
		"b": len(c.malicious), "w": 0,
		"adversary": adversary, "task": c.set.task, "dataset": c.set.name, "exact": spec.Exact,
	}
	return out, nil
}

const aboutTable2 = `CP-WBFT (one round, then Eq. 4 as decision rule) with seven members, of which six are
"Byzantine". In this paper that means a weaker model that takes part honestly, so no
seat is an adversary, and h_majority and capture have no meaning. The honest member is
at node 1 (or at the centre, node 0, if the leaves of the star are malicious). The
random and layered graphs are the first ones with degree 3 at this node, as in the
figures of the paper, so FAA and BFTI of -hcp- cells are "assumed" with all members
except on the complete graph and the star. RA in the paper is decision_accuracy. The
figures of the paper are for ten questions of each task, chosen so that the strong model
is right and the weak one wrong. -pcp- cells use stated confidence, -hcp- cells that of a hidden probe.

simulated  abilities that give the mean IAA of the table. The confidence in right and
           wrong answers has the difference and noise of the recordings of the paper:
           hidden confidence of the same task, so every figure of -hcp- cells is assumed;
           stated confidence of CommonsenseQA (0.84 and 0.80), the only one available
recorded   with --data DIR: the answers and hidden confidences of the paper for its ten
           questions, so every figure is assumed. There are no stated confidences, so
           -pcp- cells stay empty
embedded   the embedded model at two temperatures, stated confidence only
FILE       a council file with models strong and weak; for -hcp- cells both must be
           {provider: embedded, probe: FILE}, made by synod probe train. A probe is for
           one form of answer: use --cell 'gsm8k-*'`

// cpTable2 returns the cells of Table 2: PCP and HCP with six of seven members of a weaker
// model.
func cpTable2(o Options) (*plan, error) {
	sets, note, err := cpSets(o, cpTasks)
	if err != nil {
		return nil, err
	}
	paper, err := cpTable(2)
	if err != nil {
		return nil, err
	}
	p := &plan{note: note}
	for _, s := range sets {
		for _, probe := range []string{"stated", "hidden"} {
			models, err := cpKind{2, probe}.models(o, s, paper)
			if err != nil {
				return nil, err
			}
			for _, place := range cpPlaces {
				c, err := cpCouncil{
					cpPlace: place, name: fmt.Sprintf("%s-%s-%s", s.name,
						map[string]string{"stated": "pcp", "hidden": "hcp"}[probe], place),
					malicious: place.allBut(), set: s, models: models, rule: council.ByProtocol,
					protocol: council.Params{"name": "cp-wbft", "probe": probe},
				}.cell()
				if err != nil {
					return nil, err
				}
				c.Paper = paper[cpRow{s.name, place.graph, place.position, probe}]
				if probe == "hidden" && place.fitted() {
					c.Assumed = c.Assumed.And(report.Assume(placed, "faa", "bfti"))
				}
				p.cells = append(p.cells, c)
			}
		}
	}
	return p, nil
}
