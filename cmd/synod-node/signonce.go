package main

import (
	"bufio"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"synod.dev/synod/internal/durable"
	"synod.dev/synod/internal/filelock"
	"synod.dev/synod/network/roster"
)

// An honest member signs at most one successor of a roster. Two successors that a quorum each has signed would
// need more than F members that sign both, so with this rule there are never two. What a key has signed stands in a
// file beside it, KEY.rosters, which is on disk before anything is signed. A line is: PREVIOUS HASH.

// signOnce fails if the key in a file has signed another successor of the same roster. insteadOf is the beginning of
// the hash of that other one, if its owner says that it was given up; "": it was not.
func signOnce(key string, r *roster.Roster, insteadOf string) (err error) {
	if r.Serial == 0 {
		return nil // it replaces nothing
	}
	f, err := filelock.Lock(key + ".rosters")
	if err != nil {
		return fmt.Errorf("what the key %s has signed cannot be noted: %w", key, err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	previous, hash := hex.EncodeToString(r.Previous), r.HexHash()
	signed, whole, err := signedAfter(f, previous)
	switch {
	case err != nil:
		return fmt.Errorf("%s.rosters: %w", key, err)
	case signed == hash:
		return nil
	case signed != "" && (len(insteadOf) < 8 || !strings.HasPrefix(signed, insteadOf)):
		return fmt.Errorf("this key has signed another successor of the same roster, %s. If both get their "+
			"signatures, the council has two rosters and breaks apart. If the members have given that one up, all of "+
			"them, sign this one with --instead-of %.16s", signed, signed)
	}
	if err := f.Truncate(whole); err != nil {
		return err
	}
	if _, err := f.WriteAt([]byte(previous+" "+hash+"\n"), whole); err != nil {
		return err
	}
	return errors.Join(f.Sync(), durable.SyncDir(filepath.Dir(key)))
}

// signedAfter returns the hash of the last successor of a roster that a file has, and the length of its whole lines.
// A line that is torn was never signed.
func signedAfter(f *os.File, previous string) (hash string, whole int64, err error) {
	in := bufio.NewReader(f)
	for {
		line, err := in.ReadString('\n')
		if errors.Is(err, io.EOF) {
			return hash, whole, nil
		}
		if err != nil {
			return "", 0, err
		}
		whole += int64(len(line))
		replaced, by, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if !ok || len(replaced) != 64 || len(by) != 64 {
			return "", 0, fmt.Errorf("the line %.40q does not have two hashes", line)
		}
		if replaced == previous {
			hash = by
		}
	}
}
