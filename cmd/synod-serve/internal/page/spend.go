package page

import (
	"fmt"
	"html/template"
	"slices"
	"strings"
	"time"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"

	"synod.dev/synod/cmd/synod-serve/internal/store"
	"synod.dev/synod/internal/chart"
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
	view.Chart = spendChart(usd, since)
}

// spendChart draws what was spent on each day.
func spendChart(usd []float64, since time.Time) template.HTML {
	c := chart.New(10)
	var days plot.ConstantTicks
	for i := range usd {
		if i%7 == 0 {
			days = append(days, plot.Tick{Value: float64(i), Label: since.AddDate(0, 0, i).Format("2 Jan")})
		}
		if at := float64(i); usd[i] > 0 {
			c.Box(plotter.XY{X: at - .4}, plotter.XY{X: at + .4, Y: usd[i]}, chart.Sky, chart.Ink)
		}
	}
	most := max(slices.Max(usd)*1.1, .01) // a cent: without spend, the axis would have millionths
	c.X.Min, c.X.Max, c.X.Tick.Marker, c.X.Label.Text = -.7, float64(len(usd))-.3, days, "day (UTC)"
	c.Y.Min, c.Y.Max, c.Y.Tick.Marker, c.Y.Label.Text = 0, most, chart.Ticks(0, most, 5), "USD"
	f := chart.Figure{Title: "Spent a day", Charts: []*chart.Chart{c}}
	drawing, err := f.File("svg", 640, 240)
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
