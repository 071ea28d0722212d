package app

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
)

// RunBeside runs a program that lies beside this one, with the same standard streams and the same home.
func (a *App) RunBeside(cmd *cobra.Command, program string, args []string) error {
	path, err := Beside(program, "cmd/"+program)
	if err != nil {
		return err
	}
	if a.Home != "" {
		os.Setenv("SYNOD_HOME", a.Home)
	}
	if file := cmd.Flag("prices"); file != nil && file.Value.String() != "" {
		os.Setenv("SYNOD_PRICES", file.Value.String())
	}
	return become(cmd, path, args)
}

// become replaces this process by a program, which so keeps its process id, and nothing is left behind when it is
// killed. Where the system cannot do this, or the streams are not those of the process, it runs the program and waits.
func become(cmd *cobra.Command, path string, args []string) error {
	if cmd.InOrStdin() == os.Stdin && shows(cmd.OutOrStdout(), os.Stdout) && shows(cmd.ErrOrStderr(), os.Stderr) {
		err := syscall.Exec(path, append([]string{path}, args...), os.Environ())
		if !errors.Is(err, errors.ErrUnsupported) {
			return Fail(ExitFailure, fmt.Errorf("%s: %w", path, err))
		}
	}
	return wait(cmd, path, args)
}

// shows reports that w is the screen of a stream of this process.
func shows(w io.Writer, stream *os.File) bool {
	s, ok := w.(*Screen)
	return ok && s.To == io.Writer(stream)
}

// Beside returns the path of a program that lies beside this one. The error says how to install it, and how to build it
// in its folder of the source.
func Beside(program, folder string) (string, error) {
	self, err := os.Executable()
	if err == nil {
		self, err = filepath.EvalSymlinks(self)
	}
	if err != nil {
		return "", Fail(ExitFailure, err)
	}
	path := filepath.Join(filepath.Dir(self), program)
	if _, err := os.Stat(path); err != nil {
		top := strings.Repeat("../", 1+strings.Count(folder, "/"))
		return "", Fail(ExitFailure, fmt.Errorf("this command needs the program %s beside synod, in %s", program,
			filepath.Dir(self)), "install the package "+program+", unpack a whole archive, or run make install in the "+
			"folder of the source; without make: (cd "+folder+" && go build -o "+top+"bin/"+program+" .)")
	}
	return path, nil
}

// wait runs a program, which gets the signals of this one, and ends with its exit code.
func wait(cmd *cobra.Command, path string, args []string) error {
	c := exec.CommandContext(cmd.Context(), path, args...)
	c.Stdin, c.Stdout, c.Stderr = cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr()
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
	err := c.Run()
	if c.ProcessState != nil && c.ProcessState.Success() {
		return nil // it was interrupted, and has ended as it should
	}
	var ended *exec.ExitError
	if errors.As(err, &ended) {
		return &Error{Code: ended.ExitCode()} // it has said why
	}
	if err != nil {
		return Fail(ExitFailure, err)
	}
	return nil
}
