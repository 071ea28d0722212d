package page

import (
	"fmt"
	"html/template"
	"image/color"
	"slices"
	"strings"
	"time"

	"synod.dev/synod/internal/canvas"
	"synod.dev/synod/internal/plot"

	"synod.dev/synod/cmd/synod-serve/internal/store"
)

// spendPart shows API keys with their limits, and what was spent.
var spendPart = part{name: "Keys and spend", path: "/keys", routes: map[string]handler{"GET /keys": showSpend}}

// spendDays is how many days the chart shows.
const spendDays = 30

// spendView is the page of keys and spend.
type spendView struct {
	Keys    []store.Key
	Days    []spendDay // with requests, the newest first
	Models  []modelSpend
	Chart   template.HTML
	Total   store.Money
	Now     time.Time
	Own     bool // the viewer sees one key only
	Partial bool // the price of a part is not known
}

type spendDay struct {
	Day      string
	Requests int
	Spent    store.Money
	By       []keySpend
}

type keySpend struct {
	Name  string
	Spent store.Money
}

type modelSpend struct {
	ID string
	store.Spend
}

func showSpend(v *visit) error {
	ctx := v.R.Context()
	since := time.Now().UTC().AddDate(0, 0, 1-spendDays).Truncate(24 * time.Hour)
	view := &spendView{Now: time.Now(), Own: v.Key != nil && !v.Key.Admin}
	keys, err := v.p.o.Store.Keys(ctx)
	if err != nil {
		return err
	}
	var only *string
	if view.Own {
		keys = slices.DeleteFunc(keys, func(k store.Key) bool { return k.ID != v.Key.ID })
		only = &v.Key.ID
	}
	view.Keys = keys
	spent, err := v.p.o.Store.SpendByDay(ctx, since, only)
	if err != nil {
		return err
	}
	view.days(spent, since)
	id := ""
	if only != nil {
		id = *only
	}
	models, err := v.p.o.Store.SpendByModel(ctx, id, since)
	if err != nil {
		return err
	}
	for m, s := range models {
		view.Models = append(view.Models, modelSpend{m, s})
		view.Partial = view.Partial || s.Unpriced > 0
	}
	slices.SortFunc(view.Models, func(a, b modelSpend) int { return strings.Compare(a.ID, b.ID) })
	return v.show("keys.html", "Keys and spend", view)
}

// days sums the spend of each day and draws it.
func (view *spendView) days(spent []store.DaySpend, since time.Time) {
	names := map[string]string{"": "without a key"}
	for _, k := range view.Keys {
		names[k.ID] = k.Name
	}
	usd := make([]float64, spendDays)
	for _, s := range spent {
		day := s.Day.Format(time.DateOnly)
		if n := len(view.Days); n == 0 || view.Days[n-1].Day != day {
			view.Days = append(view.Days, spendDay{Day: day})
		}
		d := &view.Days[len(view.Days)-1]
		d.Requests += s.Requests
		d.Spent += s.Spent
		view.Total += s.Spent
		name := names[s.Key]
		if name == "" {
			name = "a key that is gone"
		}
		d.By = append(d.By, keySpend{name, s.Spent})
		if i := int(s.Day.Sub(since).Hours() / 24); i >= 0 && i < spendDays {
			usd[i] += s.Spent.USD()
		}
	}
	slices.Reverse(view.Days)
	view.Chart = chart(usd, since)
}

// chart draws what was spent on each day.
func chart(usd []float64, since time.Time) template.HTML {
	most := max(slices.Max(usd)*1.1, .01) // a cent: without spend, the axis would have millionths
	ink := color.RGBA{0x33, 0x33, 0x33, 255}
	c := &plot.Chart{Title: "Spent a day", TitleSize: 13, LabelSize: 11, TicksSize: 10, Ink: ink,
		Grid: color.RGBA{0xdd, 0xdd, 0xdd, 255}}
	c.X = plot.Axis{Min: -.7, Max: float64(len(usd)) - .3, Label: "day (UTC)"}
	c.Y = plot.Axis{Min: 0, Max: most, Label: "USD", Ticks: plot.Ticks(0, most, 5)}
	for i := range usd {
		if i%7 == 0 {
			c.X.Ticks = append(c.X.Ticks, plot.Tick{Value: float64(i), Label: since.AddDate(0, 0, i).Format("2 Jan")})
		}
		if usd[i] > 0 {
			at := float64(i)
			c.Box(plot.XY{X: at - .4}, plot.XY{X: at + .4, Y: usd[i]}, color.RGBA{0x56, 0xb4, 0xe9, 255},
				canvas.Stroke{Ink: ink, Width: .5})
		}
	}
	if c.Err() != nil {
		return ""
	}
	const margin = 8
	drawing, err := canvas.SVG(640, 240, func(on canvas.Canvas) { c.Draw(on.Crop(margin, margin, margin, margin)) })
	if err != nil {
		return ""
	}
	sum := 0.0
	for _, u := range usd {
		sum += u
	}
	return svg(drawing, fmt.Sprintf("Spent a day in the last %d days, %.4g USD in all; the table below has the figures",
		len(usd), sum))
}
