//go:build unix

package engine

import (
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
)

// childEnv is the little the child needs: no key of ours is among it.
func childEnv(lib string) []string {
	env := []string{
		"LD_LIBRARY_PATH=" + joinPath(lib, os.Getenv("LD_LIBRARY_PATH")),
		"DYLD_LIBRARY_PATH=" + joinPath(lib, os.Getenv("DYLD_LIBRARY_PATH")),
		"GGML_NO_BACKTRACE=1", // it would start a debugger
		"GOTRACEBACK=none",    // the last words should be the library's
	}
	for _, key := range []string{"PATH", "HOME", "TMPDIR", "LANG", "LC_ALL", "GOCOVERDIR"} {
		if v, ok := os.LookupEnv(key); ok {
			env = append(env, key+"="+v)
		}
	}
	return env
}

func joinPath(first, rest string) string {
	return strings.TrimSuffix(first+":"+rest, ":")
}

// detach puts the child into its own process group: ^C at the terminal is for
// the parent, which has work to save before it lets the child go.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// lower makes the calling thread, and those it starts, polite and bounded.
// Failure is not an error: these are precautions.
func lower(memory int64) {
	_ = syscall.Setrlimit(syscall.RLIMIT_CORE, &syscall.Rlimit{}) // prompts do not belong on disk
	if memory > 0 && runtime.GOOS == "linux" {
		_ = syscall.Setrlimit(syscall.RLIMIT_DATA, &syscall.Rlimit{Cur: uint64(memory), Max: uint64(memory)})
	}
	_ = syscall.Setpriority(syscall.PRIO_PROCESS, 0, 5) // on Linux: this thread and its children
}

// claimStdout moves the real stdout out of the libraries' reach: whatever they
// print to descriptor 1 goes to stderr and cannot garble our frames.
func claimStdout() (*os.File, error) {
	fd, err := syscall.Dup(1)
	if err != nil {
		return nil, err
	}
	syscall.CloseOnExec(fd)
	if err := dup2(2, 1); err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), "frames"), nil
}
