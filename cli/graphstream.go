package cli

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"synod.dev/synod/graph"
)

// stream yields one graph a line as they come, so that each can be answered
// before the next is known; blank lines are skipped. It reports whether it came to
// the end.
func stream(cmd *cobra.Command, in io.Reader, name string, yield func(subject, error) bool) bool {
	lines, done := readLines(in, cmd.Context().Done()), cmd.Context().Done()
	for k := 1; ; k++ {
		var line textLine
		more := false
		select {
		case line, more = <-lines:
		case <-done:
			return false
		}
		switch {
		case !more:
			return true
		case line.err != nil:
			yield(subject{}, fail(exitUsage, fmt.Errorf("%s, line %d: %w", name, k, line.err)))
			return false
		case len(bytes.TrimSpace(line.text)) == 0:
			continue
		}
		file, err := parseLine(line.text)
		if err != nil {
			hint := ""
			if strings.Contains(err.Error(), "unexpected end") {
				hint = "a stream has one graph a line; a graph over several lines is read from a .json file"
			}
			yield(subject{}, fail(exitUsage, fmt.Errorf("%s, line %d: %w", name, k, err), hint))
			return false
		}
		if !yield(subject{fmt.Sprintf("%s:%d", name, k), file, graph.Built{Graph: file.Graph}}, nil) {
			return false
		}
	}
}

// textLine is a line, or why there is none.
type textLine struct {
	text []byte
	err  error
}

// readLines reads in the background: reading cannot be interrupted, waiting for it
// can.
func readLines(in io.Reader, done <-chan struct{}) <-chan textLine {
	lines := make(chan textLine)
	go func() {
		defer close(lines)
		scan := bufio.NewScanner(in)
		scan.Buffer(nil, largest)
		next := func() (textLine, bool) {
			if scan.Scan() {
				return textLine{text: bytes.Clone(scan.Bytes())}, true
			}
			return textLine{err: scan.Err()}, scan.Err() != nil
		}
		for line, more := next(); more; line, more = next() {
			select {
			case lines <- line:
			case <-done:
				return
			}
			if line.err != nil {
				return
			}
		}
	}()
	return lines
}

// parseLine reads a graph. The stream's line is named by the caller, so the
// parser's count of lines is left out.
func parseLine(line []byte) (graph.File, error) {
	format, err := graph.FindFormat("json")
	if err != nil {
		return graph.File{}, err
	}
	file, err := format.Parse(line)
	if err != nil {
		return graph.File{}, fmt.Errorf("%s", strings.Replace(err.Error(), "line 1: ", "", 1))
	}
	return file, nil
}
