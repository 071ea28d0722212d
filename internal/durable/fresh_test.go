package durable_test

import (
	"errors"
	"math/rand/v2"
	"os"
	"syscall"
	"testing"

	"synod.dev/synod/internal/durable"
	"synod.dev/synod/internal/faultdisk"
)

// A process cuts the file that an earlier one left under the name path.new, and its write and its sync fail: the old
// bytes stay on disk, and nobody sees them. The next file must not end with them (LE-2, found by a campaign of tier
// T2).
func TestFreshAfterAFailedSync(t *testing.T) {
	d := faultdisk.New()
	left, err := d.OpenFile("/f.new", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	_, err = left.Write([]byte("a long text"))
	if err := errors.Join(err, left.Sync(), left.Close(), d.SyncDir("/")); err != nil {
		t.Fatal(err)
	}
	d.Inject = func(c faultdisk.Call) (f faultdisk.Fault) {
		if c.Op == faultdisk.Write || c.Op == faultdisk.Sync {
			f.Err = syscall.EIO
		}
		return f
	}
	if err := durable.WriteFileOn(d, "/f", []byte("short")); !errors.Is(err, syscall.EIO) {
		t.Fatal(err)
	}
	d.Inject = nil
	if err := durable.WriteFileOn(d, "/f", []byte("short")); err != nil {
		t.Fatal(err)
	}
	d.PowerCut(rand.New(rand.NewPCG(1, 1)), false)
	if b, err := durable.ReadFileOn(d, "/f", 100); string(b) != "short" || err != nil {
		t.Fatalf("%q, %v", b, err)
	}
}
