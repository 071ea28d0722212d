package report

import (
	"image/color"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
)

// bars are a plot with a row for every cell and a panel for every group of bars.
type bars struct {
	name, title, caption string
	panels               []barPanel
	explain              []barSign
}

type barPanel struct {
	title string
	bars  []barOf // one or two, from the top
}

type barOf struct {
	metric       string
	fill, stroke color.RGBA
}

type barSign struct {
	name string
	fill color.Color
}

func beforeAfter(before, after string, ink color.RGBA) []barOf {
	return []barOf{{before, pale(ink), ink}, {after, ink, ink}}
}

func one(metric string, ink color.RGBA) []barOf { return []barOf{{metric, pale(ink), ink}} }

var beforeAfterBars = bars{
	name: "before-after", title: "Members right before and after the rounds",
	caption: "Share of right answers before the rounds (pale) and after (full), with 95 % intervals. " + membersNote,
	panels: []barPanel{
		{"all (IAA, FAA)", beforeAfter("iaa", "faa", allColour)},
		{"strong", beforeAfter("strong_before", "strong_after", strongColour)},
		{"weak", beforeAfter("weak_before", "weak_after", weakColour)},
	},
	explain: []barSign{{"before", pale(allColour)}, {"after", allColour}},
}

var decisionBars = bars{
	name: "decisions", title: "Questions decided rightly",
	caption: "Share of questions with Wilson’s 95 % interval: whose plurality of all seats (RA) and of the honest seats is right, whose decision is right of those made, and that an adversary captured.",
	panels: []barPanel{
		{"plurality (RA)", one("ra", allColour)},
		{"honest plurality", one("h_majority", strongColour)},
		{"decided rightly", one("decision_accuracy", modelColours[2])},
		{"captured", one("capture", modelColours[5])},
	},
}

var outcomeBars = bars{
	name: "outcomes", title: "How games ended",
	caption: "Share of games with Wilson’s 95 % interval. Valid: all honest players hold one number that an honest player was given; invalid: one that none was given; premature: different numbers; none: nobody ended it in time.",
	panels: []barPanel{
		{"valid", one("valid", modelColours[2])},
		{"invalid", one("invalid", modelColours[1])},
		{"premature", one("premature", modelColours[5])},
		{"none", one("none", allColour)},
	},
}

// plot is none where there is no data or there are too many cells.
func (b bars) plot(g *Grid) []Plot {
	cells := g.cells(func(c Cell) bool { return c.has(b.names()...) })
	if len(cells) == 0 || len(cells) > mostCells {
		return nil
	}
	b.panels = slices.DeleteFunc(slices.Clone(b.panels), func(p barPanel) bool {
		return !slices.ContainsFunc(cells, func(c Cell) bool {
			return slices.ContainsFunc(p.bars, func(bar barOf) bool { return c.has(bar.metric) })
		})
	})
	f := Plot{Name: b.name, Title: g.titled(b.title), Caption: b.caption + paperNote(cells, b.names()), wide: true}
	f.data(cells, nil, b.names())
	f.SVG, f.PNG = drawn(func() (*panels, error) { return b.draw(f.Title, cells) })
	return []Plot{f}
}

// names lists the metrics.
func (b *bars) names() (names []string) {
	for _, p := range b.panels {
		for _, bar := range p.bars {
			names = append(names, bar.metric)
		}
	}
	return names
}

func (b *bars) draw(title string, cells []Cell) (*panels, error) {
	tall := vg.Points(14)
	if len(b.panels[0].bars) > 1 {
		tall = vg.Points(28)
	}
	p := newPanels(title, len(b.panels), vg.Points(44)+tall*vg.Length(len(cells)))
	for k, panel := range b.panels {
		c := p.add(panel.title)
		c.rowsOf(cells, k == 0)
		for i := range cells {
			if err := panel.row(c, float64(len(cells)-1-i), &cells[i]); err != nil {
				return nil, err
			}
		}
		c.X.Min, c.X.Max = 0, 1
		c.X.Tick.Marker = plot.ConstantTicks(percents(50))
	}
	for _, e := range b.explain {
		p.explain(e.name, swatch{e.fill})
	}
	if paperNote(cells, b.names()) != "" {
		p.explain("the paper", sign{paperMark})
	}
	return p, nil
}

// row draws the bars of a cell around a height, each with our interval in its
// upper half and the paper's in its lower.
func (b *barPanel) row(c *chart, y float64, cell *Cell) error {
	thick := .8 / float64(len(b.bars))
	for k, bar := range b.bars {
		middle := y + thick*(float64(len(b.bars)-1)/2-float64(k))
		ours, theirs := cell.Metrics[bar.metric], cell.published(bar.metric)
		aside := 0.0
		if theirs != nil {
			aside = thick / 4
		}
		if ours != nil {
			if err := c.bar(middle, thick, ours.Value, bar.fill, bar.stroke); err != nil {
				return err
			}
			if err := c.across(middle+aside, ours, allColour); err != nil {
				return err
			}
		}
		if theirs != nil {
			if err := c.across(middle-aside, theirs, paperColour); err != nil {
				return err
			}
			if err := c.dot(theirs.Value, middle-aside, paperMark); err != nil {
				return err
			}
		}
	}
	return nil
}

// rowsOf makes the vertical axis one of cells, from the top; their names stand
// where they are wanted.
func (c *chart) rowsOf(cells []Cell, named bool) {
	var ticks []plot.Tick
	for i := range cells {
		tick := plot.Tick{Value: float64(len(cells) - 1 - i)}
		if named {
			tick.Label = shorten(plain(cells[i].Cell), 40)
		}
		ticks = append(ticks, tick)
	}
	c.Y.Tick.Marker, c.Y.Tick.LineStyle.Width = plot.ConstantTicks(ticks), 0
	c.Y.Tick.Length = 0
	if named {
		c.Y.Tick.Length = vg.Points(14) // readers' fonts may be wider than what was measured with
	}
	c.Y.Min, c.Y.Max = -.6, float64(len(cells))-.4
}
