package verification

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"synod.dev/synod/internal/durable"
	"synod.dev/synod/network/committee"
	"synod.dev/synod/record/certificate"
)

// The limits of the files of a draw in bytes.
const (
	maxPool = 64 << 20
	maxDraw = 1 << 20
)

// Drawn checks that the council of a certificate, which is valid, is the committee that a draw names.
func (v *Result) Drawn(file []byte, poolPath, drawPath string) error {
	c, err := certificate.Parse(file)
	if err != nil {
		return err
	}
	if c.Statement.Kind != certificate.Roster {
		return errors.New("committee: the owner of one process signed the certificate; only members with keys of " +
			"their own are drawn")
	}
	pool, draw := new(committee.Pool), new(committee.Draw)
	for _, f := range []struct {
		path string
		most int64
		into any
	}{{poolPath, maxPool, pool}, {drawPath, maxDraw, draw}} {
		text, err := durable.ReadFile(f.path, f.most)
		if err != nil {
			return err
		}
		d := json.NewDecoder(strings.NewReader(string(text)))
		if d.DisallowUnknownFields(); d.Decode(f.into) != nil {
			return fmt.Errorf("committee: %s is not written as %s says", f.path, "docs/research/graphs.md")
		}
	}
	var keys [][]byte
	for _, m := range c.Statement.Members {
		keys = append(keys, m.Key)
	}
	if err := draw.Signed(pool, keys); err != nil {
		return err
	}
	v.Claims = append(v.Claims, fmt.Sprintf("the council is the committee of %d that was drawn from the %d members of "+
		"the pool %x in the epoch %d, attempt %d", pool.Size, len(pool.Members), pool.Hash(), draw.Epoch, draw.Attempt))
	v.NotProved = append(v.NotProved, "that the pool is the one that you know: compare its hash",
		fmt.Sprintf("that the question was asked in the epoch %d or the next one, of %d s each", draw.Epoch,
			pool.Period))
	return nil
}
