//go:build !unix

package robustness_test

import "time"

var started = time.Now()

func cpu() time.Duration { return time.Since(started) }
