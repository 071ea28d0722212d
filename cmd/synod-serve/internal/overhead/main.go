// Overhead measures what a gateway adds to a request: processor time, latency and memory, against a stub of a
// model's server in a process of its own. "make overhead" runs it.
//
// It measures in one run the stub itself, a control (a proxy that only parses JSON), synod-serve (one model and a
// council of seven), and LiteLLM's proxy where that is installed. Figures of one run can be compared; those of two
// runs depend on what else the machine did.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if len(os.Args) == 2 && os.Args[1] == "stub" {
		exit(stub(ctx))
	}
	if len(os.Args) == 3 && os.Args[1] == "control" {
		exit(control(ctx, os.Args[2]))
	}
	var o options
	flag.StringVar(&o.gateway, "gateway", "bin/synod-serve", "the `program` synod-serve")
	flag.StringVar(&o.before, "before", "", "another `program` synod-serve, to measure in turns with the first")
	flag.StringVar(&o.litellm, "litellm", "litellm", "the `program` litellm; it is not measured where it is absent")
	flag.IntVar(&o.requests, "requests", 10_000, "requests of each row")
	flag.IntVar(&o.rounds, "rounds", 3, "how often each row is measured, in turns; the medians are printed")
	flag.IntVar(&o.flat, "flat", 0, "requests over which the memory of synod-serve is watched; 0: none")
	flag.StringVar(&o.profile, "profile", "", "write profiles of synod-serve at 32 requests at once to this `file` "+
		"and to FILE.council")
	flag.DurationVar(&o.soak, "soak", 0, "send requests for this `time` instead, with faults, and fail if a client "+
		"sees what is not stated")
	flag.IntVar(&o.rate, "rate", 200, "requests a second of the soak")
	flag.BoolVar(&o.shared, "shared", false, "a control of the soak: honest requests have the key of hostile ones, so "+
		"no defence by key helps them, and the soak must fail")
	flag.Parse()
	if o.soak > 0 {
		exit(o.soakAll(ctx))
	}
	exit(o.measure(ctx))
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "overhead:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

type options struct {
	gateway, litellm, profile string
	before                    string
	requests, rounds          int
	flat, rate                int
	soak                      time.Duration
	shared                    bool
}

// council is a file of a council of seven members behind the stub.
const council = `council: seven
protocol: {name: sac, rounds: 2}
graph: {family: complete}
f: 2
models: {stub: {provider: openai, url: "%s/council/v1", model: stub, max_tokens: 100}}
seats: [{id: s, model: stub, count: 7}]
`

// single is a file with the model that is passed on.
const single = `council: single
protocol: {name: sac, rounds: 1}
graph: {family: complete}
f: 0
models: {one: {provider: openai, url: "%s/v1", model: stub, max_tokens: 100}}
seats: [{id: s, model: one, count: 1}]
`

func (o *options) measure(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "synod-overhead")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	self, err := os.Executable()
	if err != nil {
		return err
	}
	up, err := start(ctx, filepath.Join(dir, "stub.log"), nil, self, "stub")
	if err != nil {
		return err
	}
	defer up.end()
	c, err := start(ctx, filepath.Join(dir, "control.log"), nil, self, "control", up.url)
	if err != nil {
		return err
	}
	defer c.end()
	t := &table{tabwriter.NewWriter(os.Stdout, 2, 0, 2, ' ', 0)}
	t.head()
	if err := o.ours(ctx, dir, up, c, t); err != nil {
		return err
	}
	return o.theirs(ctx, dir, up, t)
}

// chats is the path of chat completions.
const chats = "/v1/chat/completions"

// ask is the body of a request.
func ask(model string) string {
	return fmt.Sprintf(`{"model": %q, "messages": [{"role": "system", "content": "Be short."}, {"role": "user", `+
		`"content": %q}], "temperature": 0.2, "max_tokens": 100}`, model, strings.Repeat("word ", 100))
}

func (o *options) ours(ctx context.Context, dir string, up, c *process, t *table) error {
	g, key, err := serving(ctx, filepath.Join(dir, "now"), o.gateway, up.url)
	if err != nil {
		return err
	}
	defer g.end()
	all := []contender{{"the stub itself", up, up.url, "stub", ""}, {"control", c, c.url, "one", ""},
		{"solo", g, g.url, "solo:one", ""}, {"solo, limited key", g, g.url, "solo:one", key}}
	if o.before != "" {
		old, _, err := serving(ctx, filepath.Join(dir, "before"), o.before, up.url)
		if err != nil {
			return err
		}
		defer old.end()
		all = append(all, contender{"solo, before", old, old.url, "solo:one", ""})
	}
	for _, at := range []int{1, 32, 256} {
		if err := t.compare(ctx, all, at, o.requests, o.rounds); err != nil {
			return err
		}
	}
	if o.profile != "" {
		profile := g.profile(ctx, o.profile)
		if _, err := t.row(ctx, "solo, profiled", g, load{url: g.url + chats, body: ask("solo:one"), at: 32,
			requests: 3 * o.requests}); err != nil {
			return err
		}
		profile()
	}
	if err := o.seven(ctx, g, up, t); err != nil {
		return err
	}
	return o.watch(ctx, g, t)
}

