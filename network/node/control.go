package node

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"time"
)

// The files in a node's folder by which its owner talks to it.
const (
	Socket  = "control.sock" // HTTP on a Unix socket that only the owner can open
	LogFile = "log.jsonl"
)

// Serve serves HTTP on a listener until ctx ends.
func Serve(ctx context.Context, l net.Listener, h http.Handler) {
	s := &http.Server{Handler: h, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second,
		WriteTimeout: time.Minute, IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10}
	go s.Serve(l)
	context.AfterFunc(ctx, func() { s.Close() })
}

func writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(v)
}

// EvidenceStatus is a proof as its owner is shown it.
type EvidenceStatus struct {
	Member string   `json:"member"`
	Run    string   `json:"run"`
	Proved []string `json:"proved"`
	File   string   `json:"file"` // synod operate evidence verify FILE
}

// Metrics returns the figures of a status in the text format of Prometheus.
func (s *Status) Metrics() string {
	out := ""
	add := func(name, help string, value any) {
		out += fmt.Sprintf("# HELP synod_node_%s %s\n# TYPE synod_node_%s gauge\nsynod_node_%s{seat=%q} %v\n", name,
			help, name, name, s.Seat, value)
	}
	connected, playing := 0, 0
	for _, p := range s.Peers {
		if p.Connected {
			connected++
		}
	}
	for _, r := range s.Runs {
		if r.Stopped == "" {
			playing++
		}
	}
	add("up_seconds", "Time since the node was started.", s.Up)
	add("neighbours", "Neighbours of the seat.", len(s.Peers))
	add("neighbours_connected", "Neighbours to which a stream is open.", connected)
	add("rosters", "Rosters that the node plays.", len(s.Rosters))
	add("runs_playing", "Runs that have not ended.", playing)
	add("runs", "Runs since the start.", s.Stats.Runs)
	add("runs_resumed", "Runs that went on from their journal.", s.Stats.Resumed)
	add("questions_declined", "Questions that the node did not take.", s.Stats.Declined)
	add("streams_strange", "Streams that did not know the roster.", s.Stats.Strangers)
	add("streams_junk", "Streams of neighbours that were closed because of what they sent.", s.Stats.Junk)
	add("values_refused", "Values that were not signed because their slot has another one.", s.Stats.Refused)
	add("equivocations", "Members that were proved to have signed two values for one slot.", s.Stats.Equivocations)
	add("runs_older", "Runs in which the key has signed what the node's folder does not have.", s.Stats.Older)
	add("clock_alarms", "Times that the clock was found wrong.", s.Stats.SkewAlarms)
	add("calls_today", "Model calls today.", s.Today.Calls)
	add("tokens_today", "Tokens today.", s.Today.Tokens)
	add("usd_today", "US dollars of the calls today, by the prices that are known.", s.Today.USD)
	return out
}
