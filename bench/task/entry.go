package task

import (
	"fmt"
	"net/url"
	"path"

	"synod.dev/synod"
)

// Entry describes a set of the catalogue and loads it.
type Entry struct {
	synod.Entry
	Form   string `json:"form"`             // the form of its answers, or "mixed"
	Items  int    `json:"items"`            // how many items the published set has
	About  string `json:"about,omitempty"`  // source, licence and known problems
	Layout string `json:"layout,omitempty"` // the layout of its file; "" for a set that needs no file
	// Source is a published file. Only a file with a known digest is pulled. Its URL names a commit if its
	// host has commits.
	Source Source `json:"source,omitzero"` // the published file, if there is one
	// Made names the conversion that makes the set's file from published ones; "" for a set that is a file itself.
	Made string `json:"made,omitempty"`

	// Files are the names under which a folder of data may hold the set, the first preferred; empty for a set that
	// needs no file.
	Files []string `json:"-"`
	// Load reads all items from the file at path, "" for a set that needs no file. ReadRows helps.
	Load func(path string, o Options) ([]Item, error) `json:"-"`
}

// Source is a published file. Only one whose digest is known is pulled; its URL
// names a commit where its host has commits.
type Source struct {
	URL    string `json:"url"`
	SHA256 string `json:"sha256,omitempty"` // "" if no digest is known
	Size   int64  `json:"size,omitempty"`   // in bytes; 0 if only the digest is known
	Rows   *Rows  `json:"rows,omitempty"`   // rows of the public hub in place of a file; nil for a file
}

// Options select the items of a set.
type Options struct {
	Data   string // the file, or a folder that holds it under its usual name
	Pulled string // the folder of a Store, used if Data is ""
	Levels []int  // only items of these levels; empty: all
	Seed   uint64 // seed of the built-in problems
	Number int    // how many built-in problems of these levels; 0: those among the first 180
}

// Pinned reports whether the digest of the file, or the revision of the rows, is known.
func (s Source) Pinned() bool { return s.SHA256 != "" || s.Rows != nil }

func (s Source) length() string {
	switch {
	case s.Rows != nil:
		return fmt.Sprintf("%d rows", s.Rows.Count)
	case s.Size == 0:
		return "a file"
	}
	return fmt.Sprintf("%d bytes", s.Size)
}

// what names the file, or the rows.
func (s Source) what() string {
	if s.Rows != nil {
		return "the rows of " + s.Rows.Set
	}
	return path.Base(s.URL)
}

// files returns the names that the source of a set may have in a folder of data. A Parquet table of the hub is found
// there too, so that it can be refused with advice.
func (s Source) files(set string) []string {
	if s.Rows == nil {
		return []string{set + "/" + path.Base(s.URL)}
	}
	return []string{set + "/" + rowsFile, set + "/" + s.Rows.Split + "-00000-of-00001.parquet"}
}

// rowsFile is the name of a file of fetched rows.
const rowsFile = "rows.jsonl"

// Rows name a split of a data set on the public hub, whose rows are fetched page by page as JSON. The hub serves the
// newest revision only and names it in each response, so the revision is checked there.
type Rows struct {
	Set      string `json:"set"`      // on the hub, such as "google/boolq"
	Config   string `json:"config"`   // such as "default"
	Split    string `json:"split"`    // such as "validation"
	Revision string `json:"revision"` // the commit of the set
	Count    int    `json:"count"`    // rows of the split at that commit
}

// hubRows returns a split of a data set on the public hub at a commit.
func hubRows(set, config, split, revision string, count int) Source {
	query := url.Values{"dataset": {set}, "config": {config}, "split": {split}}
	return Source{URL: rowsAPI + "?" + query.Encode(), Rows: &Rows{set, config, split, revision, count}}
}
