package campaign

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"synod.dev/synod/internal/durable"
)

// SavedCampaign is a campaign as its folder holds it: one record, which one program wrote. campaign.json has it with a
// checksum. batches.jsonl has a line with a digest for each batch of executions; each line has the digest of all lines
// up to it, and campaign.json that of the last one.
type SavedCampaign struct {
	Version  int              `json:"version"`
	Program  Program          `json:"program"` // that plays it
	Options  Options          `json:"options"`
	Parts    []Part           `json:"parts"`             // among which executions are distributed
	Planned  uint64           `json:"planned,omitempty"` // executions; 0: as many as the time allows
	Plan     string           `json:"plan"`              // SHA-256 of the options and the parts
	Spent    time.Duration    `json:"spent"`             // computing, over all sessions, by the clock
	Finished bool             `json:"finished"`
	Batches  int              `json:"batches"` // that are done: those with a smaller number
	Bytes    int64            `json:"bytes"`   // of their lines
	Chain    string           `json:"chain"`   // digest of the program, of the plan and of these lines
	Tally    *Tally           `json:"tally"`
	Failures []FoundViolation `json:"failures,omitempty"` // one for each claim and subject
}

// Part is the share of a protocol or building block in a campaign.
type Part struct {
	Name       string `json:"name"`
	Executions uint64 `json:"executions"` // in a campaign without an end only their ratios count
}

// FoundViolation is a violation with its shrunk execution.
type FoundViolation struct {
	Violation
	Protocol  string    `json:"protocol"`
	Number    uint64    `json:"number"` // of the execution in the campaign, before it was shrunk
	File      string    `json:"file,omitempty"`
	Execution Execution `json:"execution"`
}

// Batch is consecutive executions of one protocol, as a line of batches.jsonl has them.
type Batch struct {
	Number     int    `json:"number"`
	Protocol   string `json:"protocol"`
	From       uint64 `json:"from"`
	Executions uint64 `json:"executions"`
	Violations uint64 `json:"violations"`
	Results    string `json:"results"`         // SHA-256 of what happened in each execution, and of the tally of all
	Chain      string `json:"chain,omitempty"` // SHA-256 of the chain before it and of the line without it
}

// ErrChanged means that the folder of a campaign does not hold what a program wrote.
var ErrChanged = errors.New("the folder was changed or damaged")

// stateVersion is the version of campaign.json. Version 1 had no checksums and named no program.
const stateVersion = 2

// The files of a campaign's folder.
const (
	stateFile   = "campaign.json"
	batchesFile = "batches.jsonl"
	lockFile    = "lock"
	failuresDir = "failures"
)

// maxState and maxBatch are the length of the longest campaign.json and of its longest batch that are read, in bytes.
const (
	maxState = 64 << 20
	maxBatch = 1 << 12
)

// newSaved returns a campaign of which nothing is done.
func newSaved(o Options, plan *planner) *SavedCampaign {
	s := &SavedCampaign{Version: stateVersion, Options: o, Parts: plan.parts(), Planned: plan.total(),
		Tally: NewTally()}
	s.Plan = digest(o, s.Parts)
	return s
}

