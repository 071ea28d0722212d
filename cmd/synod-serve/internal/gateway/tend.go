package gateway

import (
	"context"

	"synod.dev/synod/llm"
)

// Tend tests members that are out of order in the background, until ctx ends. The log and the metrics, which may be
// nil, name each member that is out and count the calls that test it.
func (g *Gateway) Tend(ctx context.Context, m *Metrics) {
	out := map[llm.Info]bool{}
	llm.DefaultPool().Tend(ctx, func(now llm.Tended) {
		if m != nil {
			m.tend(&now)
		}
		attrs := []any{"member", now.Model.Name, "server", now.Model.Server}
		if now.Out {
			attrs = append(attrs, "reason", now.Reason)
		}
		if now.Tested {
			attrs = append(attrs, "seconds", now.Took.Seconds(), "prompt_tokens", now.Usage.Prompt, "completion_tokens",
				now.Usage.Completion)
		}
		switch changed := now.Out != out[now.Model]; {
		case now.Gone:
			g.o.Log.Info("a member that was out is no longer used", attrs...)
		case changed && now.Out:
			g.o.Log.Warn("a member is out: questions go on without it, and calls in the background test it", attrs...)
		case changed:
			g.o.Log.Info("a member is back", attrs...)
		default:
			g.o.Log.Info("a member was tested in the background", append(attrs, "out", now.Out)...)
		}
		out[now.Model] = now.Out
	})
}

// tend counts a call in the background and notes whether the member is out.
func (m *Metrics) tend(now *llm.Tended) {
	model, server := now.Model.Name, now.Model.Server
	if now.Gone {
		m.out.DeleteLabelValues(model, server)
		return
	}
	out := 0.0
	if now.Out {
		out = 1
	}
	m.out.WithLabelValues(model, server).Set(out)
	if !now.Tested {
		return
	}
	result := "back"
	if now.Out {
		result = "out"
	}
	m.tests.WithLabelValues(model, server, result).Inc()
	m.testTokens.WithLabelValues(model, server).Add(float64(now.Usage.Prompt + now.Usage.Completion))
}
