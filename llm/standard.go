package llm

// Options are the layers around one model. Nil ones are left out; Retry, Limit
// and the breaker have defaults.
type Options struct {
	Account   *Account  // shared by all models of a council
	Record    *Recorder // likewise
	Cache     *Cache    // likewise
	Budget    *Budget   // likewise
	MaxTokens int       // of one reply, for the budget
	Retry     RetryConfig
	Limit     LimitConfig
	Breaker   BreakerConfig
}

// Standard puts the layers around a model in the one order that makes sense,
// outermost first:
//
//	account   what the seat sees: every call, however it is answered
//	record    every answer, the cached ones too, so that a trace is complete
//	cache     what is known costs nothing of what follows
//	breaker   counts calls given up, not attempts
//	retry     waits outside the limit, so that a waiting call holds no slot
//	limit     concurrency and rate of the provider
//	gate      the breaker again, for calls that waited when it opened
//	budget    each request that leaves is reserved, repeated ones too
//	model
//
// Members that ask nobody (recorded, simulated) have only account, record and
// budget.
func Standard(m Model, o Options) Model {
	var layers []Layer
	if o.Account != nil {
		layers = append(layers, o.Account.Layer())
	}
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
	if o.Budget != nil {
		layers = append(layers, o.Budget.Layer(o.MaxTokens))
	}
	return Stack(m, layers...)
}
