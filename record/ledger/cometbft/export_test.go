package cometbft

import (
	"github.com/cometbft/cometbft/libs/log"
	"github.com/cometbft/cometbft/node"

	"synod.dev/synod/core/sign"
)

// OpenByzantine opens a replica that differs from an honest one: link is the key of its connections, so that two can
// have the key of one validator; admits are the keys of those; options are of the library.
func OpenByzantine(s *Settings, link *sign.Secret, admits [][]byte, options ...node.Option) (*Replica, error) {
	c, err := s.config(log.NewNopLogger())
	if err != nil {
		return nil, err
	}
	c.link, c.admits, c.options = link, admits, options
	return Open(c)
}
