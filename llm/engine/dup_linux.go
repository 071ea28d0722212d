package engine

import "syscall"

// dup2 uses dup3, which every Linux architecture has.
func dup2(from, to int) error { return syscall.Dup3(from, to, 0) }
