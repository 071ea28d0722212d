package main

import (
	"bytes"
	"io/fs"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"synod.dev/synod/bench"
	"synod.dev/synod/bench/report/inspectai"
	"synod.dev/synod/internal/canary"
)

// No secret leaves a hub or a worker: not by what they print, in the queue, or in a file of the run, its journals
// included. The control shows that the journals quote the servers of models.
func TestCanaries(t *testing.T) {
	for _, control := range []bool{false, true} {
		secrets := canary.All()
		secrets["the password of the queue"] = "c4nary-queue"
		if control {
			secrets = secrets.Backwards()
		}
		found := map[string]bool{}
		for output, text := range labOutputs(t, control) {
			if places := secrets.In([]byte(text)); len(places) > 0 {
				if found[output] = true; !control {
					t.Errorf("%s: has the secrets of %q:\n%.1000s", output, places, text)
				}
			}
		}
		if control && !found["journals"] {
			t.Errorf("control: secrets were found in %v alone, so this test says little", found)
		}
	}
}

// labOutputs plays councils with secrets on a hub and a worker, and returns what they put out.
func labOutputs(t *testing.T, control bool) map[string]string {
	t.Helper()
	up := httptest.NewServer(canary.Server(control))
	defer up.Close()
	for name, value := range canary.Environment(up.URL) {
		t.Setenv(name, value)
	}
	password := server.Options{JetStream: true, Users: []*server.User{{Username: "ann", Password: "c4nary-queue"}}}
	queue := natsServer(t, password)
	at := "nats://ann:c4nary-queue@" + queue.Addr().String()
	text := strings.Replace(endpoints(`"`+up.URL+`/v1?token=c4nary-query"`, "", "", 1), "LAB_TEST_KEY", "MY_KEY", 1)
	dir := study(t, text, 1)
	hub := startHub(t, dir, "", "--nats", at)
	w := runWorker(t, []string{"SYNOD_QUERY_dice=token=c4nary-query"}, dir, "w", at, "--trust")
	all := map[string]string{}
	if a, b := hub.code(time.Minute), w.code(time.Minute); a != 0 || b != 0 {
		t.Errorf("exit codes %d and %d:\n%s\n%s", a, b, hub.output(), w.output())
	}
	all["hub"], all["worker"] = hub.output(), w.output()
	all["queue"] = files(t, queue.JetStreamConfig().StoreDir)
	all["files"] = files(t, dir)
	grid, err := bench.OpenGrid(filepath.Join(dir, "run"))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	for _, run := range grid.Runs {
		if err := run.Inspect(&b, inspectai.JSON); err != nil {
			t.Fatal(err)
		}
	}
	all["journals"] = b.String()
	return all
}

// files returns the text of all files of a folder, but for the manifest of the test itself.
func files(t *testing.T, dir string) string {
	t.Helper()
	var all strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || filepath.Base(path) == "study.yaml" {
			return err
		}
		b, err := os.ReadFile(path)
		all.WriteString(path + "\n")
		all.Write(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}
