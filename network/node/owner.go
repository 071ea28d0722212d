package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"synod.dev/synod/internal/durable"
	"synod.dev/synod/network/roster"
	"synod.dev/synod/record/evidence"
)

// Control serves the owner's requests on a Unix socket until ctx ends: GET /status, GET /evidence, POST /drain, after
// which the node ends when its runs have ended, by calling stop, POST /roster?until=TIME with the file of the next
// roster (Take), POST /end-old (EndOld), and POST /prune?keep=TIME&bytes=NUMBER (Prune; what is missing is as the node
// was started).
func (h *Host) Control(ctx context.Context, path string, stop func()) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) { // of a process that was killed
		return err
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		return fmt.Errorf("%w (a path of a socket must have fewer than 104 bytes; see --dir)", err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return errors.Join(err, l.Close())
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /status", func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, h.Status()) })
	mux.HandleFunc("GET /evidence", func(w http.ResponseWriter, _ *http.Request) {
		all, err := h.EvidenceStatus()
		reply(w, all, err)
	})
	mux.HandleFunc("POST /drain", func(w http.ResponseWriter, _ *http.Request) { h.drained(ctx, w, stop) })
	mux.HandleFunc("POST /roster", func(w http.ResponseWriter, r *http.Request) {
		reply(w, h.Status, h.takeFrom(w, r))
	})
	mux.HandleFunc("POST /end-old", func(w http.ResponseWriter, _ *http.Request) {
		_, err := h.EndOld()
		reply(w, h.Status, err)
	})
	mux.HandleFunc("POST /prune", func(w http.ResponseWriter, r *http.Request) {
		keep, err := h.config.Keep.with(r.URL.Query())
		var p Pruned
		if err == nil {
			p, err = h.Prune(h.context, keep)
		}
		reply(w, p, err)
	})
	Serve(ctx, l, mux)
	return nil
}

// reply sends a value, or what a function returns, or an error.
func reply(w http.ResponseWriter, v any, err error) {
	if err != nil {
		http.Error(w, err.Error(), http.StatusUnprocessableEntity)
		return
	}
	if status, ok := v.(func() Status); ok {
		v = status()
	}
	writeJSON(w, v)
}

// drained drains the node and then calls stop.
func (h *Host) drained(ctx context.Context, w http.ResponseWriter, stop func()) {
	for _, n := range h.nodes() {
		n.draining.Store(true)
	}
	b, err := json.Marshal(h.Status())
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	// The process may end as soon as the node has drained: the whole reply leaves before.
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(b)))
	w.Write(b)
	http.NewResponseController(w).Flush()
	go func() {
		if h.Drain(ctx) == nil {
			time.AfterFunc(time.Second, stop) // callers get their records first
		}
	}()
}

// takeFrom takes the roster in a request.
func (h *Host) takeFrom(w http.ResponseWriter, r *http.Request) error {
	until, err := time.Parse(time.RFC3339, r.FormValue("until"))
	if err != nil {
		return fmt.Errorf("until is %.40q; it must be a time such as 2030-01-02T15:04:05Z", r.FormValue("until"))
	}
	b, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 2*roster.MaxFile))
	if err != nil {
		return err
	}
	next, err := roster.Parse(b)
	if err != nil {
		return err
	}
	return h.Take(next, until)
}

// Status returns the node's status.
func (h *Host) Status() Status {
	h.mu.Lock()
	held, gone := slices.Clone(h.held), h.gone
	until := h.rosters()
	h.mu.Unlock()
	var s Status
	var of []Status
	var rosters []RosterStatus
	for i, x := range held {
		r := RosterStatus{Hash: x.signed.HexHash(), Serial: x.signed.Serial, Until: until[i].until}
		if x.node != nil {
			s = x.node.Status()
			of = append(of, s)
			r.Seat, r.Ended = s.Seat, x.node.draining.Load()
			for _, run := range s.Runs {
				if run.Stopped == "" {
					r.Playing++
				}
			}
		}
		rosters = append(rosters, r)
	}
	s.Rosters, s.Stats, s.Peers, s.Runs, s.Older = rosters, gone, nil, nil, nil
	for _, one := range slices.Backward(of) {
		s.Stats.add(&one.Stats)
		for _, p := range one.Peers {
			s.Peers = joined(s.Peers, p, one.Serial)
		}
	}
	for _, one := range of {
		s.Runs, s.Older = append(s.Runs, one.Runs...), append(s.Older, one.Older...)
	}
	return s
}

// joined adds what the node of a roster knows of a neighbour. The newest roster that has the neighbour comes first.
func joined(all []PeerStatus, p PeerStatus, serial uint64) []PeerStatus {
	at := slices.IndexFunc(all, func(q PeerStatus) bool { return q.ID == p.ID && q.Key == p.Key })
	if at < 0 {
		at = len(all)
		all = append(all, p)
	}
	if p.Connected || p.Incoming > 0 {
		all[at].Serials = append(all[at].Serials, serial)
		slices.Sort(all[at].Serials)
	}
	return all
}

// EvidenceStatus lists the proofs that the node has, about members of all rosters that it has played.
func (h *Host) EvidenceStatus() ([]EvidenceStatus, error) {
	all := []EvidenceStatus{}
	files, err := filepath.Glob(filepath.Join(h.config.Dir, "evidence", "*.pem"))
	for _, file := range files {
		b, err := durable.ReadFile(file, evidence.MaxSize)
		if errors.Is(err, os.ErrNotExist) {
			continue // it was pruned meanwhile
		}
		if err != nil {
			return nil, err
		}
		s, err := h.proof(file, b)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		all = append(all, s)
	}
	return all, err
}

// proof reads a proof, and says so if its roster is none that the folder has.
func (h *Host) proof(file string, b []byte) (s EvidenceStatus, err error) {
	e, err := evidence.Parse(b)
	if err != nil {
		return s, err
	}
	r, err := roster.Decode(e.Roster)
	if err != nil {
		return s, err
	}
	h.taking.Lock()
	known := h.kept.has(r.HexHash())
	h.taking.Unlock()
	hash := r.Hash()
	report, err := e.Verify(hash[:])
	if err != nil {
		return s, err
	}
	member := r.Members[e.Seat].ID
	if !known {
		member += fmt.Sprintf(" of the roster %.16s, which this folder does not have", r.HexHash())
	}
	return EvidenceStatus{Member: member, Run: e.Instance, Proved: report.Claims, File: file}, nil
}

// Prune removes old runs of all rosters, as Node.Prune. Runs that may be in progress under one of them stay.
func (h *Host) Prune(ctx context.Context, keep Retention) (Pruned, error) {
	return h.shared.prune(ctx, keep, h.nodes())
}
