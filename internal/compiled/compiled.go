// Package compiled keeps compiled JSON schemas, because a question is read many times with the same one. Its
// functions return what package structured does; only the time that they take depends on earlier calls.
//
// It has rank 0, because it needs only package structured, and is apart from it, because that one is pure.
package compiled

import (
	"sync"

	"synod.dev/synod/llm/structured"
)

// most is how many schemas are kept. Together they have a few MB.
const most = 64

var kept struct {
	sync.Mutex
	schemas map[string]*structured.Schema
}

// Schema returns structured.Compile of a text. An empty text is the schema of any object: the arguments of a
// tool that describes none.
func Schema(text []byte) (*structured.Schema, error) {
	if len(text) == 0 {
		text = []byte(`{"type":"object"}`)
	}
	kept.Lock()
	s, ok := kept.schemas[string(text)]
	kept.Unlock()
	if ok {
		return s, nil
	}
	s, err := structured.Compile(text, condition)
	if err != nil {
		return nil, err
	}
	kept.Lock()
	defer kept.Unlock()
	if kept.schemas == nil || len(kept.schemas) >= most {
		kept.schemas = map[string]*structured.Schema{}
	}
	kept.schemas[string(text)] = s
	return s, nil
}
