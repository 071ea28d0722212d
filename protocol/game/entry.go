package game

import (
	"embed"
	"io/fs"
)

//go:embed prompts/*.tmpl
var files embed.FS

// Prompts are the game's templates, in our words.
func Prompts() fs.FS {
	sub, err := fs.Sub(files, "prompts")
	if err != nil {
		panic(err) // the folder is embedded by us
	}
	return sub
}
