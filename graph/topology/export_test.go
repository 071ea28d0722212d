package topology

// Exported for the tests in package topology_test.
var (
	Exchange        = exchange
	HarmOf          = harm
	NextCombination = nextCombination
	Clique          = clique
)

// Worse reports whether h is more harm.
func (h Harm) Worse(than Harm) bool { return h.worse(than) }
