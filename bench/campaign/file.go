package campaign

import (
	"encoding/json"
	"fmt"

	"synod.dev/synod/internal/durable"
)

// Saved is a failing execution as a file holds it.
type Saved struct {
	Version   int       `json:"version"`
	Claim     string    `json:"claim"`  // that was violated
	Detail    string    `json:"detail"` // how
	Execution Execution `json:"execution"`
}

// savedVersion is the only version of such files.
const savedVersion = 1

// maxSaved is the length of the longest file that is read, in bytes.
const maxSaved = 1 << 20

// Save writes a failing execution to a file with a checksum. It replaces the file.
func Save(path string, claim, detail string, x Execution) error {
	return saveOn(durable.System, path, claim, detail, x)
}

func saveOn(d durable.Disk, path string, claim, detail string, x Execution) error {
	b, err := json.MarshalIndent(Saved{savedVersion, claim, detail, x}, "", "  ")
	if err != nil {
		return fmt.Errorf("campaign: %w", err)
	}
	return durable.WriteFileOn(d, path, durable.Seal(b))
}

// Load reads a file that Save wrote, or one without a checksum, which a person may have written. It fails if the
// execution cannot be played.
func Load(path string) (*Saved, error) {
	b, err := durable.ReadFile(path, maxSaved)
	if err != nil {
		return nil, err
	}
	s := new(Saved)
	if err := decodeSaved(b, s, &s.Version); err != nil {
		return nil, fmt.Errorf("campaign: %s is no saved execution: %w", path, err)
	}
	if err := s.Execution.Check(); err != nil {
		return nil, err
	}
	return s, nil
}

// decodeSaved reads the only JSON value of a file, which has no unknown keys, into s, whose version it checks.
func decodeSaved(b []byte, s any, version *int) error {
	if _, err := durable.DecodeSealed(b, s); err != nil {
		return err
	}
	if *version != savedVersion {
		return fmt.Errorf("it has version %d; this program reads version %d", *version, savedVersion)
	}
	return nil
}

// violates returns how an execution violates a claim; "": it does not.
func (p *ExecutionPlayer) violates(x *Execution, claim string) string {
	for _, v := range p.Play(x).Violations {
		if v.Claim == claim {
			return v.Detail
		}
	}
	return ""
}
