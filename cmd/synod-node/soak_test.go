package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"synod.dev/synod"
	"synod.dev/synod/network/link"
	"synod.dev/synod/network/node"
	"synod.dev/synod/network/node/call"
)

var (
	soakQuestions = flag.Int("questions", 0, "questions of TestSoakNodes; 0: it is skipped")
	soakLeak      = flag.Bool("leak", false, "make the nodes of TestSoakNodes leak: it must fail")
)

// The bounds of TestSoakNodes.
const (
	warmUp       = 1000 // questions before memory is compared; a tenth of all if there are fewer than 10,000
	mostSlope    = 1024 // bytes of live memory a question
	residentFrom = 10_000
	slack        = 8 // file descriptors and goroutines that differ by chance
)

const soakCouncil = "protocol: {name: sac, rounds: 2}\nf: 2\npace: {think: 1s, within: 1s}\nlimits: {deadline: 1m}\n" +
	"models: {d: {provider: simulated, ability: 1, skill: 1, primacy: 0, shared: 0}}\n" +
	"seats: [{id: a, model: d, count: 6}, {id: bad, model: d, adversary: {name: equivocator}}]\n"

// The seats of the council: the first four run from the beginning to the end, one is killed, one is stopped, and one is
// Byzantine.
const (
	steady  = 4
	killed  = 4
	stopped = 5
	hostile = 6
)

// soak is what TestSoakNodes has seen.
type soak struct {
	*processes
	port             int // of /debug of seat 0
	begun            time.Time
	asked            atomic.Int64
	mu               sync.Mutex
	ends             map[string]int // by caller and how a question ended
	wrong            []string
	kills, restarts  atomic.Int64
	samples          [steady][]sample
	first, afterward [steady]sample // without questions
}

// sample is what a process holds after a number of questions.
type sample struct {
	questions                      int
	heap, resident, fds, goroutine int
}

// Seven processes answer many questions of two callers, of whom one floods, while one process is killed, one is stopped
// and started, and one seat is Byzantine. What they hold does not grow with the questions, no descriptor and no
// goroutine is left, every question has one stated end, and nobody but the Byzantine seat is accused.
func TestSoakNodes(t *testing.T) {
	if *soakQuestions == 0 {
		t.Skip("make soak-nodes plays it")
	}
	s := &soak{processes: convene(t, soakCouncil, "tls"), port: 33000 + rand.IntN(2000), begun: time.Now(),
		ends: map[string]int{}}
	s.more = func(seat int) (args, env []string) {
		args = []string{"--debug", fmt.Sprintf("127.0.0.1:%d", s.port+seat)}
		if *soakLeak {
			env = []string{"SYNOD_NODE_LEAK=" + s.path(seat, "d")}
		}
		return args, env
	}
	s.startAll()
	s.play(t, min(*soakQuestions/10, 50), false)
	s.rest(&s.first)
	s.play(t, *soakQuestions, true)
	s.rest(&s.afterward)
	s.report(t)
}

// play asks until so many questions have ended in all. With faults, processes end meanwhile and a caller floods.
func (s *soak) play(t *testing.T, until int, faults bool) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var callers, disturbances sync.WaitGroup
	left := func() bool { return int(s.asked.Load()) < until }
	caller := func(name string, seat, atOnce int) {
		transport, err := link.NewTLS(s.secrets[seat].LinkKey())
		if err != nil {
			t.Fatal(err)
		}
		client := &call.Client{Roster: s.signed.Roster, Transport: transport, Secret: &s.secrets[seat]}
		var all sync.WaitGroup
		for range atOnce {
			all.Go(func() {
				for left() {
					s.askOne(ctx, name, client)
				}
			})
		}
		callers.Go(func() { all.Wait(); client.Close(); transport.Close() })
	}
	caller("alice", 0, 3)
	if faults {
		caller("flood", 1, 20)
		disturbances.Go(func() { s.disturb(ctx) })
	}
	disturbances.Go(func() { s.watch(ctx, until) })
	callers.Wait()
	cancel()
	disturbances.Wait()
}

