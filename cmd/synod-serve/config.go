package main

import (
	"bytes"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/spf13/pflag"

	"synod.dev/synod"
	"synod.dev/synod/core/param"
	"synod.dev/synod/internal/durable"

	"synod.dev/synod/cmd/synod-serve/internal/gateway"
	"synod.dev/synod/cmd/synod-serve/internal/store"
	"synod.dev/synod/cmd/synod-serve/internal/wire"
)

// config is the configuration file of the gateway.
type config struct {
	Listen           string        `yaml:"listen" doc:"address to listen on" example:"127.0.0.1:8080"`
	Councils         string        `yaml:"councils" doc:"folder of council files" example:"councils"`
	Runs             string        `yaml:"runs" doc:"folder of the runs of experiments that the page shows" example:"runs"`
	Store            string        `yaml:"store" doc:"SQLite file or postgres://…" example:"serve.db"`
	Metrics          string        `yaml:"metrics" doc:"address of the listener for Prometheus" example:"127.0.0.1:9090"`
	Hosts            []string      `yaml:"hosts" doc:"names under which clients reach the gateway" example:"[gate.example]"`
	URL              string        `yaml:"url" doc:"address under which clients reach the gateway, for the agent card" example:"https://gate.example"`
	TLS              tlsFiles      `yaml:"tls" doc:"certificate for HTTPS" example:"{cert: gate.pem, key: gate.key}"`
	Drain            time.Duration `yaml:"drain" doc:"time for running requests after SIGTERM" example:"30s"`
	Memory           string        `yaml:"memory" doc:"memory that the gateway tries to keep to (default 512MiB, or GOMEMLIMIT)" example:"256MiB"`
	Keep             keep          `yaml:"keep" doc:"how much of the past is kept" example:"{days: 30}"`
	gateway.Settings `yaml:",inline"`
}

// keep is how much of the past is kept. 0 sets no limit.
type keep struct {
	Days      int   `yaml:"days" doc:"of requests, journals and responses" range:"0:36500" example:"30"`
	Megabytes int64 `yaml:"megabytes" doc:"of all journals together" range:"0:1000000000" example:"2000"`
}

// tlsFiles are the files of a TLS certificate. "" is none.
type tlsFiles struct {
	Cert string `yaml:"cert" doc:"file with the certificate and its chain (PEM)" example:"gate.pem"`
	Key  string `yaml:"key" doc:"file with its key (PEM)" example:"gate.key"`
}

func (k keep) limits() store.Keep {
	return store.Keep{Age: time.Duration(k.Days) * 24 * time.Hour, Bytes: k.Megabytes << 20}
}

func defaultConfig() config {
	return config{Listen: defaultListen, Drain: 30 * time.Second, Keep: keep{Days: 30, Megabytes: 2000},
		Settings: gateway.DefaultSettings()}
}

// readConfig reads a configuration file over the defaults. A file that was not named need not exist.
func readConfig(path string, named bool) (config, error) {
	c := defaultConfig()
	b, err := durable.ReadFile(path, param.MaxText)
	if errors.Is(err, os.ErrNotExist) && !named {
		return c, nil
	}
	if err != nil {
		return c, fmt.Errorf("configuration file: %w", err)
	}
	if len(bytes.TrimSpace(b)) == 0 { // the decoder would set everything to zero
		return c, nil
	}
	if err := param.Explain(param.UnmarshalAny(b, &c, yaml.Strict()), b, &config{}); err != nil {
		return c, fmt.Errorf("%s: %w", path, err)
	}
	for _, at := range []*string{&c.Councils, &c.Store, &c.Runs, &c.TLS.Cert, &c.TLS.Key} {
		if *at != "" && !filepath.IsAbs(*at) && !strings.Contains(*at, "://") {
			*at = filepath.Join(filepath.Dir(path), *at) // relative to the file, as in council files
		}
	}
	if err := c.check(); err != nil {
		return c, fmt.Errorf("%s: %w", path, err)
	}
	return c, nil
}

