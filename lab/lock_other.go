//go:build !unix

package lab

import "os"

// lock does nothing on systems without advisory locks.
func lock(string) (*os.File, error) { return nil, nil }
