// Package councils keeps the councils of a gateway open. It reads their files again when they change: requests
// that have begun go on with the council that they began with, and a file with a mistake leaves the council
// that was read from it before in place.
package councils

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"synod.dev/synod/core/param"
	"synod.dev/synod/core/reliability"
	"synod.dev/synod/council"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/internal/durable"
	"synod.dev/synod/llm"
	"synod.dev/synod/network/node/call"
)

// Default is the model id of the council of "synod ask".
const Default = "synod"

// Solo begins the model id of one member's model.
const Solo = "solo:"

// Options determine which councils are served.
type Options struct {
	Dir     string                    // folder of council files; "": there is none
	Default func() (plan.Spec, error) // the council of "synod ask"; nil: it is not served
	Env     llm.Env
	Key     func(*plan.Spec) error // names the user's key in a council of nodes that names none; nil: none
	Log     *slog.Logger
	Labels  Labels // feedback of users; nil: there is none
}

// Labels are what users say about the answers of councils.
type Labels interface {
	// LabelStamps returns by model id what changes with its labels.
	LabelStamps(context.Context) (map[string]string, error)
	// Feedback returns the labelled first answers to the questions of a model.
	Feedback(ctx context.Context, model string) ([]reliability.Observation, error)
}

// Registry is the councils of a gateway. Its methods may be called concurrently.
type Registry struct {
	o Options

	mu       sync.Mutex
	served   map[string]*Served // by model id
	solos    map[string]*Served
	files    map[string]stamp  // of the last reading, by model id
	rosters  map[string]string // by model id: the file of the roster of a council of nodes
	problems map[string]string // by model id: why the file as it is now is not served
}

// stamp tells whether a file has changed.
type stamp struct {
	size int64
	at   time.Time
	text string // of a council that is not in a file of its own; of the roster
	// labels changes with the feedback of users.
	labels string
}

// Served is an open council, or an open model for a pass-through. Release it after use.
type Served struct {
	ID          string
	Fingerprint string // changes with every setting that may change an answer
	Since       time.Time
	Council     *council.Council // nil: Model is served
	Model       llm.Model        // nil: Council is served
	Settings    plan.Params      // of Model, as in the council file
	Spec        plan.Spec        // of Council
	Named       bool             // its file names the protocol

	registry *Registry
	users    int
	retired  bool // it is no longer served, and is closed when the last user is done
}

// Open reads and opens the councils. A mistake in a file is a problem and no error. It fails if the folder
// cannot be read.
func Open(o Options) (*Registry, error) {
	call.Register()
	r := &Registry{o: o, served: map[string]*Served{}, solos: map[string]*Served{}, files: map[string]stamp{},
		rosters: map[string]string{}, problems: map[string]string{}}
	return r, r.Reload()
}

// ids of models; others would be hard to type and to log.
var nameable = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// source is a council that may be served.
type source struct {
	id    string
	stamp stamp
	path  string // "": it is in no file of its own
	load  func() (plan.Spec, error)
}

// names reports whether a council file names the protocol.
func names(path string) bool {
	tree := map[string]any{}
	b, err := durable.ReadFile(path, param.MaxText)
	return err == nil && param.UnmarshalAny(b, &tree) == nil && tree["protocol"] != nil
}

// Reload reads what has changed.
func (r *Registry) Reload() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	sources, err := r.sources()
	if err != nil {
		return err
	}
	stamps, err := r.stamps()
	if err != nil {
		return err
	}
	var changed bool
	for id := range r.files {
		if !slices.ContainsFunc(sources, func(s source) bool { return s.id == id }) {
			r.o.Log.Info("council removed", "model", id)
			delete(r.files, id)
			delete(r.rosters, id)
			delete(r.problems, id)
			r.retire(r.served, id)
			changed = true
		}
	}
	for _, s := range sources {
		s.stamp.labels = stamps[s.id]
		if old, seen := r.files[s.id]; !seen || old != s.stamp {
			r.files[s.id] = s.stamp
			changed = r.read(s) || changed
			if s.stamp.text == "" { // the roster is known only now
				s.stamp.text = r.rosterStamp(s.id)
				r.files[s.id] = s.stamp
			}
		}
	}
	if changed {
		r.openSolos()
	}
	return nil
}

