package leader

import (
	"embed"
	"io/fs"

	"synod.dev/synod/protocol/internal/answer"
)

//go:embed prompts/*.tmpl
var files embed.FS

// Pages are the page that asks a question and the one that has an answer marked,
// and beside them a protocol's own.
func Pages(own ...fs.FS) fs.FS { return answer.Prompts(append(own, files)...) }
