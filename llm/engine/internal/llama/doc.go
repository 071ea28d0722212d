// Package llama binds the few dozen functions of llama.cpp's C interface that
// Synod needs, without cgo and without libffi.
//
// Why not simply import yzma, whose tables of that interface this package
// follows? yzma calls through github.com/jupiterrider/ffi, and that package
// opens libffi.so.8 in an init function and panics where it is missing. A
// binary that imports it therefore dies before main on such a machine, even
// for verbs that need no model, and `synod doctor` could never say what is
// missing. purego can pass C structs by value on amd64 and arm64 by itself, so
// nothing here runs before [Open] is called and libffi is not needed at all.
// The price is that the struct layouts live here; two things guard them:
//
//   - [Open] asks the library for its default parameters and compares values
//     whose defaults are known at their offsets, so a library with another
//     layout is refused instead of being fed rubbish;
//   - the tests compare every struct, field by field, with yzma's.
//
// The pinned pair is yzma v1.27.0's view of llama.h and llama.cpp v0.5.0.
//
// Nothing here is safe for concurrent use except as llama.cpp itself says; the
// engine calls it from one goroutine of the child process only. C exceptions
// and failed assertions end the process: that is why it is a child.
package llama
