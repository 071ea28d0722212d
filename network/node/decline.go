package node

import "sync"

// A node that does not take part in a run tells its neighbours, which then do not wait for it. It sends nothing in the
// run, so nothing is lost, however many decline. A neighbour that begins the run later says that it has begun, and is
// told then.

// maxDeclines is how many runs a node remembers that it has declined.
const maxDeclines = 256

// declines are the last runs that a node has declined.
type declines struct {
	mu   sync.Mutex
	runs []runKey // the latest last
}

func (d *declines) add(key runKey) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.runs = append(d.runs, key); len(d.runs) > maxDeclines {
		d.runs = d.runs[1:]
	}
}

func (d *declines) has(key runKey) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, r := range d.runs {
		if r == key {
			return true
		}
	}
	return false
}
