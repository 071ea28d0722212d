package sandbox

import (
	"encoding/binary"
	"runtime"

	"golang.org/x/sys/unix"
)

// refused are system calls that fail with EPERM: memory that belongs to no process, of which no limit counts anything,
// and parts of the kernel that a check does not need.
var refused = []uint32{unix.SYS_SHMGET, unix.SYS_MSGGET, unix.SYS_SEMGET, unix.SYS_MEMFD_CREATE, unix.SYS_MEMFD_SECRET,
	unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_KEYCTL, unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN,
	unix.SYS_USERFAULTFD, unix.SYS_IO_URING_SETUP}

// filter is a seccomp program for bwrap: classic BPF over struct seccomp_data, whose first words are the number of the
// call and the architecture. Calls of another architecture fail, since their numbers mean something else.
func filter() []byte {
	arch, foreign := uint32(unix.AUDIT_ARCH_X86_64), uint32(0x40000000) // from there on: numbers of x32
	if runtime.GOARCH == "arm64" {
		arch, foreign = unix.AUDIT_ARCH_AARCH64, 1<<31
	}
	n := uint8(len(refused))
	program := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 4},
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: n + 3, K: arch},
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 0},
		{Code: unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K, Jt: n + 1, K: foreign},
	}
	for i, call := range refused {
		is := unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jt: n - uint8(i), K: call}
		program = append(program, is)
	}
	program = append(program, unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
		unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)})
	var b []byte
	for _, x := range program {
		b = binary.NativeEndian.AppendUint16(b, x.Code)
		b = binary.NativeEndian.AppendUint32(append(b, x.Jt, x.Jf), x.K)
	}
	return b
}
