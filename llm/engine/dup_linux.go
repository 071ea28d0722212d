package engine

import "syscall"

// dup2 in its form that every Linux architecture has.
func dup2(from, to int) error { return syscall.Dup3(from, to, 0) }
