package gateway

import (
	"context"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"synod.dev/synod/bench/metrics"

	"synod.dev/synod/cmd/synod-serve/internal/store"
)

// drifts tests whether the answers of a council are right as often as it stated, by what users said about them.
func drifts(ctx context.Context, st *store.Store, model string) ([]metrics.Drift, error) {
	marks, err := st.Marks(ctx, model)
	if err != nil {
		return nil, err
	}
	return metrics.Drifts(metrics.Marked(marks)), nil
}

// WarnOfDrift logs which councils state probabilities that promise too much.
func (g *Gateway) WarnOfDrift(ctx context.Context) {
	stamps, err := g.o.Store.LabelStamps(ctx)
	if err != nil {
		g.o.Log.Error("labels cannot be read", "error", err.Error())
	}
	for model := range stamps {
		tests, err := drifts(ctx, g.o.Store, model)
		if err != nil {
			g.o.Log.Error("labels cannot be read", "model", model, "error", err.Error())
		}
		for _, d := range tests {
			if d.Warns {
				g.o.Log.Warn("probabilities of a council promise too much; calibrate it again", "model", model, "found",
					d.Warning())
			}
		}
	}
}

// driftMetrics says which councils state probabilities that promise too much. It tests a council again when its labels
// have changed.
type driftMetrics struct {
	store *store.Store
	desc  *prometheus.Desc

	mu     sync.Mutex
	stamps map[string]string // by model
	warns  map[string]float64
}

// Drift also reports whether the answers of councils are right as often as they state, by the labels in a store.
func (m *Metrics) Drift(st *store.Store) {
	m.registry.MustRegister(&driftMetrics{store: st, stamps: map[string]string{}, warns: map[string]float64{},
		desc: prometheus.NewDesc("synod_probability_drift", "1 if labels show that answers of the council are right "+
			"less often than it stated, else 0; it is missing without labels.", []string{"model"}, nil)})
}

// Describe implements prometheus.Collector.
func (d *driftMetrics) Describe(to chan<- *prometheus.Desc) { to <- d.desc }

// Collect implements prometheus.Collector.
func (d *driftMetrics) Collect(to chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), scrapeTime)
	defer cancel()
	d.mu.Lock()
	defer d.mu.Unlock()
	stamps, err := d.store.LabelStamps(ctx)
	for model, stamp := range stamps {
		if err == nil && d.stamps[model] != stamp {
			err = d.test(ctx, model)
		}
		if err == nil {
			d.stamps[model] = stamp
			to <- prometheus.MustNewConstMetric(d.desc, prometheus.GaugeValue, d.warns[model], model)
		}
	}
	if err != nil {
		to <- prometheus.NewInvalidMetric(d.desc, err)
	}
}

func (d *driftMetrics) test(ctx context.Context, model string) error {
	tests, err := drifts(ctx, d.store, model)
	d.warns[model] = 0
	for _, t := range tests {
		if t.Warns {
			d.warns[model] = 1
		}
	}
	return err
}