// askOne asks a question and notes how it has ended.
func (s *soak) askOne(ctx context.Context, caller string, c *call.Client) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	q := synod.Question{Text: fmt.Sprintf("What is %d + 25?", rand.IntN(1000)), Form: synod.Number}
	res, err := c.Ask(ctx, q)
	end := ""
	switch {
	case err != nil:
		end = "error: " + err.Error()
	case ctx.Err() != nil:
		end = "no end in two minutes"
	default:
		end = s.endOf(res, q)
	}
	s.asked.Add(1)
	s.mu.Lock()
	s.ends[caller+": "+end]++
	s.mu.Unlock()
	if strings.HasPrefix(end, "refused") {
		time.Sleep(20 * time.Millisecond)
	}
}

// endOf returns how a question has ended, and notes what must not be.
func (s *soak) endOf(res *call.Result, q synod.Question) string {
	for seat := range res.Finals {
		why, missing := res.Missing[seat]
		if missing == (res.Finals[seat] != nil) || missing && why == "" {
			s.violation("seat %d has no end, or two: %q", seat, why)
		}
	}
	for _, e := range res.Proofs {
		if e.A.From != hostile {
			s.violation("seat %d is accused", e.A.From)
		}
	}
	o := res.Judge(s.signed.Roster, s.plan, q)
	switch {
	case o.Answer != nil:
		return "answered"
	case o.Reason == "":
		s.violation("no answer, and no reason")
		return "no reason"
	case len(res.Records) == 0:
		return "refused by all, with a reason each"
	}
	return "no answer: " + regexp.MustCompile("[0-9]+").ReplaceAllString(o.Reason, "N")
}

func (s *soak) violation(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.wrong) < 100 {
		s.wrong = append(s.wrong, fmt.Sprintf(format, args...))
	}
}

// disturb kills one process and stops another again and again, until ctx ends. Both run at the end.
func (s *soak) disturb(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(3*time.Second + rand.N(7*time.Second)):
		}
		seat := killed + rand.IntN(2)
		process := s.running[seat].Process
		if seat == killed {
			process.Kill()
			s.kills.Add(1)
		} else {
			process.Signal(syscall.SIGTERM)
			s.restarts.Add(1)
		}
		s.running[seat].Wait()
		time.Sleep(rand.N(2 * time.Second))
		s.start(seat)
	}
}

// watch takes samples and prints the progress.
func (s *soak) watch(ctx context.Context, until int) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(2 * time.Second):
		}
		for i := range steady {
			if x, err := s.sample(i); err == nil {
				s.samples[i] = append(s.samples[i], x)
			}
		}
		if all := s.samples[0]; len(all) > 0 {
			x := all[len(all)-1]
			fmt.Printf("%7.0f s: %d of %d questions, %d kills, %d restarts; seat 0: %d KiB live, %d MiB resident, %d "+
				"descriptors, %d goroutines\n", time.Since(s.begun).Seconds(), x.questions, until, s.kills.Load(),
				s.restarts.Load(),
				x.heap>>10, x.resident>>20, x.fds, x.goroutine)
		}
	}
}

// rest waits until kept connections have ended, and takes a sample of each steady process.
func (s *soak) rest(into *[steady]sample) {
	s.connected()
	time.Sleep(2*call.KeepOpen + 2*time.Second)
	for i := range steady {
		x, err := s.sample(i)
		if err != nil {
			s.t.Fatal(err)
		}
		into[i] = x
	}
}

var (
	heapLine      = regexp.MustCompile(`# HeapAlloc = ([0-9]+)`)
	goroutineLine = regexp.MustCompile(`goroutine profile: total ([0-9]+)`)
)

// sample asks a process what it holds after a garbage collection.
func (s *soak) sample(seat int) (x sample, err error) {
	x.questions = int(s.asked.Load())
	read := func(path string, line *regexp.Regexp) int {
		resp, e := http.Get(fmt.Sprintf("http://127.0.0.1:%d/debug/pprof/%s", s.port+seat, path))
		if e != nil {
			err = errors.Join(err, e)
			return 0
		}
		defer resp.Body.Close()
		b, e := io.ReadAll(resp.Body)
		if m := line.FindSubmatch(b); m != nil {
			n, _ := strconv.Atoi(string(m[1]))
			return n
		}
		err = errors.Join(err, e, fmt.Errorf("%s has no figure", path))
		return 0
	}
	x.heap, x.goroutine = read("heap?gc=1&debug=1", heapLine), read("goroutine?debug=1", goroutineLine)
	dir := fmt.Sprintf("/proc/%d", s.running[seat].Process.Pid)
	fds, e := os.ReadDir(filepath.Join(dir, "fd"))
	statm, e2 := os.ReadFile(filepath.Join(dir, "statm"))
	if f := strings.Fields(string(statm)); len(f) > 1 {
		pages, _ := strconv.Atoi(f[1])
		x.resident = pages * os.Getpagesize()
	}
	x.fds = len(fds)
	http.DefaultClient.CloseIdleConnections()
	return x, errors.Join(err, e, e2)
}

