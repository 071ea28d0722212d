package sandbox

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strconv"
	"time"
)

// arguments are those of bwrap, up to the program. What the program may read is listed; all else does not exist for it.
func arguments(c Command, memory int) []string {
	args := []string{"--unshare-all", "--unshare-user", "--disable-userns", "--seccomp", "4",
		"--uid", strconv.Itoa(nobody), "--gid", strconv.Itoa(nobody),
		"--cap-drop", "ALL", "--die-with-parent", "--new-session", "--clearenv",
		"--setenv", "PATH", "/usr/local/bin:/usr/bin:/bin", "--setenv", "LANG", "C.UTF-8", "--setenv", "HOME", "/tmp",
		"--ro-bind", "/usr", "/usr", "--ro-bind-try", "/etc/alternatives", "/etc/alternatives",
		"--ro-bind-try", "/etc/ld.so.cache", "/etc/ld.so.cache"}
	for _, dir := range []string{"/bin", "/sbin", "/lib", "/lib64"} {
		if target, err := os.Readlink(dir); err == nil {
			args = append(args, "--symlink", target, dir)
		} else {
			args = append(args, "--ro-bind-try", dir, dir)
		}
	}
	args = append(args, "--proc", "/proc", "--dev", "/dev", "--remount-ro", "/dev",
		"--size", strconv.Itoa(maxWritten), "--tmpfs", "/tmp", "--ro-bind-data", "3", "/question")
	if c.Mount != "" {
		args = append(args, "--ro-bind", c.Mount, "/check")
	}
	return append(args, "--remount-ro", "/", "--chdir", "/tmp", "--", "/usr/bin/prlimit",
		fmt.Sprintf("--data=%d", memory<<20), fmt.Sprintf("--nproc=%d", maxProcesses),
		fmt.Sprintf("--fsize=%d", maxWritten), "--nofile=64", "--core=0", "--memlock=0", "--msgqueue=0", "--")
}

// watch stops a program whose processes use too much memory together, or are too many.
func watch(ctx context.Context, root, memory int, stop context.CancelCauseFunc) {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		switch processes, bytes := usage(root); {
		case bytes > memory<<20:
			stop(fmt.Errorf("used more than %d MiB of memory", memory))
		case processes > maxProcesses+3: // bwrap has two, and prlimit may be one
			stop(fmt.Errorf("started more than %d processes", maxProcesses))
		}
	}
}

// usage returns how many processes a process and its descendants are, and the memory that they use together.
func usage(root int) (processes, bytes int) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return 0, 0
	}
	parent, size := map[int]int{}, map[int]int{}
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil {
			parent[pid], size[pid] = statOf(pid)
		}
	}
	for pid := range parent {
		up := pid
		for steps := 0; up > 1 && up != root && steps < len(parent); steps++ {
			up = parent[up]
		}
		if up == root {
			processes, bytes = processes+1, bytes+size[pid]
		}
	}
	return processes, bytes
}

// statOf returns the parent of a process, and the bytes that it has in memory; zeros if it has ended.
func statOf(pid int) (parent, size int) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, 0
	}
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:]) // from the third field on, the state
	if len(fields) < 22 {
		return 0, 0
	}
	parent, _ = strconv.Atoi(string(fields[1]))
	pages, _ := strconv.Atoi(string(fields[21]))
	return parent, pages * os.Getpagesize()
}
