package node

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"time"

	"synod.dev/synod/core/sign"
	"synod.dev/synod/network/roster"
)

// shared is what the nodes of one owner under several rosters have together: the folder, what was signed, what is kept
// of runs, and what was spent today.
type shared struct {
	dir     string
	slots   *slots
	daily   *daily
	keep    Retention
	horizon horizon
	pruning sync.Mutex    // held while old runs are removed
	prunes  chan struct{} // asks for a look at what is kept
	now     func() time.Time
	log     *slog.Logger
}

func (s *shared) close() error {
	s.daily.save()
	return s.slots.close()
}

// replacedBy is why no question is taken under a roster any more.
func replacedBy(old []byte, next *roster.Roster) string {
	return fmt.Sprintf("the roster %.16x has been replaced by %.16s, serial %d: ask with that one", old, next.HexHash(),
		next.Serial)
}

// finalPath is where a folder has the record of a run.
func finalPath(dir string, id sign.Instance) string {
	return filepath.Join(dir, "records", string(id)+".cbor")
}

// plainID reports whether an instance id is one: SHA-256 in hexadecimal. It becomes a part of paths.
func plainID(id sign.Instance) bool {
	b, err := hex.DecodeString(string(id))
	return err == nil && len(b) == sha256.Size
}
