package debate

import (
	"embed"
	"io/fs"

	"synod.dev/synod/protocol/internal/answer"
)

//go:embed prompts/*.tmpl
var files embed.FS

// Prompts are the protocol's templates, in our words.
func Prompts() fs.FS { return answer.Prompts(files) }
