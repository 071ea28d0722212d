package node

import (
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"time"

	"synod.dev/synod/node/call"
	"synod.dev/synod/roster"
)

// shared is what the nodes of one owner under several rosters have together: what was signed, and what was spent today.
type shared struct {
	slots *slots
	daily *daily
}

func openShared(c *Config, now func() time.Time, log *slog.Logger) (s *shared, err error) {
	s = new(shared)
	if s.daily, err = openDaily(filepath.Join(c.Dir, "spent.json"), c.Caps, now, c.Env.Prices, log); err != nil {
		return nil, err
	}
	s.slots, err = openSlots(filepath.Join(c.Dir, "slots"))
	return s, err
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
