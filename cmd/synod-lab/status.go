package main

import (
	"cmp"
	"encoding/json"
	"path/filepath"
	"slices"
	"time"

	"synod.dev/synod/bench"
	"synod.dev/synod/internal/durable"
)

// writeStatus writes hub/status.json, which synod bench status shows.
func (h *hub) writeStatus() error {
	s := h.status()
	b, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	return durable.WriteFile(filepath.Join(h.dir, "status.json"), append(b, '\n'))
}

func (h *hub) status() *bench.HubStatus {
	s := &bench.HubStatus{Version: 1, Written: time.Now().UTC(), Address: h.conn.address, Key: h.conn.key,
		Accounts: h.permits.accounts.States(), Spent: h.budget.Spent(), Workers: []bench.HubWorker{}}
	s.Waiting, s.Queued, s.Finished, s.Failed = h.units.tally()
	h.mu.Lock()
	defer h.mu.Unlock()
	s.State, s.Playing, s.Lost, s.Refused = h.state, len(h.claims), h.lost, h.refused
	playing := map[string]int{}
	for _, by := range h.claims {
		playing[by.worker]++
	}
	for _, w := range h.workers {
		one := bench.HubWorker{ID: w.id, Host: w.host, Parallel: w.parallel, Playing: playing[w.id],
			Finished: w.finished, Silent: time.Since(w.last).Seconds()}
		if d := time.Since(w.joined).Minutes(); d > 0 {
			one.PerMinute = float64(w.finished) / d
		}
		s.Workers = append(s.Workers, one)
	}
	slices.SortFunc(s.Workers, func(a, b bench.HubWorker) int { return cmp.Compare(a.ID, b.ID) })
	slices.SortFunc(s.Accounts, func(a, b bench.HubAccount) int {
		return cmp.Or(cmp.Compare(a.Provider, b.Provider), cmp.Compare(a.Model, b.Model),
			cmp.Compare(a.Account, b.Account))
	})
	return s
}
