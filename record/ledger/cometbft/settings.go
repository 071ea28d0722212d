package cometbft

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"github.com/cometbft/cometbft/libs/log"

	"synod.dev/synod/core/sign"
	"synod.dev/synod/record/ledger"
)

// Settings is a Config as the parent of a child process writes it.
type Settings struct {
	Name      string            `json:"name"`      // of the group
	Keys      [][]byte          `json:"keys"`      // by replica
	Secret    string            `json:"secret"`    // sign.Secret.Reveal
	Dir       string            `json:"dir"`       //
	Listen    string            `json:"listen"`    // HOST:PORT
	Addresses []string          `json:"addresses"` // HOST:PORT, by replica
	TimeoutMS int               `json:"timeout_ms"`
	Authors   map[string][]byte `json:"authors"` // who may append, with their keys; empty: everybody
	Least     int               `json:"least"`   // of the group
	Names     []string          `json:"names"`   // of the group
}

// OpenSettings opens a replica from settings.
func OpenSettings(text json.RawMessage, l log.Logger) (ledger.Ledger, error) {
	var s Settings
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&s); err != nil {
		return nil, fmt.Errorf("cometbft: the settings: %w", err)
	}
	c, err := s.config(l)
	if err != nil {
		return nil, err
	}
	r, err := Open(c)
	if err != nil {
		return nil, err
	}
	return r, nil
}

func (s *Settings) config(l log.Logger) (Config, error) {
	secret, err := sign.ParseSecret(s.Secret)
	if err != nil {
		return Config{}, fmt.Errorf("cometbft: the settings: %w", err)
	}
	g := ledger.Replicas{Name: s.Name, Keys: s.Keys, Least: s.Least, Names: s.Names}
	c := Config{Group: g, Secret: secret, Dir: s.Dir, Listen: s.Listen, Addresses: s.Addresses,
		Timeout: time.Duration(s.TimeoutMS) * time.Millisecond, Log: l}
	if len(s.Authors) > 0 {
		c.Check = func(e *ledger.Entry) error {
			_, err := e.Author(func(name string) ([]byte, bool) { key, ok := s.Authors[name]; return key, ok })
			return err
		}
	}
	return c, nil
}
