package app

import (
	"fmt"
	"math"
	"runtime/debug"
	"strconv"
	"strings"
)

// DefaultMemory is what a program tries to keep to, in bytes.
const DefaultMemory Memory = 512 << 20

// unmanaged is what a process has beside the memory that the Go runtime counts, such as the program itself, in bytes.
const unmanaged = 64 << 20

// Memory is an amount of memory that the program tries to keep to, in bytes, as a flag such as 256MiB. Responses of
// models are held within a part of it.
type Memory int64

// Set reads an amount such as 256MiB.
func (m *Memory) Set(text string) error {
	for unit, size := range map[string]int64{"MiB": 1 << 20, "GiB": 1 << 30} {
		if number, ok := strings.CutSuffix(text, unit); ok {
			if n, err := strconv.ParseInt(number, 10, 32); err == nil && n > 0 && n*size >= 64<<20 && n*size <= 1<<50 {
				*m = Memory(n * size)
				return nil
			}
		}
	}
	return fmt.Errorf("memory is %.40q; it must be at least 64MiB, such as 256MiB or 2GiB", text)
}

// String returns the amount as Set takes it.
func (m *Memory) String() string {
	if *m == 0 {
		return ""
	}
	if *m%(1<<30) == 0 {
		return strconv.FormatInt(int64(*m>>30), 10) + "GiB"
	}
	return strconv.FormatInt(int64(*m>>20), 10) + "MiB"
}

// Type names the value in a help text.
func (m *Memory) Type() string { return "memory" }

// Keep has the program keep to the amount; 0 is DefaultMemory, unless GOMEMLIMIT is set. It returns the limit.
func (m *Memory) Keep() int64 {
	limit := int64(*m)
	if now := debug.SetMemoryLimit(-1); limit == 0 && now != math.MaxInt64 {
		return now
	}
	if limit == 0 {
		limit = int64(DefaultMemory)
	}
	debug.SetMemoryLimit(limit - min(limit/8, unmanaged))
	return limit
}
