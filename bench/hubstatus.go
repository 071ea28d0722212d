package bench

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"synod.dev/synod/internal/durable"
	"synod.dev/synod/llm"
)

// HubStatus is what the hub of a grid writes about its workers, every few seconds, to hub/status.json in the folder of
// the grid.
type HubStatus struct {
	Version  int          `json:"version"`
	Written  time.Time    `json:"written"`
	State    string       `json:"state"` // working, finished, overspent or closing
	Address  string       `json:"address"`
	Key      string       `json:"key,omitempty"` // file that workers need
	Waiting  int          `json:"waiting"`       // questions that are not in the queue yet
	Queued   int          `json:"queued"`        // in the queue or with workers
	Playing  int          `json:"playing"`       // with workers
	Finished int          `json:"finished"`
	Failed   int          `json:"failed"`  // in the last attempt
	Refused  int          `json:"refused"` // journals that were not what they had to be
	Workers  []HubWorker  `json:"workers"`
	Accounts []HubAccount `json:"accounts"`
	Spent    llm.Spent    `json:"spent"` // of the budget, by all workers
	Lost     llm.Spent    `json:"lost"`  // of that, at most, by workers that were killed
}

// HubWorker is a worker of a hub.
type HubWorker struct {
	ID        string  `json:"id"`
	Host      string  `json:"host"`
	Parallel  int     `json:"parallel"`
	Playing   int     `json:"playing"`
	Finished  int     `json:"finished"`   // since the hub began
	PerMinute float64 `json:"per_minute"` // finished
	Silent    float64 `json:"silent"`     // seconds since it was heard of
}

// HubAccount is an account of a provider, whose limits hold over all workers.
type HubAccount = llm.AccountState

// maxHubStatus bounds hub/status.json in bytes.
const maxHubStatus = 16 << 20

// ReadHubStatus returns what the hub of a grid wrote last; nil if the folder never had a hub.
func ReadHubStatus(dir string) (*HubStatus, error) {
	path := filepath.Join(dir, "hub", "status.json")
	b, err := durable.ReadFile(path, maxHubStatus)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	s := &HubStatus{}
	if err == nil {
		err = json.Unmarshal(b, s)
	}
	if err != nil {
		return nil, fmt.Errorf("bench: %s: %w", path, err)
	}
	return s, nil
}
