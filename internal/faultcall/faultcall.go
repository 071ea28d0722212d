//go:build linux && amd64

// Package faultcall runs a program and lets its system calls on files fail, or kills it at one of them. Tests walk
// through all calls of a command with it: what the command reports, and what the next one finds, must be right after
// each of them.
//
// It traces the program with ptrace, so it needs Linux, and here also amd64; where it is not supported, Run is not
// there, and tests that need it are not built.
//
// Its rank is 0: tests of all packages may use it.
package faultcall

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
)

// Call is a system call that a program is about to make.
type Call struct {
	Name string // such as "fsync"
	N    int    // how many calls on regular files and folders came before
	Path string // of its file; "" where it is not known
}

// Fault is how a call fails.
type Fault struct {
	Err  syscall.Errno // that it returns without being made; 0: it is made
	Kill bool          // the program is killed instead
}

// names are the calls that change files, or put changes on disk, by their numbers.
var names = map[uint64]string{
	syscall.SYS_FSYNC: "fsync", syscall.SYS_FDATASYNC: "fdatasync", syscall.SYS_WRITE: "write",
	syscall.SYS_PWRITE64: "pwrite", syscall.SYS_OPENAT: "open", syscall.SYS_RENAMEAT: "rename",
	syscall.SYS_UNLINKAT: "unlink", syscall.SYS_MKDIRAT: "mkdir", syscall.SYS_FTRUNCATE: "truncate",
}

// byHandle are those whose first argument is an open file.
var byHandle = map[string]bool{"fsync": true, "fdatasync": true, "write": true, "pwrite": true, "truncate": true}

// Run starts a program, asks fault about each of its calls on regular files and folders, and waits for its end. It
// returns the exit code, -1 if the program was killed. cmd must not be started, and its outputs must be files or nil.
func Run(cmd *exec.Cmd, fault func(Call) Fault) (code int, err error) {
	runtime.LockOSThread() // only the thread that starts a program may trace it
	defer runtime.UnlockOSThread()
	cmd.SysProcAttr = &syscall.SysProcAttr{Ptrace: true, Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	t := &tracer{main: cmd.Process.Pid, fault: fault, inside: map[int]bool{}, failing: map[int]syscall.Errno{}}
	code, err = t.run()
	return code, errors.Join(err, cmd.Process.Release())
}

// tracer follows the threads of one program.
type tracer struct {
	main    int
	fault   func(Call) Fault
	n       int
	inside  map[int]bool          // by thread: it is in a call
	failing map[int]syscall.Errno // by thread: how the call that it is in fails
}

const options = syscall.PTRACE_O_TRACESYSGOOD | syscall.PTRACE_O_TRACECLONE | exitKill

const (
	exitKill = 0x100000   // PTRACE_O_EXITKILL
	allTypes = 0x40000000 // __WALL: threads too
)

func (t *tracer) run() (int, error) {
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(t.main, &status, allTypes, nil); err != nil {
		return 0, fmt.Errorf("faultcall: wait for the program: %w", err)
	}
	if err := syscall.PtraceSetOptions(t.main, options); err != nil {
		return 0, fmt.Errorf("faultcall: trace the program: %w", err)
	}
	pid := t.main
	signal := syscall.Signal(0)
	for {
		// A thread that a signal has killed meanwhile cannot go on: its end is reported by Wait4.
		if err := syscall.PtraceSyscall(pid, int(signal)); err != nil && !errors.Is(err, syscall.ESRCH) {
			return 0, fmt.Errorf("faultcall: let the program go on: %w", err)
		}
		var err error
		for pid, err = syscall.Wait4(-t.main, &status, allTypes, nil); errors.Is(err, syscall.EINTR); {
			pid, err = syscall.Wait4(-t.main, &status, allTypes, nil)
		}
		if err != nil {
			return 0, fmt.Errorf("faultcall: wait for the program: %w", err)
		}
		if pid == t.main && status.Exited() {
			return status.ExitStatus(), nil
		}
		if pid == t.main && status.Signaled() {
			return -1, nil
		}
		if signal, err = t.stopped(pid, status); err != nil {
			return 0, err
		}
	}
}

// stopped handles the stop of a thread, and returns the signal that it gets.
func (t *tracer) stopped(pid int, status syscall.WaitStatus) (syscall.Signal, error) {
	if !status.Stopped() {
		return 0, nil
	}
	switch signal := status.StopSignal(); signal {
	case syscall.SIGTRAP | 0x80:
		return 0, t.call(pid)
	case syscall.SIGTRAP, syscall.SIGSTOP: // a new thread
		return 0, nil
	default:
		return signal, nil
	}
}

// call handles the beginning or the end of a call.
func (t *tracer) call(pid int) error {
	t.inside[pid] = !t.inside[pid]
	begins, failing := t.inside[pid], t.failing[pid]
	if !begins && failing == 0 {
		return nil
	}
	var regs syscall.PtraceRegs
	if err := syscall.PtraceGetRegs(pid, &regs); err != nil {
		return ignoreDead(err)
	}
	if !begins {
		delete(t.failing, pid)
		regs.Rax = uint64(-int64(failing))
		return ignoreDead(syscall.PtraceSetRegs(pid, &regs))
	}
	name := names[regs.Orig_rax]
	path, counts := t.path(pid, name, &regs)
	if !counts {
		return nil
	}
	f := t.fault(Call{name, t.n, path})
	t.n++
	switch {
	case f.Kill:
		return ignoreDead(syscall.Kill(t.main, syscall.SIGKILL))
	case f.Err != 0:
		t.failing[pid] = f.Err
		regs.Orig_rax = ^uint64(0) // no such call
		return ignoreDead(syscall.PtraceSetRegs(pid, &regs))
	}
	return nil
}

func ignoreDead(err error) error {
	if errors.Is(err, syscall.ESRCH) {
		return nil
	}
	return err
}

// path returns the file of a call. counts is false for calls that change no regular file: those on other things, and
// files that are opened to be read.
func (t *tracer) path(pid int, name string, regs *syscall.PtraceRegs) (path string, counts bool) {
	switch {
	case name == "":
		return "", false
	case byHandle[name]:
		path, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", t.main, int32(regs.Rdi)))
		info, stat := os.Stat(fmt.Sprintf("/proc/%d/fd/%d", t.main, int32(regs.Rdi)))
		file := err == nil && stat == nil && strings.HasPrefix(path, "/") && (info.Mode().IsRegular() || info.IsDir())
		return path, file
	case name == "open" && regs.Rdx&syscall.O_CREAT == 0:
		return "", false
	}
	var buf [4096]byte
	n, err := syscall.PtracePeekData(pid, uintptr(regs.Rsi), buf[:256])
	if err != nil {
		return "", true
	}
	for i := range buf[:n] {
		if buf[i] == 0 {
			return string(buf[:i]), true
		}
	}
	return "", true
}
