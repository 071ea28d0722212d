package store

import (
	"io/fs"
	"os"
	"path"
	"regexp"
	"time"
)

// journalName is that of journals without the ending of the file.
var journalName = regexp.MustCompile(`^[a-z0-9-]{1,64}$`)

// OpenJournal opens the journal of a request in the folder of journals; fs.ErrNotExist if none is kept there.
func (r *Row) OpenJournal(folder string) (*os.File, error) {
	if r.Journal == "" || folder == "" || !journalName.MatchString(r.Journal) {
		return nil, fs.ErrNotExist
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return root.Open(path.Join(r.Begun.UTC().Format(time.DateOnly), r.Journal+".jsonl"))
}
