package main

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"time"

	"synod.dev/synod/bench"
	"synod.dev/synod/llm"
)

// protocolVersion is the version of the messages between hub and workers.
const protocolVersion = 1

// The requests of workers to a hub. They are the last part of a subject of NATS.
const (
	askBeat    = "beat"    // a worker lives; the first one of a worker introduces it
	askCell    = "cell"    // a part of the files of a cell
	askClaim   = "claim"   // a worker wants to play a unit
	askResult  = "result"  // a part of the journal of a finished unit
	askFailed  = "failed"  // an attempt at a unit ended without a result
	askPermit  = "permit"  // a request to a model wants to leave
	askRelease = "release" // that request is over
)

// Bounds of what is accepted from the other side.
const (
	maxPart    = 384 << 10 // bytes of a part of a journal or a cell; in base64 it fits into a message of NATS (1 MiB)
	maxPacked  = 64 << 20  // bytes of a compressed journal or cell
	maxJournal = 512 << 20 // bytes of a journal
	maxReason  = 2000      // bytes of a reason
	maxName    = 200       // bytes of the names of a worker
	maxPlaying = 20_000    // units that a worker plays, and permits that it holds, at a time
)

// unit is a piece of work: a repeat of a question of a cell.
type unit struct {
	// Cell is the hash of the cell's run. Cells may have the same run, for example where an axis changes nothing for
	// one protocol: as without a hub each is played, and all but the first have .2, .3 and so on after the hash.
	Cell string `json:"cell"`
	bench.Job
}

// id identifies the unit in the queue and in messages.
func (u unit) id() string {
	h := sha256.New()
	for _, s := range []string{u.Cell, u.Question, strconv.Itoa(u.Repeat)} {
		fmt.Fprintf(h, "%d %s\n", len(s), s)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// file returns the name of the file of a unit's journal at a worker.
func (u unit) file() string { return fmt.Sprintf("%s-%d-%s.journal", u.Cell, u.Repeat, u.id()) }

var (
	isCell = regexp.MustCompile(`^[0-9a-f]{64}(\.[1-9][0-9]{0,5})?$`)
	isID   = regexp.MustCompile(`^[0-9a-f]{32}$`)
)

// hello is what a worker says with every request.
type hello struct {
	Sweep  string `json:"sweep"`  // of the hub; "": not known yet
	Worker string `json:"worker"` // id
}

// beat says that a worker lives, and what it does.
type beat struct {
	hello
	Protocol int      `json:"protocol"`
	Version  string   `json:"version"` // of the program
	Host     string   `json:"host"`
	Parallel int      `json:"parallel"`
	Playing  []string `json:"playing"`           // ids of units
	Permits  []string `json:"permits"`           // ids
	Leaving  bool     `json:"leaving,omitempty"` // it is the last beat
}

// The states of a sweep.
const (
	working   = "working"
	finished  = "finished"
	overspent = "overspent" // the budget is used: running calls end, nothing begins
	closing   = "closing"   // the hub ends and may come back
)

// pulse is the answer to a beat.
type pulse struct {
	Sweep    string        `json:"sweep"`
	State    string        `json:"state"`
	Stream   string        `json:"stream"`
	Consumer string        `json:"consumer"`
	Every    time.Duration `json:"every"` // between beats
	Lease    time.Duration `json:"lease"` // how long a silent worker keeps its units and permits
}

// check refuses a pulse that makes no sense.
func (p *pulse) check() error {
	if !isID.MatchString(p.Sweep) || p.Every < 10*time.Millisecond || p.Every > time.Minute || p.Lease < 3*p.Every ||
		p.Lease > time.Hour || p.Stream == "" || p.Consumer == "" {
		return errors.New("the hub says what makes no sense; is the address that of a hub?")
	}
	return nil
}

type cellRequest struct {
	hello
	Cell string `json:"cell"`
	From int    `json:"from"` // bytes
}

type cellPart struct {
	Total int    `json:"total"`
	Part  []byte `json:"part"`
}

// The answers to a claim.
const (
	play    = "play"
	done    = "done"    // it is finished
	busy    = "busy"    // another worker plays it
	later   = "later"   // the hub has just begun, and does not know yet who plays what
	unknown = "unknown" // the sweep has no such unit
)

type claim struct {
	hello
	Unit unit `json:"unit"`
}

type claimed struct {
	Answer string `json:"answer"`
}

// resultPart is a part of the compressed journal of a finished unit.
type resultPart struct {
	hello
	Unit    unit    `json:"unit"`
	From    int     `json:"from"`
	Total   int     `json:"total"`
	Part    []byte  `json:"part"`
	Seconds float64 `json:"seconds"`
}

// stored is the answer to the parts of a result.
type stored struct {
	Stored  bool   `json:"stored"`            // the journal is on the hub's disk, from this worker or another
	Refused string `json:"refused,omitempty"` // why the hub does not take the journal, whatever happens
}

type failure struct {
	hello
	Unit    unit          `json:"unit"`
	Attempt bench.Attempt `json:"attempt"`
}

type permitRequest struct {
	hello
	ID     string     `json:"id"` // of the permit: the same in repeated requests
	Wanted llm.Wanted `json:"wanted"`
}

type permitReply struct {
	Granted bool `json:"granted"`
}

type releaseRequest struct {
	hello
	ID    string        `json:"id"`
	Spent llm.Spent     `json:"spent"`
	Pause time.Duration `json:"pause,omitempty"`
}

// reply is what a hub sends back: an answer or an error.
type reply struct {
	Error  string          `json:"error,omitempty"`
	Fatal  bool            `json:"fatal,omitempty"` // it does not help to ask again
	Answer json.RawMessage `json:"answer,omitempty"`
}

// hubError is an error that a hub has sent.
type hubError struct {
	text  string
	fatal bool
}

func (e *hubError) Error() string { return e.text }

// refuse returns an error for which it does not help to ask again.
func refuse(format string, args ...any) error { return &hubError{fmt.Sprintf(format, args...), true} }

// cut shortens a text from elsewhere.
func cut(s string, n int) string {
	if len(s) > n {
		return s[:n] + "…"
	}
	return s
}

// newID returns a random id.
func newID() string {
	var b [16]byte
	if _, err := rand.Read(b[:]); err != nil {
		panic(err) // the system has no randomness
	}
	return hex.EncodeToString(b[:])
}
