package answer

import (
	"embed"
	"errors"
	"io/fs"
)

//go:embed prompts/*.tmpl
var files embed.FS

// Templates returns the template of the question alone, for a protocol that has no
// templates of its own.
func Templates() fs.FS { return With() }

// With returns the template of the question, and the templates in the folder prompts of
// each of the given file systems. No two may have the same name.
func With(own ...fs.FS) fs.FS {
	all := folders{promptsOf(files)}
	for _, f := range own {
		all = append(all, promptsOf(f))
	}
	return all
}

func promptsOf(f fs.FS) fs.FS {
	sub, err := fs.Sub(f, "prompts")
	if err != nil {
		panic(err) // "prompts" is a valid path
	}
	return sub
}

// folders are several folders as one.
type folders []fs.FS

// Open opens a file in the first folder that has it.
func (all folders) Open(name string) (f fs.File, err error) {
	for _, folder := range all {
		if f, err = folder.Open(name); !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	return f, err
}

// Glob lists the matching files of all folders.
func (all folders) Glob(pattern string) (names []string, err error) {
	for _, folder := range all {
		some, err := fs.Glob(folder, pattern)
		if err != nil {
			return nil, err
		}
		names = append(names, some...)
	}
	return names, nil
}

// Plain has the parameters and methods of a protocol without rounds, for embedding.
type Plain struct {
	Exact bool `yaml:"-" json:"exact"` // read replies as the papers do: council key "exact: paper"
}

// Paper sets Exact.
func (p *Plain) Paper() { p.Exact = true }

// MaxRounds returns 0.
func (p *Plain) MaxRounds() int { return 0 }

// Settles returns false: no round could repeat itself.
func (p *Plain) Settles() bool { return false }