// slope returns by how much a figure grows a question, by least squares, after the warm-up.
func slope(all []sample, after int, of func(sample) int) float64 {
	var n, sx, sy, sxx, sxy float64
	for _, p := range all {
		if p.questions < after {
			continue
		}
		x, y := float64(p.questions), float64(of(p))
		n, sx, sy, sxx, sxy = n+1, sx+x, sy+y, sxx+x*x, sxy+x*y
	}
	if d := n*sxx - sx*sx; n > 2 && d > 0 {
		return (n*sxy - sx*sy) / d
	}
	return 0
}

// report prints the table, and fails the test where something grows, is left, or was wrong.
func (s *soak) report(t *testing.T) {
	after := min(warmUp, *soakQuestions/10)
	fmt.Printf("\n%d questions in %v, %d kills, %d restarts\n", s.asked.Load(),
		time.Since(s.begun).Round(time.Second), s.kills.Load(), s.restarts.Load())
	for end, n := range s.ends {
		fmt.Printf("  %6d  %s\n", n, end)
		if strings.Contains(end, "error: ") || strings.Contains(end, "no end") || strings.Contains(end, "no reason") {
			t.Errorf("%d questions have no stated end: %s", n, end)
		}
	}
	fmt.Println("  seat  live, bytes/question  resident, bytes/question  descriptors  goroutines")
	for i := range steady {
		heap := slope(s.samples[i], after, func(x sample) int { return x.heap })
		resident := slope(s.samples[i], after, func(x sample) int { return x.resident })
		a, b := s.first[i], s.afterward[i]
		fmt.Printf("  %4d  %20.0f  %24.0f  %4d to %3d  %3d to %3d\n", i, heap, resident, a.fds, b.fds, a.goroutine,
			b.goroutine)
		if len(s.samples[i]) < 4 {
			t.Errorf("seat %d: only %d samples", i, len(s.samples[i]))
		}
		if heap > mostSlope || *soakQuestions >= residentFrom && resident > mostSlope {
			t.Errorf("seat %d: memory grows by %.0f bytes a question, resident by %.0f", i, heap, resident)
		}
		if b.fds > a.fds+slack || b.goroutine > a.goroutine+slack {
			t.Errorf("seat %d: %d descriptors and %d goroutines are left of %d and %d", i, b.fds, b.goroutine, a.fds,
				a.goroutine)
		}
	}
	for _, w := range append(s.wrong, s.excluded()...) {
		t.Error(w)
	}
	if s.ends["alice: answered"] == 0 || s.kills.Load() == 0 || s.restarts.Load() == 0 {
		t.Errorf("alice had %d answers, %d kills, %d restarts", s.ends["alice: answered"], s.kills.Load(),
			s.restarts.Load())
	}
}

// excluded returns which honest members the steady seats have excluded for a time because of what they sent.
func (s *soak) excluded() (all []string) {
	byzantine := s.plan.Seats()[hostile].ID
	for i := range steady {
		var status node.Status
		if err := request(s.path(i, "d"), "GET", "/status", &status); err != nil {
			all = append(all, err.Error())
		}
		for _, q := range status.Peers {
			if q.ID != string(byzantine) && q.Strikes > 0 {
				all = append(all, fmt.Sprintf("seat %d has excluded %s %d times", i, q.ID, q.Strikes))
			}
		}
	}
	return all
}

// leaked is what leak holds.
var leaked [][]byte

// leak makes this process hold 4 KiB and a goroutine for each run that it has ended, and a descriptor for every tenth.
func leak(dir string) {
	seen := 0
	for {
		time.Sleep(100 * time.Millisecond)
		all, _ := os.ReadDir(filepath.Join(dir, "records"))
		for ; seen < len(all); seen++ {
			leaked = append(leaked, make([]byte, 4<<10))
			go func() { select {} }()
			if seen%10 == 0 {
				if fd, err := syscall.Open(os.DevNull, syscall.O_RDONLY, 0); err != nil || fd < 0 {
					return
				}
			}
		}
	}
}
