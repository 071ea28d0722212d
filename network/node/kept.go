package node

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"synod.dev/synod/internal/durable"
	"synod.dev/synod/network/roster"
)

// kept is the rosters of a node's folder: those that it plays, and those that it has played. So a node that is started
// again with an older roster goes on with the newer one, and one that has taken a successor of a roster takes no other
// successor of it, for ever.
//
// A roster is in the file HASH.roster, and the file state.json lists all.
type kept struct {
	dir string

	mu    sync.Mutex // guards state
	state keptState
}

// heldRoster is a roster that is played until a moment; zero: it is in force.
type heldRoster struct {
	signed *roster.Signed
	until  time.Time
}

// keptState is the content of state.json.
type keptState struct {
	Version int          `json:"version"`
	Rosters []keptRoster `json:"rosters"` // oldest first; the last is in force
}

type keptRoster struct {
	Hash   string    `json:"hash"`
	Serial uint64    `json:"serial"`
	Until  time.Time `json:"until,omitzero"`
}

func (k *kept) path(hash string) string { return filepath.Join(k.dir, hash+".roster") }

// load returns the rosters that a node plays which is started with a roster: those of the folder if it has that
// roster already, and otherwise that one and, for runs that they have not ended, those of the folder. It fails if the
// folder has rosters that the given one does not follow from.
func (k *kept) load(given *roster.Signed, now time.Time) ([]heldRoster, error) {
	if err := os.MkdirAll(k.dir, 0o700); err != nil {
		return nil, err
	}
	b, err := durable.ReadFile(filepath.Join(k.dir, "state.json"), 1<<16)
	if errors.Is(err, fs.ErrNotExist) {
		return []heldRoster{{signed: given}}, nil
	}
	if err == nil {
		_, err = durable.DecodeSealed(b, &k.state) // before others have k
	}
	if err == nil && (k.state.Version != 1 || len(k.state.Rosters) == 0) {
		err = errors.New("it is not one of this version of Synod")
	}
	var held []heldRoster
	for _, r := range k.state.Rosters {
		if !r.Until.IsZero() && now.Sub(r.Until) > time.Hour {
			continue // its runs have ended
		}
		var s *roster.Signed
		if err == nil {
			s, err = k.read(r.Hash)
		}
		held = append(held, heldRoster{s, r.Until})
	}
	if err == nil && len(held) == 0 {
		err = errors.New("none is in force")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: which rosters this folder plays cannot be read: %w", k.dir, err)
	}
	if !k.has(given.HexHash()) {
		head := &held[len(held)-1]
		if _, err := given.Steps(head.signed); err != nil {
			return nil, fmt.Errorf("%w; %w", k.conflict(given, head.signed, err), errOtherFolder)
		}
		head.until = now
		held = append(held, heldRoster{signed: given})
	}
	return held, nil
}

var errOtherFolder = errors.New("name another folder with --dir if the roster is meant")

// conflict says why a roster does not replace the one in force.
func (k *kept) conflict(next, inForce *roster.Signed, why error) error {
	switch {
	case k.has(next.HexHash()):
		return fmt.Errorf("the roster serial %d is older than serial %d, which is in force", next.Serial,
			inForce.Serial)
	case next.Serial > inForce.Serial:
		return why
	}
	at := slices.IndexFunc(k.state.Rosters, func(r keptRoster) bool { return r.Serial == next.Serial })
	if at < 0 {
		return fmt.Errorf("the roster has serial %d, and serial %d is in force", next.Serial, inForce.Serial)
	}
	other, err := k.read(k.state.Rosters[at].Hash)
	if err != nil {
		return err
	}
	var both []string
	for _, key := range roster.Both(next, other) {
		name := fmt.Sprintf("%x", key)
		if seat, ok := next.Seat(key); ok {
			name = next.Members[seat].ID
		}
		both = append(both, name)
	}
	slices.Sort(both)
	signed := "nobody"
	if len(both) > 0 {
		signed = strings.Join(both, ", ")
	}
	return fmt.Errorf("the council has another roster with serial %d already, %.16s, so %.16s is refused; signed by "+
		"both: %s", next.Serial, other.HexHash(), next.HexHash(), signed)
}

// has reports whether the folder's rosters are one with this hash.
func (k *kept) has(hash string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.ContainsFunc(k.state.Rosters, func(r keptRoster) bool { return r.Hash == hash })
}

func (k *kept) read(hash string) (*roster.Signed, error) {
	if len(hash) != 64 || strings.Trim(hash, "0123456789abcdef") != "" {
		return nil, fmt.Errorf("%.80q is not the hash of a roster", hash)
	}
	b, err := durable.ReadFile(k.path(hash), 2*roster.MaxFile)
	if err != nil {
		return nil, err
	}
	s, err := roster.Parse(b)
	if err == nil && s.HexHash() != hash {
		err = fmt.Errorf("the file %s has another roster", filepath.Base(k.path(hash)))
	}
	return s, err
}

// save puts the rosters that are played on disk, after those that were played before.
func (k *kept) save(held []heldRoster) error {
	state := keptState{Version: 1}
	for _, r := range k.state.Rosters {
		if !slices.ContainsFunc(held, func(h heldRoster) bool { return h.signed.HexHash() == r.Hash }) {
			state.Rosters = append(state.Rosters, r)
		}
	}
	for _, r := range held {
		hash := r.signed.HexHash()
		if !k.has(hash) {
			if err := durable.WriteFile(k.path(hash), r.signed.File()); err != nil {
				return err
			}
		}
		state.Rosters = append(state.Rosters, keptRoster{hash, r.signed.Serial, r.until})
	}
	b, err := json.MarshalIndent(&state, "", "  ")
	if err != nil {
		return err
	}
	if err := durable.WriteFile(filepath.Join(k.dir, "state.json"), durable.Seal(b)); err != nil {
		return err
	}
	k.mu.Lock()
	k.state = state
	k.mu.Unlock()
	return nil
}
