//go:build !linux

package sandbox

// filter is empty where there is no bubblewrap.
func filter() []byte { return nil }