// check reports the first value that is out of range.
func (c *config) check() error {
	policies := map[string]gateway.Policy{"": c.Policy}
	for id, p := range c.Models {
		policies["models."+id+"."] = p
	}
	for at, p := range policies {
		if p.OnNoConsensus != "" && !slices.Contains([]string{wire.Fail, wire.Refuse, wire.BestEffort},
			p.OnNoConsensus) {
			return fmt.Errorf("%son_no_consensus is %q; it must be %s, %s or %s", at, p.OnNoConsensus, wire.Fail,
				wire.Refuse, wire.BestEffort)
		}
		if p.Tools != "" && !slices.Contains([]string{gateway.ToolsVote, gateway.ToolsPrimary, gateway.ToolsReject},
			p.Tools) {
			return fmt.Errorf("%stools is %q; it must be vote, primary or reject", at, p.Tools)
		}
		if p.Form != "" && !slices.Contains(synod.Forms(), synod.Form(p.Form)) {
			return fmt.Errorf("%sform is %q; it must be one of %v", at, p.Form, synod.Forms())
		}
	}
	if u, err := url.Parse(c.URL); c.URL != "" && (err != nil || u.Host == "" || u.Scheme != "http" &&
		u.Scheme != "https") {
		return fmt.Errorf("url is %q; it must be an address such as https://gate.example", c.URL)
	}
	switch {
	case c.Deadline < time.Second || c.Deadline > 24*time.Hour:
		return fmt.Errorf("deadline is %v; it must be between 1s and 24h", c.Deadline)
	case c.AtOnce < 1 || c.AtOnce > 1_000_000:
		return fmt.Errorf("at_once is %d; it must be between 1 and 1000000", c.AtOnce)
	case c.Body < 1<<10 || c.Body > 1<<30:
		return fmt.Errorf("body is %d; it must be between 1024 and 1073741824 bytes", c.Body)
	case c.Drain < 0 || c.Drain > 24*time.Hour:
		return fmt.Errorf("drain is %v; it must be between 0s and 24h", c.Drain)
	case c.Keep.Days < 0 || c.Keep.Megabytes < 0:
		return errors.New("keep has a negative number; 0 sets no limit")
	}
	return nil
}

// configure sets what no flag has set: from the environment, else from the configuration file.
func (f *flags) configure(fl *pflag.FlagSet, folder string) error {
	path, named := f.config, f.config != ""
	if !named {
		path = filepath.Join(folder, "serve.yaml")
	}
	c, err := readConfig(path, named)
	if err != nil {
		return err
	}
	for name, at := range map[string]*string{"listen": &c.Listen, "councils": &c.Councils, "store": &c.Store,
		"metrics": &c.Metrics, "runs": &c.Runs} {
		if v := os.Getenv("SYNOD_SERVE_" + strings.ToUpper(name)); v != "" {
			*at = v
		}
	}
	set := func(name string, into *string, v string) {
		if flag := fl.Lookup(name); flag == nil || !flag.Changed {
			*into = v
		}
	}
	set("listen", &f.listen, c.Listen)
	set("councils", &f.councils, c.Councils)
	set("store", &f.store, c.Store)
	set("metrics", &f.metrics, c.Metrics)
	set("runs", &f.runs, c.Runs)
	if f.memory == 0 && c.Memory != "" {
		if err := f.memory.Set(c.Memory); err != nil {
			return err
		}
	}
	set("tls-cert", &f.tlsCert, c.TLS.Cert)
	set("tls-key", &f.tlsKey, c.TLS.Key)
	if !fl.Changed("hosts") {
		f.hosts = c.Hosts
	}
	if !fl.Changed("drain") {
		f.drain = c.Drain
	}
	f.settings, f.keep, f.url = c.Settings, c.Keep, strings.TrimRight(c.URL, "/")
	most := f.memory.Keep()
	f.settings.Bodies = min(f.settings.Bodies, most/8)
	f.settings.Body = min(f.settings.Body, most/32)
	return nil
}