// serving starts a gateway with an empty store in a folder, and returns it with a key that has limits.
func serving(ctx context.Context, dir, program, upstream string) (*process, string, error) {
	files, prices := filepath.Join(dir, "councils"), filepath.Join(dir, "prices.yaml")
	if err := os.MkdirAll(files, 0o700); err != nil {
		return nil, "", err
	}
	for name, text := range map[string]string{"councils/seven.yaml": fmt.Sprintf(council, upstream),
		"councils/single.yaml": fmt.Sprintf(single, upstream),
		"prices.yaml":          "prices: [{server: '*', model: stub, prompt: 1, completion: 10}]\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return nil, "", err
		}
	}
	home := []string{"SYNOD_HOME=" + filepath.Join(dir, "home"), "SYNOD_PRICES=" + prices}
	key, err := output(ctx, home, program, "serve", "keys", "new", "bench", "--usd-day", "1000000", "--rpm", "10000000")
	if err != nil {
		return nil, "", err
	}
	g, err := start(ctx, filepath.Join(dir, "gateway.log"), home, program, "serve", "--listen", "127.0.0.1:0",
		"--councils", files, "--metrics", "127.0.0.1:0")
	return g, secretIn(key), err
}

// seven measures a council of seven, and what each call of a member costs.
func (o *options) seven(ctx context.Context, g, up *process, t *table) error {
	for _, at := range []int{1, 32} {
		n := max(o.requests/20, 100)
		before, err := count(ctx, up.url)
		if err != nil {
			return err
		}
		profile := func() {}
		if at == 32 && o.profile != "" {
			profile = g.profile(ctx, o.profile+".council")
		}
		f, err := t.row(ctx, "council of seven", g, load{url: g.url + chats, at: at, requests: n, body: `{"model": ` +
			`"seven", "messages": [{"role": "user", "content": "What is 17 + 25?"}], "seed": SEED}`})
		profile()
		if err != nil {
			return err
		}
		after, err := count(ctx, up.url)
		if err != nil {
			return err
		}
		calls := float64(after-before) / float64(n)
		fmt.Printf("  %.1f member calls a question: %.0f µs CPU each\n", calls, f.cpu/calls)
	}
	return nil
}

// watch prints the memory of the gateway over many requests.
func (o *options) watch(ctx context.Context, g *process, t *table) error {
	for done := 0; done < o.flat; done += o.flat / 5 {
		if _, err := t.row(ctx, fmt.Sprintf("solo after %d", done), g, load{url: g.url + chats, body: ask("solo:one"),
			at: 32, requests: o.flat / 5}); err != nil {
			return err
		}
	}
	return nil
}

// theirs measures LiteLLM's proxy with one worker, where it is installed.
func (o *options) theirs(ctx context.Context, dir string, up *process, t *table) error {
	path, err := lookup(o.litellm)
	if err != nil {
		fmt.Println("LiteLLM's proxy is not installed (pip install 'litellm[proxy]'; -litellm PATH): not measured")
		return nil
	}
	port, err := freePort()
	if err != nil {
		return err
	}
	config := filepath.Join(dir, "litellm.yaml")
	text := fmt.Sprintf("model_list: [{model_name: one, litellm_params: {model: openai/stub, api_base: %s/v1, "+
		"api_key: none}}]\n", up.url)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		return err
	}
	env := []string{"LITELLM_LOG=ERROR", "LITELLM_LOCAL_MODEL_COST_MAP=True", "LITELLM_TELEMETRY=False",
		"LITELLM_DANGEROUSLY_PERMIT_WEAK_OR_UNSET_MASTER_KEY=true"}
	p, err := launch(ctx, filepath.Join(dir, "litellm.log"), env, path, "--config", config, "--host", "127.0.0.1",
		"--port", port, "--num_workers", "1", "--telemetry", "False")
	if err != nil {
		return err
	}
	defer p.end()
	p.url = "http://127.0.0.1:" + port
	if err := p.answers(ctx, p.url+"/health/liveliness", 3*time.Minute); err != nil {
		return err
	}
	for _, at := range []int{1, 32, 256} {
		if _, err := t.row(ctx, "LiteLLM", p, load{url: p.url + chats, body: ask("one"), at: at,
			requests: max(o.requests/20, 256)}); err != nil {
			return err
		}
	}
	return nil
}