// digest returns the SHA-256 of values, one in a line each, as JSON encodes them.
func digest(values ...any) string {
	h := sha256.New()
	e := json.NewEncoder(h)
	for _, v := range values {
		if err := e.Encode(v); err != nil {
			panic(err) // all values are of types of this package, which can be encoded
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

// root is the chain before the first batch.
func (s *SavedCampaign) root() string { return digest(s.Program.SHA256, s.Plan) }

// Record returns a SHA-256 that determines the program, the plan, all batches that are done and all numbers of the
// report, but not the time that they took. The same program comes to the same one with the same options.
func (s *SavedCampaign) Record() string { return digest(s.Chain, s.Tally, withoutFiles(s.Failures)) }

// withoutFiles returns violations without the paths of their files.
func withoutFiles(all []FoundViolation) []FoundViolation {
	all = slices.Clone(all)
	for i := range all {
		all[i].File = ""
	}
	return all
}

// link sets the chain of a batch after that of the one before it.
func (b *Batch) link(before string) {
	b.Chain = ""
	b.Chain = digest(before, b)
}

// Open reads the campaign in a folder. It fails if a byte is not as a program wrote it.
func Open(dir string) (*SavedCampaign, error) {
	s, err := openOn(durable.System, dir)
	if err == nil {
		err = s.read(durable.System, dir, func(Batch) error { return nil })
	}
	return s, err
}

// openOn reads campaign.json.
func openOn(d durable.Disk, dir string) (*SavedCampaign, error) {
	path := filepath.Join(dir, stateFile)
	if err := durable.Regular(path); err != nil {
		return nil, err
	}
	b, err := durable.ReadFileOn(d, path, maxState)
	if err != nil {
		return nil, err
	}
	var of struct{ Version int }
	if json.Unmarshal(b, &of) == nil && of.Version == 1 {
		return nil, fmt.Errorf("campaign: an earlier version of this program wrote %s: it has no checksums and names "+
			"no program, so this version does not read it; use that version, or begin in another folder", path)
	}
	s := new(SavedCampaign)
	sealed, err := durable.DecodeSealed(b, s)
	switch {
	case err != nil:
		return nil, fmt.Errorf("campaign: %s: %w (%w); restore it from a copy, or begin in another folder", path,
			ErrChanged, err)
	case !sealed || s.Version != stateVersion:
		return nil, fmt.Errorf("campaign: %s has version %d; this program reads version %d with a checksum", path,
			s.Version, stateVersion)
	case s.Tally == nil || slices.Contains(subjectTallies(s.Tally), nil):
		return nil, fmt.Errorf("campaign: %s: %w: numbers are missing", path, ErrChanged)
	}
	for i := range s.Failures {
		s.Failures[i].File = s.Failures[i].path(dir)
	}
	return s, nil
}

func subjectTallies(t *Tally) (all []*SubjectTally) {
	for _, sum := range t.Subjects {
		all = append(all, sum)
	}
	return all
}

// path returns the file of a violation in the folder of a campaign.
func (f *FoundViolation) path(dir string) string {
	return filepath.Join(dir, failuresDir, fmt.Sprintf("%s-%s.json", f.Protocol, f.Claim))
}

// read calls each for all batches that are done, and checks the chain and their number. What follows them in the file
// belongs to no record: a process died before it wrote campaign.json again.
func (s *SavedCampaign) read(d durable.Disk, dir string, each func(Batch) error) error {
	path := filepath.Join(dir, batchesFile)
	if err := durable.Regular(path); err != nil {
		return err
	}
	f, err := d.OpenFile(path, os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("campaign: %s: %w: the file is missing", path, ErrChanged)
	} else if err != nil {
		return fmt.Errorf("campaign: %w", err)
	}
	defer f.Close()
	lines := bufio.NewReaderSize(io.LimitReader(f, s.Bytes), maxBatch)
	chain, done, executions, violations := s.root(), 0, uint64(0), uint64(0)
	for {
		line, err := lines.ReadSlice('\n')
		if errors.Is(err, io.EOF) && len(line) == 0 {
			break
		}
		b, err := batchOf(line, err, chain)
		if err != nil {
			return fmt.Errorf("campaign: %s, line %d: %w", path, done+1, err)
		}
		chain, done = b.Chain, done+1
		executions, violations = executions+b.Executions, violations+b.Violations
		if err := each(*b); err != nil {
			return err
		}
	}
	if chain != s.Chain || done != s.Batches || executions != s.Tally.Executions ||
		violations != s.Tally.Violations() {
		return fmt.Errorf("campaign: %s: %w: it has %d batches with %d executions and %d violations; %s says %d with "+
			"%d and %d", path, ErrChanged, done, executions, violations, stateFile, s.Batches, s.Tally.Executions,
			s.Tally.Violations())
	}
	return nil
}

// batchOf decodes a line after the chain of the one before it. Every byte must be as a program writes it. err is that
// of reading the line.
func batchOf(line []byte, err error, before string) (*Batch, error) {
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, bufio.ErrBufferFull) {
		return nil, err
	}
	b := new(Batch)
	if json.Unmarshal(line, b) != nil {
		return nil, ErrChanged
	}
	b.link(before)
	if want, err := json.Marshal(b); err != nil || !bytes.Equal(append(want, '\n'), line) {
		return nil, ErrChanged
	}
	return b, nil
}

// results hashes what happens in the executions of a batch.
type results struct{ buf []byte }

// add adds an execution.
func (r *results) add(number uint64, of *ExecutionResult) {
	b := strconv.AppendUint(r.buf, number, 10)
	b = strconv.AppendInt(append(b, ' '), int64(of.Ticks), 10)
	b = fmt.Appendf(b, " %q %q", of.Injected, of.States)
	ids := make([]string, 0, len(of.Applied))
	for id := range of.Applied {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for _, id := range ids {
		b = append(append(append(b, ' '), id...), ' ')
		b = strconv.AppendUint(b, math.Float64bits(of.Applied[id]), 16)
	}
	for _, v := range of.Violations {
		b = fmt.Appendf(b, " %s %q", v.Claim, v.Detail)
	}
	r.buf = append(b, '\n')
}

// sum returns the digest of all executions and of their tally.
func (r *results) sum(t *Tally) string {
	all := sha256.Sum256(r.buf)
	return digest(hex.EncodeToString(all[:]), t)
}