// sources lists the council files and the default council, which a file of the same name replaces.
func (r *Registry) sources() (all []source, err error) {
	if r.o.Default != nil {
		spec, err := r.o.Default()
		text := fmt.Sprintf("%+v %v", spec, err)
		all = append(all, source{Default, stamp{text: text}, "", func() (plan.Spec, error) { return spec, err }})
	}
	if r.o.Dir == "" {
		return all, nil
	}
	entries, err := os.ReadDir(r.o.Dir)
	if err != nil {
		return nil, fmt.Errorf("the folder of councils: %w", err)
	}
	for _, e := range entries {
		id, yaml := strings.CutSuffix(e.Name(), ".yaml")
		path := filepath.Join(r.o.Dir, e.Name())
		info, err := os.Stat(path) // of the target of a link
		if !yaml || err != nil || !info.Mode().IsRegular() || strings.HasPrefix(id, ".") {
			continue
		}
		if id == Default {
			all = slices.DeleteFunc(all, func(s source) bool { return s.id == Default })
		}
		all = append(all, source{id, stamp{size: info.Size(), at: info.ModTime(), text: r.rosterStamp(id)}, path,
			func() (plan.Spec, error) { return plan.Load(path) }})
	}
	return all, nil
}

// stamps returns by model id what changes with the feedback of users.
func (r *Registry) stamps() (map[string]string, error) {
	if r.o.Labels == nil {
		return nil, nil
	}
	return r.o.Labels.LabelStamps(context.Background())
}

// rosterStamp tells whether the roster of a council of nodes has changed.
func (r *Registry) rosterStamp(id string) string {
	if path := r.rosters[id]; path != "" {
		if info, err := os.Stat(path); err == nil {
			return fmt.Sprint(info.Size(), info.ModTime())
		}
		return "absent"
	}
	return ""
}

// inside returns an error without the path of the folder, which the users of a gateway need not know.
func (r *Registry) inside(err error) string {
	if r.o.Dir == "" {
		return err.Error()
	}
	return strings.ReplaceAll(err.Error(), filepath.Clean(r.o.Dir)+string(filepath.Separator), "")
}

// read opens the council of a source in place of the one that is served, and reports whether it did. A
// mistake leaves that in place.
func (r *Registry) read(s source) bool {
	now, err := r.open(s)
	if err != nil {
		kept := "it is not served"
		if r.served[s.id] != nil {
			kept = "the council that was read before is served on"
		}
		r.problems[s.id] = fmt.Sprintf("%s; %s", r.inside(err), kept)
		what := "council file with a mistake"
		if s.path == "" { // perhaps nobody has written a file
			what = "the council of synod ask cannot be opened"
		}
		r.o.Log.Error(what, "model", s.id, "error", err.Error(), "consequence", kept)
		return false
	}
	delete(r.problems, s.id)
	if old := r.served[s.id]; old != nil && old.Fingerprint == now.Fingerprint {
		_ = now.Council.Close() // nothing was sent
		return false
	}
	r.retire(r.served, s.id)
	r.served[s.id] = now
	r.o.Log.Info("council open", "model", s.id, "seats", len(now.Council.Plan().Seats()), "fingerprint",
		now.Fingerprint)
	return true
}

func (r *Registry) open(s source) (*Served, error) {
	if !nameable.MatchString(s.id) {
		return nil, fmt.Errorf("the file's name is the model's id and may have letters, digits and ._- only, and 64 "+
			"of them at most; rename %q", s.id+".yaml")
	}
	spec, err := s.load()
	if err != nil {
		return nil, err
	}
	r.rosters[s.id] = spec.Runner.Roster
	if r.o.Labels != nil {
		if spec.Trust.Labels, err = r.o.Labels.Feedback(context.Background(), s.id); err != nil {
			return nil, err
		}
	}
	c, err := r.Convene(&spec)
	if err != nil {
		return nil, err
	}
	return &Served{ID: s.id, Council: c, Spec: spec, Fingerprint: fingerprint(c), Since: time.Now(), registry: r,
		Named: names(s.path) || fmt.Sprint(spec.Protocol) != fmt.Sprint(plan.Default().Protocol)}, nil
}

