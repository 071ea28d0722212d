package gateway

import (
	"net/http"
	"net/http/pprof"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"synod.dev/synod"
)

// Metrics counts requests for Prometheus.
type Metrics struct {
	registry *prometheus.Registry
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	tokens   *prometheus.CounterVec
	calls    *prometheus.CounterVec
	replies  *prometheus.CounterVec
	usd      *prometheus.CounterVec
	alone    *prometheus.CounterVec
	against  *prometheus.CounterVec

	// Of members that are out of order; see Gateway.Tend.
	out        *prometheus.GaugeVec
	tests      *prometheus.CounterVec
	testTokens *prometheus.CounterVec
}

// NewMetrics returns metrics without any request.
func NewMetrics() *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "synod_requests_total",
			Help: "Requests that have ended or were refused, by how they ended."}, []string{"api", "model", "status",
			"code", "key"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "synod_request_seconds",
			Help:    "Time from the reservation to the end of a request.",
			Buckets: []float64{.01, .05, .1, .5, 1, 2, 5, 10, 30, 60, 120, 300, 600}}, []string{"api", "model"}),
		tokens: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "synod_tokens_total",
			Help: "Tokens of all calls to members, by kind: prompt or completion."}, []string{"model", "kind", "key"}),
		calls: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "synod_member_calls_total",
			Help: "Requests to members' servers, repeated ones included."}, []string{"model"}),
		replies: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "synod_member_replies_total",
			Help: "Calls of members of councils, by how they ended."}, []string{"model", "member", "status"}),
		usd: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "synod_spent_usd_total",
			Help: "USD spent at known prices."}, []string{"model", "key"}),
		alone: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "synod_reference_usd_total",
			Help: "USD that the reference model alone would have cost, for requests of which that is known."},
			[]string{"model"}),
		against: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "synod_compared_usd_total",
			Help: "USD that these requests cost."}, []string{"model"}),
		out: prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "synod_member_out",
			Help: "1 while a member's model is out of order and called for no question, else 0."}, []string{"model",
			"server"}),
		tests: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "synod_background_calls_total",
			Help: "Calls in the background to models that were out, by what they showed: back or out."},
			[]string{"model", "server", "result"}),
		testTokens: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "synod_background_tokens_total",
			Help: "Tokens of these calls, which no key pays for."}, []string{"model", "server"}),
	}
	m.registry.MustRegister(m.out, m.tests, m.testTokens, m.alone, m.against)
	m.registry.MustRegister(m.requests, m.seconds, m.tokens, m.calls, m.replies, m.usd, collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// Observe counts a request.
func (m *Metrics) Observe(o Observed) {
	m.requests.WithLabelValues(o.API, o.Model, o.Result.Status, http.StatusText(o.HTTP), o.Key).Inc()
	if o.Refused {
		return
	}
	m.seconds.WithLabelValues(o.API, o.Model).Observe(o.Took.Seconds())
	m.tokens.WithLabelValues(o.Model, "prompt", o.Key).Add(float64(max(o.Result.Prompt, 0)))
	m.tokens.WithLabelValues(o.Model, "completion", o.Key).Add(float64(max(o.Result.Completion, 0)))
	for i := range o.Members {
		for _, s := range synod.Statuses() {
			if n := o.Members[i].Calls.Of(s); n > 0 {
				m.replies.WithLabelValues(o.Model, o.Members[i].ID, string(s)).Add(float64(n))
			}
		}
	}
	m.calls.WithLabelValues(o.Model).Add(float64(max(o.Result.Calls, 0)))
	m.usd.WithLabelValues(o.Model, o.Key).Add(o.Result.Spent.USD())
	if o.Result.Compared {
		m.alone.WithLabelValues(o.Model).Add(o.Result.Alone.USD())
		m.against.WithLabelValues(o.Model).Add(o.Result.Spent.USD())
	}
}

// InFlight also counts the requests that a gateway answers now.
func (m *Metrics) InFlight(g *Gateway) {
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "synod_requests_in_flight",
		Help: "Requests that are answered now."}, func() float64 { return float64(g.places.now()) }))
}

// Handler serves /metrics and, if profiles are wanted, /debug/pprof, for a listener of its own.
func (m *Metrics) Handler(profiles bool) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{}))
	if profiles {
		mux.HandleFunc("GET /debug/pprof/", pprof.Index)
		mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
		mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
		mux.HandleFunc("GET /debug/pprof/cmdline", pprof.Cmdline)
		mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	}
	return mux
}
