package app

import (
	"fmt"
	"io"
	"path/filepath"

	"synod.dev/synod/core/reliability"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/council/trust"
)

// TrustPath is the user's trust file.
func (a *App) TrustPath() string { return filepath.Join(a.Dirs.State, "trust.json") }

// OwnTrust replaces the name of the user's trust file by its path.
func (a *App) OwnTrust(spec *plan.Spec) {
	if spec.Trust.File == plan.OwnTrust {
		spec.Trust.File = a.TrustPath()
	}
}

// Learn adds observations to the trust file of a council that learns, and tells the operator on stderr whose answers
// differ from their record.
func (a *App) Learn(stderr io.Writer, t plan.Trust, observations []reliability.Observation) error {
	if !t.Learn || len(observations) == 0 {
		return nil
	}
	var changed []string
	err := trust.Update(t.File, func(h *trust.History) error {
		h.Add(observations)
		all := h.Observations()
		for _, kind := range reliability.Kinds(observations) {
			if e := reliability.Estimate(all, kind, 0); e != nil {
				for _, m := range e.Members {
					if m.Changed {
						changed = append(changed, fmt.Sprintf("%s answers questions of kind %s differently from its "+
							"record and has the least weight for now; see: synod operate trust explain",
							OneLine(m.Name), OneLine(kind)))
					}
				}
			}
		}
		return nil
	})
	for _, line := range changed {
		fmt.Fprintln(stderr, "synod: trust:", line)
	}
	if err != nil {
		return Fail(ExitFailure, err, "the answer above is complete; the trust file has not learned from it")
	}
	return nil
}
