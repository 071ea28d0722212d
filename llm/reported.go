package llm

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"synod.dev/synod/internal/jsonobject"
)

// reported reads the name of the model that a reply says it comes from, for people: one
// line, in short and without secrets. It is "" if the reply does not say.
func (c *httpClient) reported(raw json.RawMessage) string {
	name, _ := jsonobject.String(raw)
	return shorten(c.redact(oneLine(name)))
}

// maxReported limits the reported names that are kept, because a server may report another
// one with each reply.
const maxReported = 8

// AddReported adds a name of a model that a reply reported to sorted names, unless it is
// among them or there are eight.
func AddReported(names []string, name string) []string {
	at, has := slices.BinarySearch(names, name)
	if has || len(names) >= maxReported {
		return names
	}
	return slices.Insert(names, at, name)
}

// ReportedName returns the name of a model and, where replies reported another one than served,
// the name that the server was asked for, the reported names.
func ReportedName(name, served string, reported []string) string {
	if len(reported) == 0 || len(reported) == 1 && reported[0] == served {
		return name
	}
	return fmt.Sprintf("%s (reported: %s)", name, strings.Join(reported, ", "))
}
