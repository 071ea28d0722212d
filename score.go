package synod

import "strconv"

// Score is a judgement in [0,1], or Untrusted.
type Score float64

// Untrusted is the score of an answer whose judgement failed or could not be
// read. It is lower than every real score, so a filter drops it first (SAC-8).
const Untrusted Score = -1

// String prints two decimals, as the papers' prompts do.
func (s Score) String() string {
	if s == Untrusted {
		return "unreadable"
	}
	return strconv.FormatFloat(float64(s), 'f', 2, 64)
}

// MarshalJSON writes Untrusted as null: it is the absence of a score.
func (s Score) MarshalJSON() ([]byte, error) {
	if s == Untrusted {
		return []byte("null"), nil
	}
	return strconv.AppendFloat(nil, float64(s), 'g', -1, 64), nil
}

// UnmarshalJSON is the inverse of MarshalJSON.
func (s *Score) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		*s = Untrusted
		return nil
	}
	v, err := strconv.ParseFloat(string(b), 64)
	*s = Score(v)
	return err
}