// Convene opens a council that a gateway can serve, and names the user's key in one of nodes. It asks no model.
func (r *Registry) Convene(spec *plan.Spec) (*council.Council, error) {
	if r.o.Key != nil {
		if err := r.o.Key(spec); err != nil {
			return nil, err
		}
	}
	if len(spec.Seats) == 0 && !spec.Runner.Capabilities().Roster {
		return nil, errors.New("the council has no seats (example: seats: [{id: a, model: small, count: 5}])")
	}
	if e := spec.Breakers.Escalate; e.Webhook != "" || len(e.Command) > 0 {
		return nil, errors.New("breakers.escalate names a webhook or a command, which a gateway does not call; " +
			"remove it")
	}
	p, err := plan.New(*spec)
	if err != nil {
		return nil, err
	}
	if err := council.CanCheck(p); err != nil {
		return nil, err
	}
	p.Bound() // takes up to two seconds once, and not in the first request
	return council.Open(p, council.Options{Env: r.o.Env})
}

// Variation is how a request wants a council to differ from its file. Zero fields change nothing.
type Variation struct {
	Protocol plan.Params // as in a council file
	Prose    bool        // a protocol that decides prose, in place of one that cannot
	Sampling plan.Params // settings of all models
	AtLeast  *float64    // a less probable answer is no decision; nil: as in the file
}

// None reports whether it changes nothing.
func (v *Variation) None() bool {
	return v.Protocol == nil && !v.Prose && len(v.Sampling) == 0 && v.AtLeast == nil
}

// ErrSampling reports that a model of the council does not take settings from a request.
var ErrSampling = errors.New("its members cannot take it")

// ErrAtLeast reports that the council does not know how likely its answers are right.
var ErrAtLeast = errors.New("no probability")

// ErrNoProse reports that the council cannot decide prose, whatever the protocol.
var ErrNoProse = errors.New("the council cannot decide prose")

// With opens the council with a variation, for one request. The caller closes it. Models that are behind a network
// are shared with the other councils. A model in the box is a process of its own, so it takes no settings.
func (s *Served) With(v Variation) (*council.Council, string, error) {
	spec := s.Spec
	if v.Protocol != nil {
		spec.Protocol = v.Protocol
	}
	if v.Prose {
		var ok bool
		if spec, ok = spec.ForProse(s.Named); !ok {
			return nil, "", ErrNoProse
		}
	}
	if len(v.Sampling) > 0 {
		spec.Models = maps.Clone(spec.Models)
		for _, seat := range s.Council.Plan().Seats() {
			if seat.Kind != llm.Endpoint {
				return nil, "", ErrSampling
			}
			settings := maps.Clone(spec.Models[seat.Model])
			maps.Copy(settings, v.Sampling)
			spec.Models[seat.Model] = settings
		}
	}
	if v.AtLeast != nil {
		var err error
		if spec, err = spec.WithAtLeast(*v.AtLeast); err != nil {
			return nil, "", fmt.Errorf("%w: %w", ErrAtLeast, err)
		}
	}
	p, err := plan.New(spec)
	if err != nil {
		return nil, "", err
	}
	c, err := council.Open(p, council.Options{Env: s.registry.o.Env})
	if err != nil {
		return nil, "", err
	}
	return c, fingerprint(c), nil
}

// Primary returns the model of the first seat that is behind an OpenAI-compatible server, to which requests for one
// member are passed on; false if there is none. Release it after use.
func (r *Registry) Primary(s *Served) (model *Served, seat string, ok bool) {
	for _, at := range s.Council.Plan().Seats() {
		if at.Kind == llm.Endpoint && !s.Spec.Runner.Capabilities().Owned {
			model, ok = r.Acquire(Solo + s.ID + "/" + at.Model)
			return model, at.ID, ok
		}
	}
	return nil, "", false
}

// fingerprint identifies the plan and the settings of all models, and the roster of nodes.
func fingerprint(c *council.Council) string {
	var identities []string
	if id := c.Identity(); id != "" {
		identities = append(identities, id)
	}
	for _, s := range c.Seats() {
		identities = append(identities, s.Identity)
	}
	return "fp_" + digest(c.Plan().Digest(), strings.Join(identities, "\n"))
}

