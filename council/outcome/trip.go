package outcome

// The breakers by name, as an outcome names them.
const (
	NoProgress   = "no-progress"
	Oscillation  = "oscillation"
	Drift        = "drift"
	NoQuorum     = "no-quorum"
	Equivocation = "equivocation"
)

// Trip is a breaker that stopped a run.
type Trip struct {
	Breaker string `json:"breaker"`
	Round   int    `json:"round"`
	Detail  string `json:"detail"` // for people
	// Continue is the setting with which a resumed run ignores this breaker, such as
	// "breakers.no_progress=0".
	Continue string `json:"continue"`
}
