//go:build unix

package engine

import (
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
)

// childEnv returns the environment of the child, which has no API keys.
func childEnv(lib string) []string {
	env := []string{
		"LD_LIBRARY_PATH=" + joinPath(lib, os.Getenv("LD_LIBRARY_PATH")),
		"DYLD_LIBRARY_PATH=" + joinPath(lib, os.Getenv("DYLD_LIBRARY_PATH")),
		"GGML_NO_BACKTRACE=1", // a backtrace would start a debugger
		"GOTRACEBACK=none",    // the last lines of stderr should be those of the library
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

// detach puts the child into its own process group, so that ^C at the terminal reaches
// only the parent, which still saves its work.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// lower lowers the priority and limits the memory of the calling thread and those that
// it starts. It ignores errors, because these are only precautions.
func lower(memory int64) {
	_ = syscall.Setrlimit(syscall.RLIMIT_CORE, &syscall.Rlimit{}) // a core dump would write prompts to disk
	if runtime.GOOS == "linux" {
		_ = syscall.Setrlimit(syscall.RLIMIT_DATA, &syscall.Rlimit{Cur: uint64(memory), Max: uint64(memory)})
	}
	_ = syscall.Setpriority(syscall.PRIO_PROCESS, 0, 5) // on Linux this thread and those that it starts
}

// claimStdout returns the real stdout for messages, and redirects descriptor 1 to
// stderr, so that output of the libraries does not mix with the messages.
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
