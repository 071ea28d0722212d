package sac

import (
	"embed"
	"io/fs"

	"synod.dev/synod/protocol/internal/answer"
)

//go:embed prompts/*.tmpl
var files embed.FS

// Prompts are the protocol's templates, in our words; a council file's prompts
// folder replaces them page by page.
func Prompts() fs.FS { return answer.Prompts(files) }
