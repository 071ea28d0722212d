package campaign

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"synod.dev/synod/internal/damage"
	"synod.dev/synod/internal/durable"
	"synod.dev/synod/internal/faultdisk"
	"synod.dev/synod/internal/filelock"
	"synod.dev/synod/internal/nightly"
)

// small is a campaign of three batches.
var small = Options{Executions: 510, Seed: 1, Protocols: []string{"majority"}}

// folderOf plays a campaign and returns its folder.
func folderOf(t *testing.T, o Options) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "c")
	if s, err := Run(t.Context(), o, Setup{Dir: dir}); err != nil || !s.Finished {
		t.Fatal(s, err)
	}
	return dir
}

// files returns the files of a folder by their paths in it.
func files(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() && d.Name() != lockFile {
			all[path], err = os.ReadFile(path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// One program leaves the same record with the same options, however many workers play it, except the time that it took.
func TestOneRecord(t *testing.T) {
	var records, lines []string
	for _, workers := range []int{1, 5} {
		dir := filepath.Join(t.TempDir(), "c")
		o := Options{Executions: 3000, Seed: 2, Protocols: []string{"majority", "broadcast"}}
		s, err := Run(t.Context(), o, Setup{Dir: dir, Workers: workers})
		if err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join(dir, batchesFile))
		if err != nil {
			t.Fatal(err)
		}
		records, lines = append(records, s.Record()), append(lines, string(text))
	}
	if records[0] != records[1] || lines[0] != lines[1] || strings.Count(lines[0], "\n") != 13 {
		t.Errorf("%v\n%s\n%s", records, lines[0], lines[1])
	}
}

// withoutSums returns what a reader without checksums takes from a campaign.json; "": nothing.
func withoutSums(text []byte) string {
	s := new(SavedCampaign)
	if json.Unmarshal(text, s) != nil || s.Version != stateVersion {
		return ""
	}
	return digest(s)
}

// readFolder returns a digest of all that is read from a folder.
func readFolder(dir string) (string, error) {
	s, err := Open(dir)
	if err != nil {
		return "", err
	}
	all := digest(s)
	err = s.read(durable.System, dir, func(b Batch) error { all += digest(b); return nil })
	for _, f := range s.Failures {
		saved, bad := Load(f.File)
		err, all = errors.Join(err, bad), all+digest(saved)
	}
	return all, err
}

// Of random changes of a folder, 2,000 in "make nightly", each is found or changes nothing that is read. Without the
// checksums and the chain, some of them would.
func TestChangedFolder(t *testing.T) {
	weak(t)
	dir := folderOf(t, Options{Executions: 2500, Seed: 1, Protocols: []string{"broadcast"}})
	all := files(t, dir)
	if len(all) < 3 {
		t.Fatalf("it has no violation: %d files", len(all))
	}
	want, err := readFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	paths := slices.Sorted(maps.Keys(all))
	chance := rand.New(rand.NewPCG(1, 0))
	found, loose := 0, 0
	tries := nightly.Size(400, 2000)
	for n := range tries {
		path := paths[n%len(paths)]
		text := damage.Change(chance, all[path])
		if bytes.Equal(text, all[path]) {
			continue
		}
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := readFolder(dir)
		switch {
		case err != nil:
			found++
		case got != want:
			t.Errorf("change %d of %s is read", n, path)
		}
		if got := withoutSums(text); got != "" && got != withoutSums(all[path]) {
			loose++
		}
		if err := os.WriteFile(path, all[path], 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d changes were found; %d could be read without checksums", found, loose)
	if found < tries*9/10 || loose == 0 {
		t.Errorf("%d changes were found; %d could be read without checksums", found, loose)
	}
}

// rewrite changes a record and all its checksums, as somebody does who wants to deceive.
func rewrite(t *testing.T, dir string, change func(s *SavedCampaign, all []Batch)) {
	t.Helper()
	s, err := openOn(durable.System, dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []Batch
	if err := s.read(durable.System, dir, func(b Batch) error { all = append(all, b); return nil }); err != nil {
		t.Fatal(err)
	}
	change(s, all)
	var lines bytes.Buffer
	s.Chain = s.root()
	for i := range all {
		all[i].link(s.Chain)
		s.Chain = all[i].Chain
		line, _ := json.Marshal(all[i])
		lines.Write(append(line, '\n'))
	}
	s.Bytes, s.Batches = int64(lines.Len()), len(all)
	state, err := durable.EncodeSealed(s)
	if err = errors.Join(err, os.WriteFile(filepath.Join(dir, batchesFile), lines.Bytes(), 0o600),
		durable.WriteFile(filepath.Join(dir, stateFile), state)); err != nil {
		t.Fatal(err)
	}
}

// A record that is as its program wrote it is verified. One whose checksums were made anew after a change is found when
// its batches are played again.
func TestVerifyFolder(t *testing.T) {
	dir := folderOf(t, small)
	verify := func(share float64) *Audit {
		t.Helper()
		a, err := VerifyFolder(t.Context(), dir, AuditOptions{Share: share})
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	if a := verify(1); len(a.Wrong) > 0 || !a.Same || !a.Counted || a.Replayed != 3 || a.Executed != 510 {
		t.Errorf("%+v", a)
	}
	if a := verify(1e-9); len(a.Wrong) > 0 || a.Counted || a.Replayed != 1 || a.Drawn != 0 {
		t.Errorf("at least one batch of each protocol: %+v", a)
	}
	good := files(t, dir)
	for name, change := range map[string]func(s *SavedCampaign, all []Batch){
		"batch 1, majority": func(_ *SavedCampaign, all []Batch) { all[1].Results = strings.Repeat("0", 64) },
		"numbers of the report": func(s *SavedCampaign, _ []Batch) {
			for id := range s.Tally.Subjects["majority"].Claims {
				s.Tally.Subjects["majority"].Claims[id].Executions++
				break
			}
		},
	} {
		rewrite(t, dir, change)
		if a := verify(1); len(a.Wrong) != 1 || !strings.Contains(a.Wrong[0], name) {
			t.Errorf("%s: %v", name, a.Wrong)
		}
		for path, text := range good {
			if err := os.WriteFile(path, text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	rewrite(t, dir, func(_ *SavedCampaign, all []Batch) { all[0].From, all[1].From = all[1].From, all[0].From })
	if _, err := VerifyFolder(t.Context(), dir, AuditOptions{Share: 1}); !errors.Is(err, ErrChanged) {
		t.Errorf("batches that the plan does not have: %v", err)
	}
}

// A saved violation that is not that of the record is found.
func TestVerifyViolations(t *testing.T) {
	weak(t)
	dir := folderOf(t, Options{Executions: 2500, Seed: 1, Protocols: []string{"broadcast"}})
	a, err := VerifyFolder(t.Context(), dir, AuditOptions{Share: 1e-9})
	if err != nil || len(a.Wrong) > 0 || len(a.Failures) == 0 || a.Replayed < 2 {
		t.Fatalf("%+v, %v", a, err)
	}
	f := a.Failures[0]
	if err := Save(f.File, f.Claim, "something else", f.Execution); err != nil {
		t.Fatal(err)
	}
	a, err = VerifyFolder(t.Context(), dir, AuditOptions{Share: 1e-9})
	if err != nil || len(a.Wrong) != 1 || !strings.Contains(a.Wrong[0], "not the execution of the record") {
		t.Errorf("%v, %v", a.Wrong, err)
	}
}

// A folder that another program began is refused with what to do; it can be read, and verified by this one.
func TestOtherProgram(t *testing.T) {
	dir := folderOf(t, small)
	rewrite(t, dir, func(s *SavedCampaign, _ []Batch) {
		s.Program = Program{"0.0.9", strings.Repeat("ab", 32)}
	})
	_, err := Run(t.Context(), small, Setup{Dir: dir})
	for _, want := range []string{"another program began", "0.0.9", "name another folder"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %q", err, want)
		}
	}
	a, err := VerifyFolder(t.Context(), dir, AuditOptions{Share: 1})
	if err != nil || a.Same || len(a.Wrong) > 0 || !a.Counted {
		t.Errorf("%+v, %v", a, err)
	}
}

// What a folder must not be is refused, and each error says what to do.
func TestRefusedFolders(t *testing.T) {
	dir := t.TempDir()
	held, err := durable.Own(durable.System, filepath.Join(dir, lockFile))
	if err != nil {
		t.Fatal(err)
	}
	_, err = Run(t.Context(), small, Setup{Dir: dir})
	if !errors.Is(err, filelock.ErrHeld) || !strings.Contains(err.Error(), fmt.Sprintf("process %d on ", os.Getpid())) {
		t.Errorf("a second process: %v", err)
	}
	held.Close()
	for _, c := range []struct{ name, text, want string }{
		{stateFile, `{"version":1,"options":{"seed":1},"finished":true,"prefix":3,"tally":{}}`, "earlier version"},
		{stateFile, `{"version":2}`, "with a checksum"},
		{stateFile, string(durable.Seal([]byte(`{"version":2}`))), "numbers are missing"},
		{stateFile, `{"ver`, "restore it from a copy"},
		{batchesFile, "{}\n", "it has batches, but no campaign.json"},
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, c.name), []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Run(t.Context(), small, Setup{Dir: dir}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.text, err)
		}
	}
}

// playOn plays small on a disk, and saves after every batch.
func playOn(d *faultdisk.Disk) (*SavedCampaign, error) {
	return Run(context.Background(), small, Setup{Dir: "/c", Workers: 1, disk: d, every: time.Nanosecond})
}

// A campaign whose process is killed, or whose machine loses its power, at any call of the disk goes on at the last
// batch that it saved, and leaves the same record. An error of any call makes the command fail, and nothing is lost.
// "make nightly" tries all three at every call, this test one of them.
func TestKilledAnywhere(t *testing.T) {
	d := faultdisk.New()
	whole, err := playOn(d)
	if err != nil {
		t.Fatal(err)
	}
	calls, want := d.Calls, whole.Record()
	if calls < 30 {
		t.Fatalf("%d calls", calls)
	}
	seed := rand.IntN(3)
	t.Logf("seed %d", seed)
	var silent []string
	for call := range calls {
		for i, how := range []string{"kill", "power", "error"} {
			if !nightly.On() && i != (call+seed)%3 {
				continue
			}
			d := faultdisk.New()
			d.Inject = func(faultdisk.Call) faultdisk.Fault {
				if d.Calls != call+1 {
					return faultdisk.Fault{}
				}
				return faultdisk.Fault{Err: syscall.EIO, Kill: how != "error"}
			}
			if _, err := playOn(d); err == nil {
				silent = append(silent, fmt.Sprint(how, " at call ", call))
			}
			d.Inject = nil
			if d.Kill(); how == "power" {
				d.PowerCut(rand.New(rand.NewPCG(uint64(call), 1)), true)
			}
			s, err := playOn(d)
			if err != nil || s.Record() != want {
				t.Errorf("after %s at call %d: %v, %v", how, call, s, err)
			}
		}
	}
	if len(silent) > 2 { // the name of the process in the lock, which is for people, is cut off and written
		t.Errorf("these are no errors: %v", silent)
	}
}
