package councils

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"
)

// Watch reloads what has changed, at this interval, until ctx ends. Asking for the times of files works
// in every file system, and for the links of a Kubernetes ConfigMap.
func (r *Registry) Watch(ctx context.Context, every time.Duration) {
	t := time.NewTicker(every)
	defer t.Stop()
	for failed := false; ; {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		err := r.Reload()
		if err != nil && !failed {
			r.o.Log.Error("councils cannot be reloaded; those that are open are served on", "error", err.Error())
		}
		failed = err != nil
	}
}

// digest is a short hash of texts.
func digest(texts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(texts, "\x00")))
	return hex.EncodeToString(sum[:6])
}
