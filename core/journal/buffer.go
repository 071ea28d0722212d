package journal

import "sync"

// maxBuffer is how many bytes of lines wait to be written at most, roughly.
const maxBuffer = 256 << 10

// lineBuffers are buffers of Writers, and of readers of segments, to use again.
var lineBuffers = sync.Pool{New: func() any { return new(make([]byte, 0, 16<<10)) }}

// recycle makes a buffer of lines available to others, unless it is very large.
func recycle(buf []byte) {
	if buf = buf[:0]; cap(buf) <= 2*maxBuffer {
		lineBuffers.Put(&buf)
	}
}
