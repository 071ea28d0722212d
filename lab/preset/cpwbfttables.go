package preset

import (
	"fmt"

	"synod.dev/synod/council"
)

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
