package gateway

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"synod.dev/synod/cmd/synod-serve/internal/store"
)

// keyMetrics says how much of their limits for a day keys have used, by asking the store at each scrape.
type keyMetrics struct {
	store       *store.Store
	limit, used *prometheus.Desc
}

// Keys also reports how much of their limits for a day the valid keys of a store have used.
func (m *Metrics) Keys(st *store.Store) {
	labels := []string{"key", "unit"}
	m.registry.MustRegister(&keyMetrics{st,
		prometheus.NewDesc("synod_key_day_limit", "What a key may use on a day (UTC), in usd or tokens; it is missing "+
			"where there is no limit.", labels, nil),
		prometheus.NewDesc("synod_key_day_used", "What a key has used today (UTC), with what is reserved.", labels,
			nil)})
}

// Describe implements prometheus.Collector.
func (k *keyMetrics) Describe(to chan<- *prometheus.Desc) { to <- k.limit; to <- k.used }

// scrapeTime bounds the look into the store.
const scrapeTime = 5 * time.Second

// Collect implements prometheus.Collector.
func (k *keyMetrics) Collect(to chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), scrapeTime)
	defer cancel()
	keys, err := k.store.Keys(ctx)
	if err != nil {
		to <- prometheus.NewInvalidMetric(k.used, err)
		return
	}
	for i := range keys {
		one := &keys[i]
		if !one.Revoked.IsZero() || one.Expired(time.Now()) {
			continue
		}
		for unit, x := range map[string]struct{ limit, used float64 }{
			"usd":    {one.PerDay.USD(), (one.Today + one.Reserved).USD()},
			"tokens": {float64(one.TokensPerDay), float64(one.TokensToday + one.TokensReserved)}} {
			to <- prometheus.MustNewConstMetric(k.used, prometheus.GaugeValue, x.used, one.Name, unit)
			if x.limit > 0 {
				to <- prometheus.MustNewConstMetric(k.limit, prometheus.GaugeValue, x.limit, one.Name, unit)
			}
		}
	}
}
