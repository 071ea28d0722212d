package formula

import "synod.dev/synod/llm/read/notation"

var (
	units    = notation.Units
	unitless notation.Measure // of a word that is no unit of known size
)
