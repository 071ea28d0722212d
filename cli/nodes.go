package cli

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/spf13/cobra"
)

// nodeCommands are the commands of synod-node, which is a program of its own because of the libraries
// that it links.
func nodeCommands() (all []*cobra.Command) {
	for _, c := range []struct{ name, short string }{
		{"node", "Play one seat of a council of several owners as a daemon"},
		{"roster", "Make, sign, show, check and compare rosters of such councils"},
	} {
		all = append(all, &cobra.Command{
			Use: c.name + " COMMAND", Short: c.short, DisableFlagParsing: true,
			RunE: func(cmd *cobra.Command, args []string) error {
				return runNode(cmd, append([]string{c.name}, args...))
			},
		})
	}
	return all
}

// runNode runs synod-node, which lies beside this program, with the same standard streams.
func runNode(cmd *cobra.Command, args []string) error {
	self, err := os.Executable()
	if err == nil {
		self, err = filepath.EvalSymlinks(self)
	}
	if err != nil {
		return fail(exitError1, err)
	}
	path := filepath.Join(filepath.Dir(self), "synod-node")
	if _, err := os.Stat(path); err != nil {
		return fail(exitError1, fmt.Errorf("this command needs the program synod-node beside synod, in %s",
			filepath.Dir(self)), "make build builds bin/synod and bin/synod-node in the folder of the source; "+
			"without make: (cd cmd/synod-node && go build -o ../../bin/synod-node .)")
	}
	return wait(cmd, path, args)
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
		return &exitError{code: ended.ExitCode()} // it has said why
	}
	if err != nil {
		return fail(exitError1, err)
	}
	return nil
}
