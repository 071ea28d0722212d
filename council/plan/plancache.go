package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/goccy/go-yaml"
	"synod.dev/synod/graph/robustness"
)

// cache keeps the last few results by key.
type cache[V any] struct {
	mu    sync.Mutex
	known map[string]V
	order []string // oldest first
	room  int
}

func (c *cache[V]) get(key string) (V, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	v, ok := c.known[key]
	return v, ok
}

func (c *cache[V]) put(key string, v V) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known == nil {
		c.known = map[string]V{}
	}
	if _, ok := c.known[key]; !ok {
		if len(c.order) == c.room {
			delete(c.known, c.order[0])
			c.order = c.order[1:]
		}
		c.order = append(c.order, key)
	}
	c.known[key] = v
}

// The caches of this process. A grid of the bench has a few hundred plans and a few
// dozen graphs.
var (
	plans    = cache[*Plan]{room: 256}
	searched = cache[func() robustness.Result]{room: 256}
)

// planKey identifies the content of the spec and of the files that it names.
func planKey(p *Plan) (string, error) {
	content, err := json.Marshal(struct {
		Spec
		Templates map[string]string
	}{p.spec, p.digests})
	if err != nil {
		if bad := notFinite(&p.spec); bad != nil {
			return "", bad
		}
		return "", fmt.Errorf("council: encode the spec: %w", err)
	}
	sum := sha256.Sum256(content)
	return string(sum[:]), nil
}

// encodeSpec makes the record of the spec that a journal keeps: the text of a council
// file, as a JSON string. It leaves out where to escalate to, because that may hold
// a secret, and because a journal from elsewhere must not start a program.
func encodeSpec(p *Plan) error {
	text, err := yaml.Marshal(p.Spec())
	if err != nil {
		return fmt.Errorf("council: encode the spec: %w", err)
	}
	if p.record, err = json.Marshal(string(text)); err != nil {
		return fmt.Errorf("council: encode the spec: %w", err)
	}
	sum := sha256.New()
	sum.Write(p.record)
	for _, name := range sortedKeys(p.digests) {
		fmt.Fprintf(sum, "\n%s %s", name, p.digests[name])
	}
	p.digest = hex.EncodeToString(sum.Sum(nil))
	fixed := p.Spec()
	fixed.Limits, fixed.Breakers = Limits{}, Breakers{} // a resumed run may have others
	content, err := json.Marshal(fixed)
	if err != nil {
		return fmt.Errorf("council: encode the spec: %w", err)
	}
	own := sha256.Sum256(content)
	p.runKey = own[:]
	return nil
}
