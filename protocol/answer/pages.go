package answer

import (
	"embed"
	"errors"
	"io/fs"
)

//go:embed prompts/*.tmpl
var files embed.FS

// Pages are the pages of a protocol that has none of its own.
func Pages() fs.FS { return Prompts() }

// Prompts are the pages that ask a question, in our words, and beside them a
// protocol's own, from the folder prompts of what it embeds.
func Prompts(own ...fs.FS) fs.FS {
	all := pages{folder(files)}
	for _, f := range own {
		all = append(all, folder(f))
	}
	return all
}

func folder(f fs.FS) fs.FS {
	sub, err := fs.Sub(f, "prompts")
	if err != nil {
		panic(err) // the folder is embedded by us
	}
	return sub
}

// pages is several folders as one. No two have a file of one name.
type pages []fs.FS

// Open opens a file in the first folder that has it.
func (p pages) Open(name string) (f fs.File, err error) {
	for _, folder := range p {
		if f, err = folder.Open(name); !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	return f, err
}

// Glob lists the files of all folders.
func (p pages) Glob(pattern string) (all []string, err error) {
	for _, folder := range p {
		names, err := fs.Glob(folder, pattern)
		if err != nil {
			return nil, err
		}
		all = append(all, names...)
	}
	return all, nil
}
