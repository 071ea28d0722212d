package node

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"synod.dev/synod/core/sign"
	"synod.dev/synod/internal/durable"
)

// A node removes the journals and records, with their receipts, of old runs, and their proofs of equivocation. It must
// still refuse a second signature in these runs. So it keeps one moment for ever: the horizon, in the file "horizon".
// It plays, resumes and certifies no run that begins at the horizon or before. The start of a run is a part of its id,
// so nobody can give a run another one. The horizon is on disk before anything is removed, and never goes back, also
// not when the clock is set back. A process that is killed while it removes leaves files of runs before the horizon,
// which the next look removes. The nodes of a Host have one folder, and so one horizon: it holds under every roster.

// Retention says how long a node keeps journals, records, receipts and proofs of runs.
type Retention struct {
	Age   time.Duration // 0: DefaultKeep; at least MinKeep
	Bytes int64         // of journals and records, of which the oldest go first; 0: DefaultKeepBytes
}

// The bounds of Retention. Runs of the last hours are kept although they have more bytes.
const (
	DefaultKeep      = 720 * time.Hour
	DefaultKeepBytes = 1 << 30
	MinKeep          = 2 * time.Hour
)

// Validate returns an error if the retention is shorter than what runs in progress need.
func (k Retention) Validate() error {
	if k.Age != 0 && k.Age < MinKeep || k.Bytes < 0 {
		return fmt.Errorf("a node keeps runs for %v at least, and not for a negative number of bytes", MinKeep)
	}
	return nil
}

// with returns the retention with what a request says.
func (k Retention) with(v url.Values) (_ Retention, err error) {
	if text := v.Get("keep"); text != "" {
		if k.Age, err = time.ParseDuration(text); err != nil {
			return k, err
		}
	}
	if text := v.Get("bytes"); text != "" {
		k.Bytes, err = strconv.ParseInt(text, 10, 64)
	}
	return k, err
}

func (k Retention) filled() Retention {
	if k.Age == 0 {
		k.Age = DefaultKeep
	}
	if k.Bytes == 0 {
		k.Bytes = DefaultKeepBytes
	}
	return k
}

// Pruned says what was removed, and what is left.
type Pruned struct {
	Runs      int   `json:"runs"`  // removed
	Bytes     int64 `json:"bytes"` // of their files
	Left      int   `json:"left"`  // runs
	LeftBytes int64 `json:"left_bytes"`
}

// horizon is a moment in milliseconds since 1970: of runs that begin then or before, nothing is signed.
type horizon struct{ at atomic.Int64 }

func (h *horizon) covers(at int64) bool { return at <= h.at.Load() }

func (s *shared) horizonPath() string { return filepath.Join(s.dir, "horizon") }
func (s *shared) gonePath() string    { return filepath.Join(s.dir, "gone") }

// horizonText is what the file of the horizon holds: a checksum, and milliseconds since 1970.
func horizonText(at int64) []byte {
	text := strconv.FormatInt(at, 10)
	return []byte("sum=" + lineSum(text) + " " + text + "\n")
}

// parseHorizon reads it. An earlier version wrote no checksum.
func parseHorizon(b []byte) (int64, error) {
	text, whole := strings.CutSuffix(string(b), "\n")
	if sum, rest, summed := strings.Cut(text, " "); summed || !whole {
		if text = rest; !whole || sum != "sum="+lineSum(text) {
			return 0, errors.New("its checksum does not match")
		}
	}
	return strconv.ParseInt(text, 10, 64)
}

// openRetention reads the horizon, and settles the runs that have ended.
func (s *shared) openRetention() error {
	if err := s.keep.Validate(); err != nil {
		return err
	}
	b, err := durable.ReadFile(s.horizonPath(), 64)
	if err == nil {
		var at int64
		if at, err = parseHorizon(b); err == nil {
			s.horizon.at.Store(at)
		}
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: %w; it says of which runs nothing may be signed: do not remove it", s.horizonPath(), err)
	}
	if err := s.slots.openGone(s.gonePath()); err != nil {
		return err
	}
	for _, id := range s.slots.unsettled() {
		if _, err := os.Stat(finalPath(s.dir, sign.Instance(id))); err == nil && plainID(sign.Instance(id)) {
			s.slots.settle(id)
		}
	}
	return s.slots.compact()
}
