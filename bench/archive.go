package bench

import (
	"archive/zip"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"synod.dev/synod/llm"
)

// ArchiveSums is the file of an archive with the SHA-256 of every other file, as sha256sum -c reads it.
const ArchiveSums = "SHA256SUMS"

// Archive writes a zip file for authors of an experiment: the folder of the grid or run, what it was made from
// (manifest.yaml, setting.json), a CITATION.cff with these authors, and more files by name, such as tables. It returns
// the SHA-256 of ArchiveSums, which stands for the whole content: the same folder gives the same bytes. Nobody may work
// on the folder meanwhile. The archive has the questions with their keys and every reply.
func (g *Grid) Archive(w io.Writer, authors []string, more map[string][]byte) (digest string, err error) {
	held, err := lock(g.dir)
	if err != nil {
		return "", err
	}
	defer held.Close()
	setting, err := json.MarshalIndent(g.setting(), "", "  ")
	if err != nil {
		return "", fmt.Errorf("bench: %w", err)
	}
	texts := maps.Clone(more)
	texts["setting.json"], texts["CITATION.cff"] = append(setting, '\n'), []byte(g.citation(authors))
	if g.Manifest != "" {
		texts["manifest.yaml"] = []byte(g.Manifest)
	}
	a := archive{zip: zip.NewWriter(w)}
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		if err := a.add(name, strings.NewReader(string(texts[name]))); err != nil {
			return "", err
		}
	}
	if err := a.folder(g.dir); err != nil {
		return "", err
	}
	sums := a.sums
	if err := a.add(ArchiveSums, strings.NewReader(sums)); err != nil {
		return "", err
	}
	if err := a.zip.Close(); err != nil {
		return "", fmt.Errorf("bench: write the archive: %w", err)
	}
	return fmt.Sprintf("%x", sha256.Sum256([]byte(sums))), nil
}

// archive is a zip file with the digests of what was added.
type archive struct {
	zip  *zip.Writer
	sums string
}

// archived is the time of every file in an archive: the content alone decides its bytes.
var archived = time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)

// add adds a file.
func (a *archive) add(name string, content io.Reader) error {
	to, err := a.zip.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate, Modified: archived})
	if err != nil {
		return fmt.Errorf("bench: write the archive: %w", err)
	}
	h := sha256.New()
	if _, err := io.Copy(io.MultiWriter(to, h), content); err != nil {
		return fmt.Errorf("bench: archive %s: %w", name, err)
	}
	a.sums += fmt.Sprintf("%x  %s\n", h.Sum(nil), name)
	return nil
}

// folder adds the files of a folder below run/, without its lock, the memory of its database that other processes
// share, and the keys of a hub and its workers.
func (a *archive) folder(dir string) error {
	return filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		name, inside := filepath.Rel(dir, path)
		switch {
		case err != nil || inside != nil:
			return fmt.Errorf("bench: archive %s: %w", path, err)
		case e.IsDir() && name == "hub":
			return fs.SkipDir
		case !e.Type().IsRegular() || name == "lock" || strings.HasSuffix(name, "-shm"):
			return nil
		}
		f, err := os.Open(path)
		if err != nil {
			return fmt.Errorf("bench: %w", err)
		}
		defer f.Close()
		return a.add("run/"+filepath.ToSlash(name), f)
	})
}

// archivedSetting is what a reader needs to judge the figures and to run the experiment again.
type archivedSetting struct {
	Experiment string         `json:"experiment"`
	Source     string         `json:"source"`
	Members    string         `json:"members"`
	Note       string         `json:"note"`
	Program    string         `json:"program"` // the version that made the folder
	Cells      []archivedCell `json:"cells"`
	Prices     []archivedBill `json:"prices"` // of the models that are billed, as the report has them
}

type archivedCell struct {
	Name   string `json:"name"`
	Hash   string `json:"hash"` // of all that its results depend on
	Task   string `json:"task"`
	N      int    `json:"n"`
	Repeat int    `json:"repeat"`
	Seed   uint64 `json:"seed"`
	Items  string `json:"items"` // SHA-256 of the questions
}

type archivedBill struct {
	Server string     `json:"server"`
	Model  string     `json:"model"`
	Price  *llm.Price `json:"price"` // null: not known
}

func (g *Grid) setting() archivedSetting {
	s := archivedSetting{Experiment: g.Preset, Source: g.Source, Members: g.Members, Note: g.Note,
		Prices: []archivedBill{}}
	seen := map[llm.Info]bool{}
	for _, run := range g.Runs {
		hash, err := run.Hash()
		if err != nil {
			hash = "" // of an earlier version
		}
		s.Program = run.Program
		s.Cells = append(s.Cells, archivedCell{run.name, hash, run.Task, run.N, run.Repeat, run.Seed,
			run.RunManifest.Items})
		for _, use := range run.uses() {
			if info := use.Info; info.Kind == llm.Endpoint && !seen[info] {
				seen[info] = true
				bill := archivedBill{Server: info.Server, Model: info.Model}
				if price, known := run.prices().Of(info); known {
					bill.Price = &price
				}
				s.Prices = append(s.Prices, bill)
			}
		}
	}
	return s
}

// citation is the text of CITATION.cff.
func (g *Grid) citation(authors []string) string {
	quoted := func(s string) string {
		b, _ := json.Marshal(s) // a text; JSON's are YAML's
		return string(b)
	}
	title := "Results of the experiment " + g.Preset
	if g.Preset == "" {
		title = "Results of a run"
	}
	text := "cff-version: 1.2.0\nmessage: " +
		quoted("Please cite these data and the paper whose experiment they repeat.") +
		"\ntype: dataset\ntitle: " + quoted(title+", "+g.Members+" members") + "\nauthors:\n"
	for _, name := range authors {
		text += "- name: " + quoted(name) + "\n"
	}
	if len(g.Runs) > 0 {
		text += "version: " + quoted("made with "+g.Runs[0].Program) + "\n"
	}
	if g.Source != "" {
		text += "references:\n- type: generic\n  title: " + quoted(g.Source) + "\n  authors:\n  - name: " +
			quoted("see the title") + "\n"
	}
	return text
}
