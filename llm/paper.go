package llm

// The sampling of the papers' reference code, used under "exact: paper" where the
// council file has no other (SAC-9).
const (
	paperTemperature = 0.1
	paperTopP        = 0.9
	paperTokens      = 1000
	paperSeed        = 1234
)
