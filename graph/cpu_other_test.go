//go:build !unix

package graph

import "time"

var started = time.Now()

func cpu() time.Duration { return time.Since(started) }
