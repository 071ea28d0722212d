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
	"synod.dev/synod/graph"
	"synod.dev/synod/report"
)

// cpFigures are Tables 1 to 3 of the CP-WBFT paper, in percent, with the number of
// questions behind each; 0: not printed. What Table 2 calls RA is the share decided
// rightly by Eq. 4, which is our decision_accuracy.
//
//go:embed cpwbft.csv
var cpFigures []byte

const (
	cpQuestions = 10 // of a task, in the paper
	cpSize      = 7  // members
	cpPaper     = "arXiv 2511.10400, "
)

func cpTables() []Preset {
	return []Preset{
		{
			Entry:  synod.Entry{Name: "cpwbft-pilot", Summary: "CP-WBFT pilot: traditional and LLM agents, 1 to 6 malicious of 7, every attack"},
			Source: cpPaper + "pilot study (Appendix A.3 and Table 1)", About: aboutPilot, plan: pilotPlan,
		},
		{
			Entry:  synod.Entry{Name: "cpwbft-table1", Summary: "CP-WBFT pilot, GSM8K and XSTest: traditional and LLM agents by graph"},
			Source: cpPaper + "Table 1", About: aboutPilot, plan: cpTable1,
		},
		{
			Entry:  synod.Entry{Name: "cpwbft-table2", Summary: "CP-WBFT, GSM8K and XSTest: stated and hidden confidence by graph, 6 malicious of 7"},
			Source: cpPaper + "Table 2", About: aboutTable2, plan: cpTable2,
		},
		{
			Entry:  synod.Entry{Name: "cpwbft-table3", Summary: "CP-WBFT, GSM8K and XSTest: accuracy of the hidden probe by model and states"},
			Source: cpPaper + "Table 3", About: aboutTable3, plan: cpTable3,
		},
	}
}

// cpRow names a line of the paper's tables.
type cpRow struct{ task, graph, position, who string }

// cpTable reads a table's figures.
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
			return nil, fmt.Errorf("cpwbft.csv: line %d cannot be read", i+2)
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

// cpPlace is a line of Tables 1 and 2: a graph, and where the malicious sit.
type cpPlace struct{ graph, position string }

func (p cpPlace) String() string {
	if p.position == "any" {
		return p.graph
	}
	return p.graph + "-" + p.position
}

var cpPlaces = []cpPlace{
	{"complete", "any"}, {"star", "leaf"}, {"star", "centre"}, {"random", "any"}, {"layered", "any"}, {"tree", "any"}, {"chain", "any"},
}

// allBut is who is malicious where one member is honest: it sits at node 1, and at
// the centre, node 0, of the star whose leaves are malicious. Table 2 leaves no
// other reading: its FAA is (1 + degree of the honest node)/7.
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

// build draws the graph (CP-6). The paper's own draws of its random graphs are not
// known, but Table 2 says that node 1 has degree 3 in them: the first seed with
// that is taken.
func (p cpPlace) build() (graph.Built, error) {
	for seed := range uint64(1000) {
		g, err := graph.Build(p.graph, cpSize, nil, seed)
		if err != nil || p.graph != "random" && p.graph != "layered" || g.InDegree(1) == 3 {
			return g, err
		}
	}
	return graph.Built{}, fmt.Errorf("no %s graph has a node 1 of degree 3", p.graph)
}

// cpCouncil is a council of seven of whom some are malicious.
type cpCouncil struct {
	cpPlace
	name      string
	malicious []int
	set       cpSet
	protocol  council.Params
	rule      string
	models    cpModels
	adversary string // put around the malicious; "": they are a weaker model that takes part honestly
}

// cell seats it. The member at each node is its seat in order.
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
	out.Name, out.Assumed = c.name, c.models.assumed
	liar := c.adversary
	if liar == "" {
		liar = "weak-model"
	}
	out.Params = map[string]any{
		"protocol": "cp-wbft", "probe": c.protocol["probe"], "graph": c.graph, "position": c.position, "n": cpSize, "b": len(c.malicious), "w": 0,
		"adversary": liar, "task": c.set.task, "dataset": c.set.name, "exact": spec.Exact,
	}
	return out, nil
}

const aboutTable2 = `CP-WBFT (one round, then Eq. 4 as the council's rule) among seven members of whom
six are "Byzantine", which in this paper means: run by a weaker model that takes part
honestly. So no seat is an adversary here, and h_majority and capture say nothing.
The honest member sits at node 1 (0, the centre, where the star's leaves are
malicious); random and layered graphs are the first draws that give it degree 3, as
the paper's figures say. What the paper calls RA is decision_accuracy. Figures rest
on ten questions a task that were chosen so that the strong model is right and the
weak one wrong. -pcp- cells: stated confidence. -hcp-: a hidden probe's.

simulated  abilities that give the table's mean IAA ("assumed"); confidence in right
           and wrong answers as far apart, and as noisy, as in the paper's recordings:
           hidden of the same task, stated of CommonsenseQA (0.84 and 0.80), because
           that is all there is
recorded   with --data DIR: the paper's own answers and hidden confidences to its ten
           questions. Its files have no stated confidences, so -pcp- cells stay empty
embedded   the model in the box at two temperatures, stated confidence only
FILE       a council file with models strong and weak; -hcp- cells need each to be
           {provider: embedded, probe: FILE}, made by synod probe train. A probe is for
           one form of answer: use --cell 'gsm8k-*'`

// cpTable2 is PCP against HCP: six of seven are a weaker model.
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
			models, err := cpKind{2, probe}.seat(o, s, paper)
			if err != nil {
				return nil, err
			}
			for _, place := range cpPlaces {
				c, err := cpCouncil{
					cpPlace: place, name: fmt.Sprintf("%s-%s-%s", s.name, map[string]string{"stated": "pcp", "hidden": "hcp"}[probe], place),
					malicious: place.allBut(), set: s, models: models, rule: council.ByProtocol,
					protocol: council.Params{"name": "cp-wbft", "probe": probe},
				}.cell()
				if err != nil {
					return nil, err
				}
				c.Paper = paper[cpRow{s.name, place.graph, place.position, probe}]
				p.cells = append(p.cells, c)
			}
		}
	}
	return p, nil
}
