package page

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"regexp"
	"sync"

	"synod.dev/synod/core/param"
	"synod.dev/synod/internal/durable"
)

// councilFile is a council file as it was read.
type councilFile struct {
	Text   string
	Digest string // of the text, in hexadecimal digits
}

// fileID matches the ids of councils whose files are changed here. It has no dot, slash or letter that file systems
// could read in another way.
var fileID = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,63}$`)

func editable(id string) bool { return fileID.MatchString(id) }

// errNotPlain reports a council file that is a link, a folder or a device.
var errNotPlain = errors.New("it is no plain file; change it where it comes from")

// changedError reports that a file is not what the viewer has opened.
type changedError struct{ now councilFile }

func (e *changedError) Error() string { return "the file was changed since it was opened" }

// editing orders the changes of this process.
var editing sync.Mutex

func digestOf(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// readCouncil reads the file of a council in a folder; fs.ErrNotExist if there is none.
func readCouncil(dir, id string) (councilFile, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return councilFile{}, err
	}
	defer root.Close()
	return readIn(root, id+".yaml")
}

func readIn(root *os.Root, name string) (councilFile, error) {
	info, err := root.Lstat(name)
	if err != nil {
		return councilFile{}, err
	}
	if !info.Mode().IsRegular() {
		return councilFile{}, fmt.Errorf("%s: %w", name, errNotPlain)
	}
	f, err := root.Open(name)
	if err != nil {
		return councilFile{}, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, param.MaxText+1))
	if err != nil {
		return councilFile{}, err
	}
	if len(b) > param.MaxText {
		return councilFile{}, fmt.Errorf("%s: %w: at most %d bytes are read", name, durable.ErrTooLarge, param.MaxText)
	}
	return councilFile{string(b), digestOf(b)}, nil
}

// writeCouncil writes the file of a council, whole or not at all. was is the digest of the file that is replaced, ""
// for a new one: the error is a *changedError if the folder has another one.
func writeCouncil(dir, id, text, was string) error {
	if !editable(id) {
		return fmt.Errorf("the name is %q; it must have 1 to 64 of a–z, 0–9 and -, and begin with a letter "+
			"or digit", id)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	editing.Lock()
	defer editing.Unlock()
	name, mode := id+".yaml", fs.FileMode(0o600)
	now, err := readIn(root, name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	default:
		if info, err := root.Lstat(name); err == nil {
			mode = info.Mode().Perm()
		}
	}
	if now.Digest != was {
		return &changedError{now}
	}
	return replace(root, dir, name, []byte(text), mode, was == "")
}

// replace writes a file under another name and renames it. A new file takes no name that is in use.
func replace(root *os.Root, dir, name string, text []byte, mode fs.FileMode, fresh bool) error {
	temporary := "." + name + "." + rand.Text()[:8]
	f, err := root.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	err = errors.Join(err, f.Sync(), f.Close())
	switch {
	case err != nil:
	case fresh:
		err = root.Link(temporary, name)
	default:
		err = root.Rename(temporary, name)
	}
	if err != nil || fresh {
		err = errors.Join(err, root.Remove(temporary))
	}
	if errors.Is(err, fs.ErrExist) {
		now, _ := readIn(root, name)
		return &changedError{now}
	}
	if err != nil {
		return err
	}
	return durable.SyncDir(dir)
}

// removeCouncil removes the file of a council, if it is what the viewer has seen.
func removeCouncil(dir, id, was string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	editing.Lock()
	defer editing.Unlock()
	now, err := readIn(root, id+".yaml")
	if err != nil {
		return err
	}
	if now.Digest != was {
		return &changedError{now}
	}
	if err := root.Remove(id + ".yaml"); err != nil {
		return err
	}
	return durable.SyncDir(dir)
}

// writable reports why files cannot be made in a folder; nil if they can.
func writable(dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	name := ".writable." + rand.Text()[:8]
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), root.Remove(name))
}
