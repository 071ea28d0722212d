package campaign

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"synod.dev/synod/internal/durable"
)

// SavedTrial is a number for which a trial found a violation, as a file holds it.
type SavedTrial struct {
	Version int    `json:"version"`
	Claim   string `json:"claim"`  // that was violated
	Detail  string `json:"detail"` // how
	Number  uint64 `json:"number"` // for which
}

// SaveTrial writes such a file. It makes the folder, and replaces the file.
func SaveTrial(path, claim, detail string, number uint64) error {
	b, err := json.MarshalIndent(SavedTrial{savedVersion, claim, detail, number}, "", "  ")
	if err == nil {
		err = os.MkdirAll(filepath.Dir(path), 0o700)
	}
	if err != nil {
		return fmt.Errorf("campaign: %w", err)
	}
	return durable.WriteFile(path, durable.Seal(b))
}

// ErrNoTrial reports a file that is none of SaveTrial. It may be one of Save.
var ErrNoTrial = errors.New("campaign: the file has no number of a case")

// LoadTrial reads a file that SaveTrial wrote. It returns ErrNoTrial for another file.
func LoadTrial(path string) (*SavedTrial, error) {
	b, err := durable.ReadFile(path, maxSaved)
	if err != nil {
		return nil, err
	}
	var kind struct {
		Number *uint64 `json:"number"`
	}
	if json.Unmarshal(b, &kind) != nil || kind.Number == nil {
		return nil, ErrNoTrial
	}
	s := new(SavedTrial)
	if err := decodeSaved(b, s, &s.Version); err != nil {
		return nil, fmt.Errorf("campaign: %s is no saved case: %w", path, err)
	}
	return s, nil
}

// Replay tries the saved case again.
func (s *SavedTrial) Replay() (ClaimTried, error) {
	c, err := TrialOf(s.Claim)
	if err != nil {
		return ClaimTried{}, err
	}
	return c.Try(s.Number), nil
}
