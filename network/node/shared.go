package node

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"synod.dev/synod/network/node/call"
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

func openShared(c *Config, now func() time.Time, log *slog.Logger) (s *shared, err error) {
	s = &shared{dir: c.Dir, keep: c.Keep, prunes: make(chan struct{}, 1), now: now, log: log}
	for _, dir := range []string{"runs", "records", "evidence"} {
		if err := os.MkdirAll(filepath.Join(c.Dir, dir), 0o700); err != nil {
			return nil, err
		}
	}
	if s.daily, err = openDaily(filepath.Join(c.Dir, "spent.json"), c.Caps, now, c.Env.Prices, log); err != nil {
		return nil, err
	}
	if s.slots, err = openSlots(filepath.Join(c.Dir, "slots")); err != nil {
		return nil, err
	}
	if err = s.openRetention(); err != nil {
		return nil, errors.Join(err, s.slots.close())
	}
	return s, nil
}

func (s *shared) close() error {
	s.daily.save()
	return s.slots.close()
}

// closeShared closes what only this node has.
func (n *Node) closeShared() error {
	if n.config.shared != nil {
		return nil // its Host closes it
	}
	return n.shared.close()
}

// leaving is why a node that drains takes no question.
func (n *Node) leaving() error {
	if next := n.replaced.Load(); next != nil {
		return errors.New(replacedBy(n.hash[:], next))
	}
	return errors.New("the node is draining and takes no new question")
}

// replacedBy is why no question is taken under a roster any more.
func replacedBy(old []byte, next *roster.Roster) string {
	return fmt.Sprintf("the roster %.16x has been replaced by %.16s, serial %d: ask with that one", old, next.HexHash(),
		next.Serial)
}

// largest returns how many bytes of a question with its frame are read.
func (c *Caps) largest() int { return min(max(call.MaxText, c.Question+1<<10), call.MaxStart) }
