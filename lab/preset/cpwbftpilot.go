package preset

import (
	"fmt"

	"synod.dev/synod/council"
	"synod.dev/synod/graph/topology"
	"synod.dev/synod/report"
)

const aboutPilot = `The pilot study: seven members without confidences. Traditional agents have given
answers and adopt the majority of their own and their neighbours' answers; a malicious
one keeps its wrong answer. LLM agents answer, and reconsider in three rounds with the
answers of their neighbours; a malicious one is a weaker model that does the same. The
paper does not state the number of rounds; three is our choice.

cpwbft-table1  two malicious traditional agents (three on the complete graph) and six
               malicious LLM agents. The paper does not state where the traditional ones
               are: here at the nodes with the lowest degree, or as the row of the star
               says
cpwbft-pilot   GSM8K, one to six malicious members at every position that the paper
               attacks: star centre and leaf, chain head, middle and tail, tree root,
               internal and leaf, layered top, middle and bottom, random highest and
               lowest degree. The paper prints figures only for the numbers of Table 1,
               and positions only for stars

RA in the paper is compared with ra, the plurality over all members at the end.

simulated  abilities that give the mean IAA of Table 1 ("assumed")
embedded   the embedded model at two temperatures; use --cell and a small -n
FILE       a council file with models strong and weak (gpt-4o-mini and gpt-3.5-turbo
           in the paper). Traditional agents always have given answers`

// pilotRounds is the number of rounds of the pilot study.
const pilotRounds = 3

// The agents of the pilot study (CP-5).
const (
	traditional = "traditional"
	llmAgents   = "llm"
)

// pilots makes the cells of both kinds of agents for one data set.
type pilots struct {
	set    cpSet
	paper  map[cpRow]map[string]report.Figure
	models map[string]cpModels // by agents
}

func newPilots(o Options, s cpSet) (*pilots, error) {
	paper, err := cpTable(1)
	if err != nil {
		return nil, err
	}
	p := &pilots{set: s, paper: paper, models: map[string]cpModels{traditional: {
		by: map[string]council.Params{
			"strong": {"provider": "simulated", "ability": 1},
			"weak":   {"provider": "simulated", "ability": 0, "wrong": 1},
		},
		assumed: report.Assume("the answers of traditional agents are given, in the numbers of the table", "iaa",
			"strong_before", "strong_round_0"),
	}}}
	p.models[llmAgents], err = cpKind{1, llmAgents}.models(o, s, paper)
	return p, err
}

func (p *pilots) cell(name, agents string, place cpPlace, malicious []int) (cell, error) {
	c := cpCouncil{
		cpPlace: place, name: name, malicious: malicious, set: p.set, models: p.models[agents], rule: council.Plurality,
		protocol: council.Params{"name": "cp-wbft", "probe": "none", "adopt": "none", "reflect": true,
			"rounds": pilotRounds},
	}
	if agents == traditional {
		c.protocol = council.Params{"name": "cp-wbft", "probe": "none", "adopt": "majority", "rounds": pilotRounds}
		c.adversary = "weak-answer"
	}
	out, err := c.cell()
	if err == nil {
		out.Params["agents"] = agents
	}
	if agents == traditional && (place.graph == "tree" || place.graph == "layered") {
		out.Assumed = out.Assumed.And(report.Assume(unplaced, "faa"))
	}
	return out, err
}

// cpTable1 returns the cells of Table 1.
func cpTable1(o Options) (*plan, error) {
	sets, note, err := cpSets(o, cpTasks)
	if err != nil {
		return nil, err
	}
	p := &plan{note: note}
	for _, s := range sets {
		pilot, err := newPilots(o, s)
		if err != nil {
			return nil, err
		}
		for _, agents := range []string{traditional, llmAgents} {
			for _, place := range cpPlaces {
				malicious := place.allBut()
				if agents == traditional {
					if malicious, err = place.given(); err != nil {
						return nil, err
					}
				}
				c, err := pilot.cell(fmt.Sprintf("%s-%s-%s", s.name, agents, place), agents, place, malicious)
				if err != nil {
					return nil, err
				}
				c.Paper = pilot.paper[cpRow{s.name, place.graph, place.position, agents}]
				p.cells = append(p.cells, c)
			}
		}
	}
	return p, nil
}

// given returns the nodes of the malicious traditional agents of Table 1.
func (p cpPlace) given() ([]int, error) {
	g, err := p.build()
	if err != nil {
		return nil, err
	}
	at := p.position
	if at == "any" {
		at = "degree-low"
	}
	return topology.Place(g, at, givenMalicious(p.graph), 0, nil)
}

// givenMalicious returns the number of malicious traditional agents in Table 1.
func givenMalicious(family string) int {
	if family == "complete" {
		return 3
	}
	return 2
}

// attacks are the positional attacks of the pilot study, as placements of package graph.
var attacks = []struct {
	graph     string
	positions []string
}{
	{"complete", []string{"any"}}, {"star", []string{"centre", "leaf"}}, {"chain", []string{"head", "middle", "tail"}},
	{"tree", []string{"root", "internal", "leaf"}}, {"layered", []string{"top", "middle", "bottom"}},
	{"random", []string{"degree-high", "degree-low"}},
}

// pilotPlan returns a cell for every number of malicious members at every position.
func pilotPlan(o Options) (*plan, error) {
	sets, note, err := cpSets(o, cpTasks[:1])
	if err != nil {
		return nil, err
	}
	pilot, err := newPilots(o, sets[0])
	if err != nil {
		return nil, err
	}
	p := &plan{note: note}
	for _, agents := range []string{traditional, llmAgents} {
		for _, a := range attacks {
			for _, position := range a.positions {
				for b := 1; b < cpSize; b++ {
					c, err := pilot.attack(agents, cpPlace{a.graph, position}, b)
					if err != nil {
						return nil, err
					}
					p.cells = append(p.cells, c)
				}
			}
		}
	}
	return p, nil
}

// attack returns a cell of the pilot study, with the figures of the paper if it has any.
func (p *pilots) attack(agents string, place cpPlace, b int) (cell, error) {
	g, err := place.build()
	if err != nil {
		return cell{}, err
	}
	at := place.position
	if at == "any" { // all nodes are equivalent
		at = "degree-low"
	}
	malicious, err := topology.Place(g, at, b, 0, nil)
	if err != nil {
		return cell{}, err
	}
	c, err := p.cell(fmt.Sprintf("%s-%s-b%d", agents, place, b), agents, place, malicious)
	if printed := map[string]int{traditional: givenMalicious(place.graph),
		llmAgents: cpSize - 1}; b == printed[agents] {
		c.Paper = p.paper[cpRow{p.set.name, place.graph, place.position, agents}]
	}
	return c, err
}
