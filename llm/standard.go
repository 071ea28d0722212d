package llm

// Options are the layers around one model. Nil ones are left out; Retry, Limit
// and the breaker have defaults.
type Options struct {
	Record    *Recorder // shared by all models of a council
	Cache     *Cache    // likewise
	MaxTokens int       // of one reply, for the budget
	Retry     RetryConfig
	Limit     LimitConfig
	Breaker   BreakerConfig
}

// Standard puts the layers around a model in the one order that makes sense,
// outermost first:
//
//	record    every answer, the cached ones too, so that a trace is complete
//	cache     what is known costs nothing of what follows
//	breaker   counts calls given up, not attempts
//	retry     waits outside the limit, so that a waiting call holds no slot
//	limit     concurrency and rate of the provider
//	gate      the breaker again, for calls that waited when it opened
//	spend     each request that leaves is reserved, repeated ones too
//	model
//
// Members that ask nobody (recorded, simulated) have only record and spend.
func Standard(m Model, o Options) Model {
	var layers []Layer
	if o.Record != nil {
		layers = append(layers, o.Record.Layer())
	}
	if kind := m.Info().Kind; kind == Endpoint || kind == Embedded {
		if o.Cache != nil {
			layers = append(layers, o.Cache.Layer())
		}
		breaker := NewBreaker(o.Breaker)
		layers = append(layers, breaker.Layer(), Retry(o.Retry), Limit(o.Limit), breaker.Gate())
	}
	return Stack(m, append(layers, Spend(o.MaxTokens))...)
}
