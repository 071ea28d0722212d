package gateway

import (
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"

	"synod.dev/synod/council/outcome"
	"synod.dev/synod/internal/durable"
	"synod.dev/synod/network/node/call"
	"synod.dev/synod/network/roster"
)

// accuse keeps the proofs that members of a roster have equivocated, and adds them to a report.
func (g *Gateway) accuse(j *job, r *Report) {
	runner, ok := j.council().Runner().(*call.Runner)
	if !ok {
		return
	}
	for i := range j.proofs {
		proof := &j.proofs[i]
		a, path, err := keepProof(g.o.Evidence, runner.Client.Roster, proof)
		if err != nil {
			g.o.Log.Error("a proof of equivocation cannot be kept", "request", j.id, "error", err.Error())
		}
		if a != nil {
			r.Evidence = append(r.Evidence, *a)
			g.o.Log.Warn("a member has equivocated", "request", j.id, "model", j.served.ID, "member", a.ID, "slot",
				proof.A.Slot, "round", proof.A.Round, "file", path)
		}
	}
}

// keepProof writes a proof into a folder as a file that "synod evidence verify" reads; "": none is kept.
func keepProof(folder string, r *roster.Roster, proof *call.Equivocation) (*outcome.Accusation, string, error) {
	e, err := proof.Evidence(r)
	if err != nil {
		return nil, "", err
	}
	a := &outcome.Accusation{ID: r.Members[e.Seat].ID, By: []string{},
		Values: [2]string{hex.EncodeToString(proof.A.Sum), hex.EncodeToString(proof.B.Sum)}}
	if folder == "" {
		return a, "", nil
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return a, "", err
	}
	path := filepath.Join(folder, fmt.Sprintf("%s-seat%d.pem", e.Instance, e.Seat))
	return a, path, durable.WriteFile(path, e.File())
}
