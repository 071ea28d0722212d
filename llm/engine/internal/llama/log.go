//go:build (linux || darwin) && (amd64 || arm64) && !noengine

package llama

import (
	"os"
	"unsafe"

	"github.com/ebitengine/purego"
)

const logWarn = 3 // GGML_LOG_LEVEL_WARN; errors are 4, 5 continues a line

// quiet lets warnings and errors through to stderr and drops the hundreds of
// lines llama.cpp writes about every load.
func (l *Library) quiet() {
	last := int32(0)
	l.logSet(purego.NewCallback(func(level int32, text *byte, _ uintptr) uintptr {
		if level <= 4 {
			last = level
		}
		if last >= logWarn && text != nil {
			n := 0
			for *(*byte)(unsafe.Add(unsafe.Pointer(text), n)) != 0 {
				n++
			}
			os.Stderr.Write(unsafe.Slice(text, n))
		}
		return 0
	}), 0)
}
