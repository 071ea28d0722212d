package node_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"synod.dev/synod"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/network/node"
)

// snapshot is an observer that copies a node's folder when its seat has the opinion of a round.
type snapshot struct {
	t        *testing.T
	round    int
	from, to string
	once     sync.Once
}

func (s *snapshot) Run(node.ObservedRun) node.RunObserver { return s }
func (s *snapshot) Refused(string, string, string, error) {}
func (s *snapshot) End(string, int)                       {}
func (s *snapshot) Call(synod.ConsultID, synod.Tick) func(node.ObservedCall) {
	return func(node.ObservedCall) {}
}
func (s *snapshot) Round(round int, _ synod.Tick) {
	if round == s.round {
		s.once.Do(func() {
			if err := os.CopyFS(s.to, os.DirFS(s.from)); err != nil {
				s.t.Error(err)
			}
		})
	}
}

// A node that is started with a copy of its folder from the middle of a run, after it has signed more, signs no second
// value in that run, raises the alarm, and plays the next question. Its model now gives other answers, so that it
// would sign other values if it went on.
func TestRestoredFolder(t *testing.T) {
	const victim = 2
	for _, protocol := range []string{"{name: sac, rounds: 3}", "{name: majority}", "{name: rotating-leader}"} {
		for _, round := range []int{0, 1} {
			if round > 0 && !strings.Contains(protocol, "sac") {
				continue // there is no round 1
			}
			t.Run(fmt.Sprintf("%s after round %d", strings.Trim(protocol, "{}"), round), func(t *testing.T) {
				net := convene(t, "protocol: "+protocol+"\nf: 1\n"+quick+
					"models: {d: {provider: simulated, ability: 1}}\nseats: [{id: a, model: d, count: 5}]\n", 31)
				old := filepath.Join(t.TempDir(), "copy")
				net.change = func(seat int, c *node.Config) {
					if seat == victim {
						c.Observer = &snapshot{t: t, round: round, from: c.Dir, to: old}
					}
				}
				net.startAll()
				res, o := net.ask(sum)
				if o.Answer == nil || len(res.Missing) > 0 {
					t.Fatalf("%s: %s, missing %v", o.Status, o.Reason, res.Missing)
				}
				net.stop[victim]()
				before := signedIn(t, net.dirs[victim])
				net.dirs[victim] = old
				net.change = func(seat int, c *node.Config) {
					c.Model = plan.Params{"provider": "simulated", "ability": 0.0, "seed": 99, "study": 5}
				}
				net.start(victim)
				alarm := false
				for deadline := time.Now().Add(10 * time.Second); !alarm && time.Now().Before(deadline); {
					s := net.nodes[victim].Status()
					alarm = len(s.Older) == 1 && s.Older[0] == string(res.Instance) && s.Stats.Older == 1
					time.Sleep(10 * time.Millisecond)
				}
				if !alarm {
					t.Error("no alarm")
				}
				time.Sleep(300 * time.Millisecond) // what it would sign, it would have signed by now
				for line, sum := range signedIn(t, old) {
					if other, ok := before[line]; ok && other != sum {
						t.Errorf("a second value was signed for %s", line)
					}
				}
				for i, n := range net.nodes {
					if proofs, err := n.Evidence(); err != nil || len(proofs) > 0 {
						t.Errorf("node %d has %d proofs: %v", i, len(proofs), err)
					}
				}
				net.connected()
				if res, _ = net.ask(synod.Question{Text: "What is 3 + 4?", Form: synod.Number}); len(res.Missing) > 0 {
					t.Errorf("the next question: missing %v", res.Missing)
				}
				net.stop[victim]()
				net.start(victim) // the run stays closed
				time.Sleep(200 * time.Millisecond)
				if s := net.nodes[victim].Status(); s.Stats.Resumed > 0 {
					t.Errorf("a later process goes on with the run: %+v", s.Stats)
				}
			})
		}
	}
}

// signedIn returns the values of the slots that the node of a folder has signed.
func signedIn(t *testing.T, dir string) map[string]string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, "slots"))
	if err != nil {
		t.Fatal(err)
	}
	signed := map[string]string{}
	for _, line := range strings.Split(strings.TrimSpace(string(b)), "\n") {
		line = line[:strings.LastIndexByte(line, '"')+1] // without its checksum
		if parts := strings.SplitN(line, " ", 4); len(parts) == 4 && !strings.Contains(parts[3], "elsewhere") {
			signed[parts[0]+" "+parts[1]+" "+parts[3]] = parts[2]
		}
	}
	return signed
}
