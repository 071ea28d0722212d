package attack

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"synod.dev/synod/bench"
	"synod.dev/synod/bench/metrics"
	"synod.dev/synod/bench/report"
)

// GuideExperiment is the name of the preset that NewGuide reads.
const GuideExperiment = "attack-table"

// Guide compares protocols by what every adversary does to them, for each kind of members.
type Guide struct {
	Version int            `json:"version"`
	Range   *JudgeRange    `json:"range,omitempty"` // nil: no grid of RangeExperiment was read
	Parts   []*MembersPart `json:"parts"`
}

// MembersPart is the figures of one kind of members.
type MembersPart struct {
	Members    string `json:"members"` // simulated, recorded or embedded
	Note       string `json:"note"`
	Judging    string `json:"judging,omitempty"` // how simulated members judge; "": none is simulated
	Unfinished int    `json:"unfinished"`        // cells that are left out, because questions are missing
	Counts     []Met  `json:"cells"`             // without adversaries first for each protocol, in the order of the preset
}

// Met is what a protocol decided when it met an adversary, or none. All figures but Calls count questions, each asked
// once.
type Met struct {
	Protocol  string  `json:"protocol"`
	Adversary string  `json:"adversary"` // "": none
	Members   int     `json:"members"`   // seats of the adversary
	Questions int     `json:"questions"`
	Right     int     `json:"right"`
	Decided   int     `json:"decided"`
	Captured  int     `json:"captured"` // with a wrong decision that an adversary held
	Calls     float64 `json:"calls"`    // for a question, with those answered from a cache
}

// NewGuide computes the guide from a grid of the preset attack-table, or its range from one of judge-range.
func NewGuide(grid *bench.Grid) (*Guide, error) {
	if grid.Preset != GuideExperiment && grid.Preset != RangeExperiment {
		return nil, fmt.Errorf("it is a grid of another experiment; make one with: synod bench run %s -o FOLDER",
			GuideExperiment)
	}
	r, err := grid.Report()
	if err != nil {
		return nil, err
	}
	if r.Repeat > 1 {
		return nil, fmt.Errorf("each question was asked %d times, and the intervals of this page are for questions "+
			"asked once; leave --repeat out", r.Repeat)
	}
	if grid.Preset == RangeExperiment {
		return newRange(grid.Note, r.Cells)
	}
	p := &MembersPart{Members: cmp.Or(grid.Members, "simulated"), Note: grid.Note, Judging: r.Judging(),
		Counts: []Met{}}
	for i := range r.Cells {
		p.add(&r.Cells[i])
	}
	g := &Guide{Version: Version}
	return g, g.join(p)
}

// ReadGuide reads a guide that Write wrote as JSON.
func ReadGuide(r io.Reader) (*Guide, error) {
	g := &Guide{}
	d := json.NewDecoder(r)
	d.DisallowUnknownFields()
	if err := d.Decode(g); err != nil {
		return nil, fmt.Errorf("this is not a guide; write one with: synod attack guide FOLDER --format json: %w", err)
	}
	if g.Version != Version {
		return nil, fmt.Errorf("the guide has version %d; this program reads version %d", g.Version, Version)
	}
	if err := g.Range.check(); err != nil {
		return nil, err
	}
	for _, p := range g.Parts {
		if p == nil || len(p.Counts) == 0 {
			return nil, errors.New("the guide has a part without figures")
		}
		for _, m := range p.Counts {
			if err := m.check(); err != nil {
				return nil, err
			}
		}
	}
	return g, nil
}

// check returns an error for counts that cannot be.
func (m *Met) check() error {
	if m.Protocol == "" || m.Members < 0 || (m.Adversary == "") != (m.Members == 0) || m.Questions < 1 ||
		m.Right < 0 || m.Captured < 0 || m.Right+m.Captured > m.Decided || m.Decided > m.Questions ||
		!(m.Calls >= 0) {
		return fmt.Errorf("the counts of %q against %q cannot be: %+v", m.Protocol, m.Adversary, *m)
	}
	return nil
}

