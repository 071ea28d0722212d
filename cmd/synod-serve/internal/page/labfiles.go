package page

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"synod.dev/synod/bench"
	"synod.dev/synod/bench/store"
)

// labName matches the names of the folders that are shown.
var labName = regexp.MustCompile(`^[a-z0-9-]{1,64}$`)

// Bounds of a folder of a run that is opened here.
const (
	labFiles = 20_000
	labBytes = 512 << 20
	labRuns  = 200 // listed
)

// labSelf names the folder of runs itself, which may be that of one run.
const labSelf = "."

// labFolder is the folder of a run or a grid, whose files have been looked at.
type labFolder struct {
	At      string // below the folder of runs: NAME or GROUP/NAME
	Grid    bool
	Changed time.Time // when a file of it was last written
	stamp   string    // changes when a file does
	path    string
}

// labRoot is the folder of runs while it is read.
type labRoot struct {
	*os.Root
	dir string
}

// openLab opens the folder of runs, for a viewer who may see it.
func (v *visit) openLab() (labRoot, error) {
	dir := v.p.o.Runs
	switch {
	case !v.Key.Administers():
		return labRoot{}, problemf(http.StatusForbidden, "The key %s may not see the lab. The owner of the gateway "+
			"makes a key that may with: synod serve keys new NAME --admin", v.Key.Name)
	case dir == "":
		return labRoot{}, problemf(http.StatusNotFound, "The gateway has no folder of runs. Start it with: synod "+
			"serve --runs FOLDER, where FOLDER has the folders that synod bench run -o has made.")
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return labRoot{}, problemf(http.StatusNotFound, "The folder of runs cannot be read: %v", err)
	}
	return labRoot{root, dir}, nil
}

// folder looks at the files of the run at a path; fs.ErrNotExist if there is none.
func (r labRoot) folder(at string) (labFolder, error) {
	names := strings.Split(at, "/")
	if len(names) > 2 {
		return labFolder{}, fs.ErrNotExist
	}
	for _, name := range names {
		if at != labSelf && !labName.MatchString(name) {
			return labFolder{}, fmt.Errorf("%q: names of folders have a–z, 0–9 and - here, at most 64", clip(name))
		}
	}
	f := labFolder{At: at, path: filepath.Join(r.dir, filepath.FromSlash(at))}
	if !r.plain(path.Join(at, store.File)) {
		return f, fs.ErrNotExist
	}
	if err := r.look(&f); err != nil {
		return f, err
	}
	f.Grid = bench.IsGrid(f.path)
	return f, nil
}

// Name is what the page calls the folder.
func (f *labFolder) Name() string {
	if f.At == labSelf {
		return filepath.Base(f.path)
	}
	return f.At
}

// plain reports whether there is a plain file of this name.
func (r labRoot) plain(name string) bool {
	info, err := r.Lstat(name)
	return err == nil && info.Mode().IsRegular()
}

// errLab reports a folder that is not opened.
var errLab = errors.New("the folder is not shown")

// look checks that the files of a folder are plain and not too many or too large: links could lead elsewhere.
func (r labRoot) look(f *labFolder) error {
	files, bytes, sum := 0, int64(0), sha256.New()
	err := fs.WalkDir(r.FS(), f.At, func(name string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // it was a temporary file
		}
		if err != nil {
			return err
		}
		info, err := d.Info()
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case d.IsDir():
			return nil
		case !info.Mode().IsRegular():
			return fmt.Errorf("%w: %s is a link or no plain file", errLab, name)
		}
		files, bytes = files+1, bytes+info.Size()
		if files > labFiles || bytes > labBytes {
			return fmt.Errorf("%w: it has more than %d files or %d MB; report it with: synod bench report", errLab,
				labFiles, labBytes>>20)
		}
		if read(name, info) {
			return nil
		}
		if info.ModTime().After(f.Changed) {
			f.Changed = info.ModTime()
		}
		fmt.Fprintln(sum, name, info.Size(), info.ModTime().UnixNano())
		return nil
	})
	f.stamp = hex.EncodeToString(sum.Sum(nil)[:12])
	return err
}

// read reports whether a file is one that SQLite changes when a database is only read.
func read(name string, info fs.FileInfo) bool {
	name = path.Base(name)
	return name == store.File+"-shm" || name == store.File+"-wal" && info.Size() == 0
}

// folders lists the run that the folder itself is, or the runs in it and in folders in it, and the names that are not
// shown.
func (r labRoot) folders() (all []labFolder, other []string, err error) {
	if f, err := r.folder(labSelf); err == nil {
		return []labFolder{f}, nil, nil
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, err
	}
	entries, err := fs.ReadDir(r.FS(), ".")
	if err != nil {
		return nil, nil, err
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") || e.Type().IsRegular() {
			continue
		}
		if !labName.MatchString(e.Name()) || !e.IsDir() {
			other = append(other, e.Name())
			continue
		}
		f, err := r.folder(e.Name())
		switch {
		case err == nil:
			all = append(all, f)
		case errors.Is(err, fs.ErrNotExist):
			inside, _ := fs.ReadDir(r.FS(), e.Name())
			for _, i := range inside {
				if f, err := r.folder(path.Join(e.Name(), i.Name())); err == nil && i.IsDir() {
					all = append(all, f)
				}
			}
		default:
			other = append(other, e.Name()+" ("+err.Error()+")")
		}
		if len(all) >= labRuns {
			break
		}
	}
	return all, other, nil
}

// labState is how far a run is.
type labState struct {
	Title   string
	Kind    string // of the members: simulated, recorded, …
	State   string // finished, partly or waiting
	Problem string
	bench.Now
}

// labs keeps what was read of runs that have not changed since.
type labs struct {
	mu      sync.Mutex
	states  map[string]*labState // by path and stamp
	results map[string]*labResult
	reading sync.Mutex // one report at a time: it takes memory
}

// mostStates and mostResults are how many are kept.
const (
	mostStates  = 500
	mostResults = 4
)

// state reads how far a run is.
func (l *labs) state(f labFolder) *labState {
	key := f.At + "\x00" + f.stamp
	l.mu.Lock()
	s := l.states[key]
	l.mu.Unlock()
	if s != nil {
		return s
	}
	s = readState(f)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.states == nil || len(l.states) >= mostStates {
		l.states = map[string]*labState{}
	}
	l.states[key] = s
	return s
}

func readState(f labFolder) *labState {
	w, err := bench.OpenWatch(f.path)
	var s *labState
	if err == nil {
		defer w.Close()
		s, err = stateOf(w)
	}
	if err != nil {
		return &labState{Title: f.At, State: "unreadable", Problem: err.Error()}
	}
	return s
}

// stateOf reads how far the run of an open folder is.
func stateOf(w *bench.Watch) (*labState, error) {
	now, err := w.Now()
	if err != nil {
		return nil, err
	}
	s := &labState{State: "finished", Now: *now}
	if run := w.Run(); run != nil {
		s.Title = fmt.Sprintf("%s · council %s · %s", run.Task, run.Name, run.Protocol)
	} else {
		s.Title, s.Kind = w.Grid().Preset, w.Grid().Members
	}
	switch {
	case s.Finished+s.Failed == 0 && s.Total > 0:
		s.State = "waiting"
	case s.Finished < s.Total:
		s.State = "partly"
	}
	return s, nil
}
