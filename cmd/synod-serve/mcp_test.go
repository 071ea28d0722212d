package main

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"

	"synod.dev/synod/cmd/cli/app"

	"synod.dev/synod/cmd/synod-serve/internal/store"
)

// mcpClient starts "synod mcp" in a home and connects the official client to it. end returns the command's error.
func mcpClient(t *testing.T, home *app.App, councils string) (s *mcp.ClientSession, end func() error) {
	t.Helper()
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	cmd := &cobra.Command{}
	f := flags{}
	f.shared(cmd)
	if err := f.configure(cmd.Flags(), home.Dirs.Config); err != nil {
		t.Fatal(err)
	}
	f.councils = councils
	done := make(chan error, 1)
	go func() { done <- f.mcp(context.Background(), home, in, out, t.Output()); out.Close() }()
	c := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	s, err := c.Connect(t.Context(), &mcp.IOTransport{Reader: fromServer, Writer: toServer}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s, func() error { s.Close(); return <-done }
}

// Two clients on stdin and stdout share a home. The limits of the key in SYNOD_API_KEY hold, and certificates that
// they get are signed with the owner's key.
func TestMCP(t *testing.T) {
	dir := t.TempDir()
	councils := filepath.Join(dir, "councils")
	if err := os.Mkdir(councils, 0o700); err != nil {
		t.Fatal(err)
	}
	sure := strings.Replace(diceFile, "provider: simulated", "provider: simulated, ability: 1", 1) // so that it decides
	if err := os.WriteFile(filepath.Join(councils, "dice.yaml"), []byte(sure), 0o600); err != nil {
		t.Fatal(err)
	}
	home, err := app.New(dir, "")
	if err != nil {
		t.Fatal(err)
	}
	code, secret, errs := command(t, "serve", "keys", "new", "alice", "--rpm", "2", "--home", dir)
	if code != 0 {
		t.Fatal(errs)
	}
	t.Setenv("SYNOD_API_KEY", strings.TrimSpace(secret))
	one, endOne := mcpClient(t, home, councils)
	two, endTwo := mcpClient(t, home, councils)
	for i, s := range []*mcp.ClientSession{one, two, one} {
		res, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "ask", Arguments: map[string]any{
			"question": "What is 17 + 25?", "on_no_consensus": "refuse", "certificate": true}})
		if err != nil {
			t.Fatal(err)
		}
		b, _ := json.Marshal(res.StructuredContent)
		if text := string(b); i < 2 && (res.IsError || !strings.Contains(text, "payloadType")) ||
			i == 2 && !strings.Contains(text, "rate_limit_exceeded") {
			t.Errorf("%d: %s", i, text)
		}
	}
	for _, end := range []func() error{endOne, endTwo} {
		if err := end(); err != nil {
			t.Error(err)
		}
	}
	if !home.HasOwnerKey() {
		t.Error("no owner's key was made")
	}
	st, err := store.Open(t.Context(), filepath.Join(home.Dirs.State, "serve", "serve.db"), "")
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	rows, err := st.Recent(t.Context(), 10)
	if err != nil || len(rows) != 2 || rows[0].Gateway == rows[1].Gateway || rows[0].Key == "" {
		t.Errorf("%v %+v", err, rows)
	}
}
