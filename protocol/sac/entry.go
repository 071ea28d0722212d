package sac

import (
	"embed"
	"io/fs"
)

//go:embed prompts/*.tmpl
var files embed.FS

// Prompts are the protocol's templates, in our words; a council file's prompts
// folder replaces them page by page.
func Prompts() fs.FS {
	sub, err := fs.Sub(files, "prompts")
	if err != nil {
		panic(err) // the folder is embedded above
	}
	return sub
}
