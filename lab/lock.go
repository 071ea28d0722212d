package lab

import "io"

// Lock keeps a second process out of a folder until it is closed or this process
// ends, where the system can do that.
func Lock(dir string) (io.Closer, error) {
	f, err := lock(dir)
	if f == nil || err != nil {
		return io.NopCloser(nil), err
	}
	return f, nil
}
