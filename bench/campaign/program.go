package campaign

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"runtime"
	"sync"
)

// Program is the program that plays a campaign.
type Program struct {
	Version string `json:"version,omitempty"` // as it says itself
	SHA256  string `json:"sha256"`            // of its executable file
}

func (p Program) String() string {
	if p.Version == "" {
		return "SHA-256 " + p.SHA256
	}
	return p.Version + ", SHA-256 " + p.SHA256
}

// thisProgram is the digest of the program that runs.
var thisProgram = sync.OnceValues(func() (string, error) {
	path, err := os.Executable()
	if runtime.GOOS == "linux" {
		path = "/proc/self/exe" // the file that runs, also after another one got its name
	}
	if err != nil {
		return "", fmt.Errorf("campaign: this program cannot find its own file: %w", err)
	}
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("campaign: this program cannot read its own file: %w", err)
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", fmt.Errorf("campaign: this program cannot read its own file: %w", err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
})
