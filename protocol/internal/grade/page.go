// Package grade is the page on which a member marks one answer by DecentLLMs' five
// criteria (DL-1). DecentLLMs and the leader-based rivals ask with the same words,
// so that a comparison of them measures the protocols and not their prompts.
package grade

import "embed"

// Page is the folder prompts with grade.tmpl.
//
//go:embed prompts/*.tmpl
var Page embed.FS