// openSolos opens the models of all councils for pass-throughs; those of nodes are their owners'. A name that
// means different models in different files needs the file's name before it: solo:FILE/MODEL.
func (r *Registry) openSolos() {
	want, count := map[string]plan.Params{}, map[string]map[string]bool{}
	for _, id := range slices.Sorted(maps.Keys(r.served)) {
		spec := r.served[id].Council.Plan().Spec()
		if spec.Runner.Capabilities().Owned {
			continue
		}
		for name, settings := range spec.Models {
			want[Solo+id+"/"+name] = settings
			if count[name] == nil {
				count[name] = map[string]bool{}
			}
			count[name][fmt.Sprint(settings)] = true
			want[Solo+name] = settings
		}
	}
	for name, different := range count {
		if len(different) > 1 {
			delete(want, Solo+name)
		}
	}
	for id, old := range r.solos {
		if settings, still := want[id]; !still || fmt.Sprint(settings) != fmt.Sprint(old.Settings) {
			r.retire(r.solos, id)
		}
	}
	for id, settings := range want {
		if r.solos[id] != nil {
			continue
		}
		m, err := council.OpenModel(settings, r.o.Env)
		if err != nil {
			r.o.Log.Error("model not served", "model", id, "error", err.Error())
			continue
		}
		r.solos[id] = &Served{ID: id, Model: m, Settings: settings, Since: time.Now(), registry: r,
			Fingerprint: "fp_" + digest(m.Info().Identity)}
	}
}

// retire takes something out of service. It is closed when its last user is done.
func (r *Registry) retire(from map[string]*Served, id string) {
	s := from[id]
	if s == nil {
		return
	}
	delete(from, id)
	if s.retired = true; s.users == 0 {
		s.close()
	}
}

// Acquire returns what a model id names; false if there is no such model.
func (r *Registry) Acquire(id string) (*Served, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.served[id]
	if s == nil {
		s = r.solos[id]
	}
	if s == nil {
		return nil, false
	}
	s.users++
	return s, true
}

// Release ends a use.
func (s *Served) Release() {
	s.registry.mu.Lock()
	defer s.registry.mu.Unlock()
	if s.users--; s.users == 0 && s.retired {
		s.close()
	}
}

func (s *Served) close() {
	var err error
	if s.Council != nil {
		err = s.Council.Close()
	} else if c, ok := s.Model.(llm.Closer); ok {
		err = c.Close()
	}
	if err != nil {
		s.registry.o.Log.Warn("closing a council", "model", s.ID, "error", err.Error())
	}
}

// List returns the ids of all councils and then of all models, each with the time since when it is served.
// A model that has a short id is listed by that alone.
func (r *Registry) List() []Listed {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []Listed
	for _, id := range slices.Sorted(maps.Keys(r.served)) {
		all = append(all, Listed{id, r.served[id].Since})
	}
	for _, id := range slices.Sorted(maps.Keys(r.solos)) {
		if _, name, long := strings.Cut(id, "/"); !long || r.solos[Solo+name] == nil {
			all = append(all, Listed{id, r.solos[id].Since})
		}
	}
	return all
}

// Listed is a model that is served.
type Listed struct {
	ID    string
	Since time.Time
}

// Entry is a council that is served, or whose file has a mistake.
type Entry struct {
	ID      string
	Served  bool
	Problem string // why the file as it is now is not served; "": it is
}

// Councils returns the councils, by id, without the single models.
func (r *Registry) Councils() (all []Entry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, id := range slices.Sorted(maps.Keys(r.files)) {
		all = append(all, Entry{id, r.served[id] != nil, r.problems[id]})
	}
	return all
}

// Dir returns the folder of council files; "" if there is none.
func (r *Registry) Dir() string { return r.o.Dir }

// Env returns what the models of the councils know of this machine.
func (r *Registry) Env() llm.Env { return r.o.Env }

// Problems returns, by model id, why files are not served as they are now.
func (r *Registry) Problems() map[string]string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.problems)
}

// Close takes everything out of service.
func (r *Registry) Close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for id := range r.served {
		r.retire(r.served, id)
	}
	for id := range r.solos {
		r.retire(r.solos, id)
	}
}
