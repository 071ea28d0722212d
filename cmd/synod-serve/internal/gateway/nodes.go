package gateway

import (
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"

	"synod.dev/synod"
	"synod.dev/synod/council/outcome"
	"synod.dev/synod/internal/durable"
)

// accuse keeps the proofs that members of a roster have equivocated, and adds them to a report.
func (g *Gateway) accuse(j *job, equivocations []outcome.Equivocated, r *Report) {
	p := j.council().Plan()
	for i := range equivocations {
		e := &equivocations[i]
		path, err := keepProof(g.o.Evidence, e)
		if err != nil {
			g.o.Log.Error("a proof of equivocation cannot be kept", "request", j.id, "error", err.Error())
		}
		if e.Err != nil {
			continue
		}
		a := outcome.Accusation{ID: p.Name(synod.NodeID(e.Seat)), By: []string{},
			Values: [2]string{hex.EncodeToString(e.Sums[0]), hex.EncodeToString(e.Sums[1])}}
		r.Evidence = append(r.Evidence, a)
		g.o.Log.Warn("a member has equivocated", "request", j.id, "model", j.served.ID, "member", a.ID, "slot",
			e.Slot, "round", e.Round, "file", path)
	}
}

// keepProof writes a proof into a folder as a file that "synod operate evidence verify" reads; "": none is kept.
func keepProof(folder string, e *outcome.Equivocated) (string, error) {
	if e.Err != nil {
		return "", e.Err
	}
	if folder == "" {
		return "", nil
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", err
	}
	path := filepath.Join(folder, fmt.Sprintf("%s-seat%d.pem", e.Evidence.Instance, e.Seat))
	return path, durable.WriteFile(path, e.Evidence.File())
}