// Join adds the figures of another guide. Parts of the same kind of members become one.
func (g *Guide) Join(other *Guide) error {
	if g.Range != nil && other.Range != nil {
		return errors.New("two grids have the range of judges; name one")
	}
	g.Range = cmp.Or(g.Range, other.Range)
	for _, p := range other.Parts {
		if err := g.join(p); err != nil {
			return err
		}
	}
	return nil
}

// join adds a part, to that of the same kind of members if there is one.
func (g *Guide) join(p *MembersPart) error {
	if !slices.ContainsFunc(p.Counts, func(m Met) bool { return m.Members == 0 }) {
		return fmt.Errorf("no cell without adversaries is finished with %s members", p.Members)
	}
	i := slices.IndexFunc(g.Parts, func(q *MembersPart) bool { return q.Members == p.Members })
	if i < 0 {
		g.Parts = append(g.Parts, p)
		return nil
	}
	q := g.Parts[i]
	for _, m := range p.Counts {
		if q.find(m.Protocol, m.Adversary, m.Members) != nil {
			return fmt.Errorf("%s against %d × %q with %s members is there twice; name one grid of them", m.Protocol,
				m.Members, m.Adversary, p.Members)
		}
		q.Counts = append(q.Counts, m)
	}
	q.Unfinished += p.Unfinished
	return nil
}

// add adds a cell. A cell with unfinished questions is counted only.
func (p *MembersPart) add(c *report.Cell) {
	switch m, finished := met(c); {
	case c.Why != "": // it is blank
	case !finished:
		p.Unfinished++
	default:
		p.Counts = append(p.Counts, m)
	}
}

// met returns the figures of a cell; false if questions of it are missing.
func met(c *report.Cell) (Met, bool) {
	r := c.Report
	if r.Finished == 0 || r.Finished < r.Questions {
		return Met{}, false
	}
	count := func(of *metrics.Rate) int {
		if of == nil {
			return 0
		}
		return int(math.Round(of.Value * float64(of.N)))
	}
	m := Met{Protocol: fmt.Sprint(c.Params["protocol"]), Questions: r.Finished, Right: count(r.Metrics.Decision),
		Decided: count(r.Metrics.Agreed), Captured: count(r.Metrics.Capture),
		Calls: float64(r.Calls.Made+r.Calls.Reused) / float64(r.Finished)}
	if b, _ := strconv.Atoi(fmt.Sprint(c.Params["b"])); b > 0 {
		m.Adversary, m.Members = fmt.Sprint(c.Params["adversary"]), b
		if len(adversaries(r)) > b { // evaluators of DecentLLMs that favour the answer of a worker
			m.Adversary += " + number-alterer"
		}
	}
	return m, true
}

// adversaries returns the ids of the seats that have an adversary.
func adversaries(r *report.Report) (ids []string) {
	for _, s := range r.Seats {
		if s.Adversary != "" {
			ids = append(ids, s.ID)
		}
	}
	return ids
}

// find returns the figures of a protocol against an adversary; nil if there are none.
func (p *MembersPart) find(protocol, adversary string, members int) *Met {
	for i := range p.Counts {
		if m := &p.Counts[i]; m.Protocol == protocol && m.Adversary == adversary && m.Members == members {
			return m
		}
	}
	return nil
}

// worst returns the attack of so many members that left the fewest right decisions, and of these the one with the most
// captures. Captures alone would rank an adversary that holds the council's own mistakes. It returns nil if none was
// played.
func (p *MembersPart) worst(protocol string, members int) *Met {
	var worst *Met
	for i := range p.Counts {
		m := &p.Counts[i]
		if m.Protocol == protocol && m.Members == members && (worst == nil ||
			cmp.Or(cmp.Compare(worst.Right, m.Right), cmp.Compare(m.Captured, worst.Captured)) > 0) {
			worst = m
		}
	}
	return worst
}

// protocols returns those with a cell without adversaries, in order.
func (p *MembersPart) protocols() (names []string) {
	for _, m := range p.Counts {
		if m.Members == 0 {
			names = append(names, m.Protocol)
		}
	}
	return names
}

// most is the greatest number of adversaries in a part.
func (p *MembersPart) most() (most int) {
	for _, m := range p.Counts {
		most = max(most, m.Members)
	}
	return most
}
