package leader

import (
	"io/fs"

	"synod.dev/synod/protocol/answer"
	"synod.dev/synod/protocol/grade"
)

// Pages are the page that asks a question and the one that has an answer marked,
// and beside them a protocol's own.
func Pages(own ...fs.FS) fs.FS { return answer.With(append(own, grade.Templates)...) }
