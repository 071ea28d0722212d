package topology

// What the tests in package topology_test use of this package.
var (
	Exchange        = exchange
	HarmOf          = harm
	NextCombination = nextCombination
	Clique          = clique
)

// Worse reports whether h is more harm.
func (h Harm) Worse(than Harm) bool { return h.worse(than) }
