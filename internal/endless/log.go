package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// turn is one turn that ended.
type turn struct {
	Kind    string    `json:"kind"`
	At      time.Time `json:"at"`
	Seconds float64   `json:"seconds"`
	Command command   `json:"command"` // the last one that ran: the one that failed, if one did
	Found   string    `json:"found"`   // the end of its output if it failed; "": nothing
}

// log is the folder of all turns.
type log struct {
	dir   string
	begun int64 // when the folder was begun, for seeds
	turns []turn
	kinds []kind
	turn  time.Duration
	out   io.Writer
}

// errFound reports that turns failed, which was printed.
var errFound = errors.New("something was found")

// open reads the turns of a folder, or begins it.
func open(dir string, length time.Duration, only string) (*log, error) {
	l := &log{dir: dir, turn: length, kinds: kinds, out: os.Stdout}
	if only != "" {
		l.kinds = slices.DeleteFunc(slices.Clone(kinds), func(k kind) bool { return k.name != only })
		if len(l.kinds) == 0 {
			return nil, fmt.Errorf("-only: no kind of turns is named %q; there are: %s", only, kindNames())
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	raw, err := os.ReadFile(l.file())
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	for line := range bytes.Lines(raw) {
		var t turn
		if err := json.Unmarshal(line, &t); err != nil {
			return nil, fmt.Errorf("%s: %w; remove the last line if it was cut off", l.file(), err)
		}
		l.turns = append(l.turns, t)
	}
	l.begun = time.Now().Unix()
	if len(l.turns) > 0 {
		l.begun = l.turns[0].At.Unix()
	}
	return l, nil
}

func (l *log) file() string { return filepath.Join(l.dir, "turns.jsonl") }

// run plays turns until the time is over or ctx ends. A turn that ctx cut off is not kept.
func (l *log) run(ctx context.Context, length time.Duration) error {
	before := len(l.turns)
	for end := time.Now().Add(length); time.Now().Before(end) && ctx.Err() == nil; {
		k := l.kinds[len(l.turns)%len(l.kinds)]
		t, err := l.play(ctx, k, min(l.turn, max(time.Until(end), time.Second)))
		if err != nil {
			return err
		}
		if ctx.Err() != nil {
			break
		}
		if err := l.keep(t); err != nil {
			return err
		}
	}
	return l.report(before)
}

// play plays one turn.
func (l *log) play(ctx context.Context, k kind, length time.Duration) (t turn, err error) {
	n := 0
	for _, old := range l.turns {
		if old.Kind == k.name {
			n++
		}
	}
	commands, err := k.commands(l, n, length)
	if err != nil {
		return t, fmt.Errorf("%s: %w", k.name, err)
	}
	t = turn{Kind: k.name, At: time.Now()}
	for _, c := range commands {
		t.Command = c
		cmd := exec.CommandContext(ctx, c.Args[0], c.Args[1:]...)
		cmd.Dir, cmd.SysProcAttr, cmd.WaitDelay = c.Dir, &syscall.SysProcAttr{Setpgid: true}, 10*time.Second
		if strings.Contains(c.Args[0], "/") && !filepath.IsAbs(c.Args[0]) {
			if cmd.Path, err = filepath.Abs(c.Args[0]); err != nil {
				return t, err
			}
		}
		cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
		said, err := cmd.CombinedOutput()
		if errors.As(err, new(*exec.ExitError)) {
			t.Found = cmp.Or(string(said[max(0, len(said)-4000):]), err.Error())
			break
		}
		if err != nil {
			return t, fmt.Errorf("%s: %w", c, err)
		}
	}
	t.Seconds = time.Since(t.At).Seconds()
	if t.Found == "" && k.spent != nil {
		err = os.RemoveAll(k.spent(l, n))
	}
	return t, err
}

// keep writes a turn, and prints it.
func (l *log) keep(t turn) error {
	l.turns = append(l.turns, t)
	line, err := json.Marshal(t)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(l.file(), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(append(line, '\n'))
	fmt.Fprintf(l.out, "%s  %-8s %5.0f s  %s\n", t.At.Format(time.TimeOnly), t.Kind, t.Seconds, t.Command)
	if t.Found != "" {
		fmt.Fprintf(l.out, "FOUND:\n%s\n", t.Found)
	}
	return errors.Join(err, f.Close())
}

// report prints how many turns of each kind this run played, and what they found. Before is how many the folder had.
func (l *log) report(before int) error {
	found := 0
	for _, k := range l.kinds {
		n, failed, seconds := 0, 0, 0.0
		for _, t := range l.turns[before:] {
			if t.Kind == k.name {
				n, seconds = n+1, seconds+t.Seconds
				if t.Found != "" {
					failed++
				}
			}
		}
		fmt.Fprintf(l.out, "%-8s %d turns, %.0f minutes, %d found something\n", k.name, n, seconds/60, failed)
		found += failed
	}
	if found > 0 {
		return errFound
	}
	return nil
}
