// Package pgtest starts a PostgreSQL for tests, where its programs are installed.
package pgtest

import (
	"bytes"
	"database/sql"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver pgx
)

// programs returns the folder with initdb; "" if there is none.
func programs() string {
	if path, err := exec.LookPath("initdb"); err == nil {
		return filepath.Dir(path)
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if len(found) == 0 {
		return ""
	}
	return filepath.Dir(found[len(found)-1])
}

// Start starts a server with its data in a folder of its own, as another user where this is root, as
// which it does not run.
func Start(t *testing.T) (url string) {
	t.Helper()
	bin := programs()
	if bin == "" {
		t.Skip("PostgreSQL is not installed (Debian: apt-get install postgresql)")
	}
	dir, err := os.MkdirTemp("", "synod-postgres")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	as := owner(t, dir)
	data := filepath.Join(dir, "data")
	run := func(name string, args ...string) *exec.Cmd {
		cmd := exec.Command(filepath.Join(bin, name), args...)
		cmd.SysProcAttr, cmd.Dir = as, dir
		cmd.Env = append(os.Environ(), "LC_ALL=C")
		return cmd
	}
	if out, err := run("initdb", "-D", data, "-A", "trust", "-U", "synod", "--no-sync").CombinedOutput(); err != nil {
		t.Skipf("initdb: %v: %s", err, out)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	l.Close()
	var log bytes.Buffer
	server := run("postgres", "-D", data, "-p", strconv.Itoa(port), "-c", "listen_addresses=127.0.0.1",
		"-c", "unix_socket_directories="+dir, "-c", "fsync=off")
	server.Stderr = &log
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		server.Process.Signal(os.Interrupt)
		server.Wait()
	})
	url = fmt.Sprintf("postgres://synod@127.0.0.1:%d/postgres?sslmode=disable", port)
	await(t, url, &log)
	return url
}

// owner returns as whom a server runs that must not be root, and gives that user its folder.
func owner(t *testing.T, dir string) *syscall.SysProcAttr {
	t.Helper()
	as := &syscall.SysProcAttr{}
	if os.Getuid() != 0 {
		return as
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		if u, err = user.Lookup("nobody"); err != nil {
			t.Skip("PostgreSQL does not run as root, and there is no other user")
		}
	}
	uid, _ := strconv.Atoi(u.Uid)
	gid, _ := strconv.Atoi(u.Gid)
	as.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	if err := os.Chown(dir, uid, gid); err != nil {
		t.Fatal(err)
	}
	return as
}

// await waits until a server answers.
func await(t *testing.T, url string, log *bytes.Buffer) {
	t.Helper()
	for begun := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		db, err := sql.Open("pgx", url)
		if err == nil {
			err = db.Ping()
			db.Close()
		}
		if err == nil {
			return
		}
		if time.Since(begun) > 20*time.Second {
			t.Fatalf("%v: %s", err, strings.TrimSpace(log.String()))
		}
	}
}
