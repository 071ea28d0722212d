package faultdisk_test

import (
	"bytes"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"syscall"
	"testing"

	"synod.dev/synod/internal/durable"
	"synod.dev/synod/internal/faultdisk"
)

func read(d *faultdisk.Disk, path string) string {
	b, err := durable.ReadFileOn(d, path, 1<<20)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// What was synced outlives a power cut; of what was not, any part from the beginning on does.
func TestPowerCut(t *testing.T) {
	seen := map[string]bool{}
	for seed := range uint64(60) {
		d := faultdisk.New()
		if err := durable.WriteFileOn(d, "/old", []byte("first")); err != nil {
			t.Fatal(err)
		}
		f, err := d.OpenFile("/old", os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		f.WriteAt([]byte("second"), 5)
		f.WriteAt([]byte("third"), 11)
		if _, err := d.OpenFile("/new", os.O_RDWR|os.O_CREATE, 0o600); err != nil {
			t.Fatal(err)
		}
		d.PowerCut(rand.New(rand.NewPCG(seed, 0)), false)
		got := read(d, "/old")
		if !bytes.HasPrefix([]byte(got), []byte("first")) {
			t.Fatalf("seed %d: what was synced is %q", seed, got)
		}
		seen[got] = true
		_, there := d.Backup()["/new"]
		seen[map[bool]string{true: "a name", false: "no name"}[there]] = true
	}
	for _, want := range []string{"first", "firstsecond", "firstsecondthird", "first\x00\x00\x00\x00\x00\x00", "a name",
		"no name"} {
		if !seen[want] {
			t.Errorf("%q is never left: %v", want, seen)
		}
	}
}

// A sync that fails drops what it should have written, and a later one does not bring it back.
func TestFailedSync(t *testing.T) {
	d := faultdisk.New()
	if err := durable.WriteFileOn(d, "/f", nil); err != nil {
		t.Fatal(err)
	}
	f, err := d.OpenFile("/f", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	f.Write([]byte("lost"))
	d.Inject = func(c faultdisk.Call) faultdisk.Fault { return faultdisk.Fault{Err: syscall.EIO} }
	if err := f.Sync(); !errors.Is(err, syscall.EIO) {
		t.Error(err)
	}
	d.Inject = nil
	if err := f.Sync(); err != nil || read(d, "/f") != "lost" {
		t.Errorf("%v, %q", err, read(d, "/f"))
	}
	d.PowerCut(rand.New(rand.NewPCG(1, 0)), false)
	if got := read(d, "/f"); got != "" {
		t.Errorf("%q is left", got)
	}
}

// A process that was killed changes nothing more, and the next one reads what it has written.
func TestKill(t *testing.T) {
	d := faultdisk.New()
	f, err := d.OpenFile("/f", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	f.Write([]byte("one "))
	d.Inject = func(c faultdisk.Call) faultdisk.Fault { return faultdisk.Fault{Kill: true, Keep: 2} }
	if _, err := f.Write([]byte("two")); !errors.Is(err, faultdisk.ErrKilled) || !d.Dead() {
		t.Error(err)
	}
	d.Inject = nil
	if err := errors.Join(f.Truncate(0), d.Rename("/f", "/g")); !errors.Is(err, faultdisk.ErrKilled) {
		t.Error(err)
	}
	d.Kill()
	if got := read(d, "/f"); got != "one tw" {
		t.Errorf("it reads %q", got)
	}
	if _, err := d.OpenFile("/none", os.O_RDONLY, 0); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}
