package cometbft

import (
	"errors"
	"fmt"
	"os"

	"github.com/cometbft/cometbft/crypto/ed25519"
	cmtjson "github.com/cometbft/cometbft/libs/json"
	"github.com/cometbft/cometbft/privval"

	"synod.dev/synod/core/sign"
	"synod.dev/synod/internal/durable"
)

// validator returns what signs as a replica. What it has signed last is in a file, so that a replica that is
// started again does not sign a second value; the key itself is in no file.
func validator(secret sign.Secret, path string) (*privval.FilePV, error) {
	pv := privval.NewFilePV(ed25519.PrivKey(secret.LinkKey()), "", path)
	b, err := durable.ReadFile(path, 1<<20)
	if errors.Is(err, os.ErrNotExist) {
		return pv, nil
	}
	var last privval.FilePVLastSignState
	if err == nil {
		err = cmtjson.Unmarshal(b, &last)
	}
	if err != nil {
		return nil, fmt.Errorf("cometbft: %s: %w", path, err)
	}
	s := &pv.LastSignState // which knows the file
	s.Height, s.Round, s.Step, s.Signature, s.SignBytes = last.Height, last.Round, last.Step, last.Signature,
		last.SignBytes
	return pv, nil
}
