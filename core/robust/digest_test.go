package robust_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// golden is the digest of every aggregate of 2,000 random inputs. It must be the same
// on every machine, whether or not the compiler fuses operations.
const golden = "23eb89bbc43a7d98"

// [I-DL-2, F5] Two builds that differ in fused multiply-add agree bit for bit,
// while a version without explicit roundings gives different digests.
func TestSameBitsOnEveryBuild(t *testing.T) {
	ours, naive := map[string]string{}, map[string]string{}
	for _, level := range []string{"v1", "v3"} {
		out := digest(t, level)
		if out == "" {
			continue
		}
		ours[level], naive[level], _ = strings.Cut(out, " ")
		if ours[level] != golden {
			t.Errorf("GOAMD64=%s: digest %s, want %s", level, ours[level], golden)
		}
	}
	if runtime.GOARCH == "amd64" && len(naive) == 2 && naive["v1"] == naive["v3"] {
		t.Error("the version without roundings gives the same digest on both builds: this test no longer detects " +
			"fused operations")
	}
}

// digest builds and runs the digest command for a level of amd64. It returns "" if
// this processor cannot run it. On other architectures the level has no effect.
func digest(t *testing.T, level string) string {
	t.Helper()
	bin := filepath.Join(t.TempDir(), "digest")
	build := exec.Command("go", "build", "-o", bin, "./testdata/digest")
	build.Env = append(os.Environ(), "GOAMD64="+level, "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("GOAMD64=%s: %v\n%s", level, err, out)
	}
	out, err := exec.Command(bin).CombinedOutput()
	if err != nil && strings.Contains(string(out), "microarchitecture support") {
		t.Logf("skipped GOAMD64=%s: this processor cannot run it", level)
		return ""
	}
	if err != nil {
		t.Fatalf("GOAMD64=%s: %v\n%s", level, err, out)
	}
	return strings.TrimSpace(string(out))
}
