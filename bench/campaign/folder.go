package campaign

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"synod.dev/synod/internal/durable"
)

// folder is the folder of a campaign that this process plays. Its lock keeps other processes out.
type folder struct {
	disk     durable.Disk
	dir      string
	campaign *SavedCampaign
	lock     io.Closer
	batches  durable.File
	written  int64        // bytes of batches.jsonl that are on disk
	waiting  bytes.Buffer // lines that are not
	every    time.Duration
	saved    time.Time
}

// openFolder makes the folder of a campaign, or opens the one that this program began with the same options.
func openFolder(set *Setup, fresh *SavedCampaign) (_ *folder, err error) {
	sum, err := thisProgram()
	if err != nil {
		return nil, err
	}
	fresh.Program = Program{Version: set.Version, SHA256: sum}
	fresh.Chain = fresh.root()
	o := &folder{disk: set.disk, dir: set.Dir, every: set.every, saved: time.Now()}
	if o.disk == nil {
		o.disk, o.every = durable.System, saveEvery
	}
	if err := durable.MkdirAllOn(o.disk, filepath.Join(o.dir, failuresDir)); err != nil {
		return nil, fmt.Errorf("campaign: %w", err)
	}
	o.lock, err = durable.Own(o.disk, filepath.Join(o.dir, lockFile))
	if err != nil {
		return nil, fmt.Errorf("campaign: %s: %w", o.dir, err)
	}
	if err := o.begin(fresh); err != nil {
		return nil, errors.Join(err, o.Close())
	}
	return o, nil
}

// begin takes the campaign that the folder has, or begins one.
func (o *folder) begin(fresh *SavedCampaign) (err error) {
	o.campaign, err = openOn(o.disk, o.dir)
	begun := err == nil
	switch {
	case errors.Is(err, fs.ErrNotExist):
		o.campaign = fresh
	case err != nil:
		return err
	default:
		if err := o.campaign.continues(o.dir, fresh); err != nil {
			return err
		}
		if err := o.campaign.read(o.disk, o.dir, func(Batch) error { return nil }); err != nil {
			return err
		}
	}
	if err := o.openBatches(begun); err != nil || begun {
		return err
	}
	return o.save()
}

// continues returns why a campaign that a folder has is not the one that is to be played.
func (s *SavedCampaign) continues(dir string, fresh *SavedCampaign) error {
	a, _ := json.Marshal(s.Options)
	b, _ := json.Marshal(fresh.Options)
	switch {
	case !bytes.Equal(a, b):
		return fmt.Errorf("campaign: %s has a campaign with other options, %s; name another folder, or repeat its "+
			"options", dir, a)
	case s.Program.SHA256 != fresh.Program.SHA256:
		return fmt.Errorf("campaign: another program began the campaign in %s: %v; this one is %v; a record is that "+
			"of one program, so go on with that one, or name another folder", dir, s.Program, fresh.Program)
	case s.Planned != fresh.Planned || !slices.Equal(s.Parts, fresh.Parts) || s.Plan != fresh.Plan:
		return fmt.Errorf("campaign: %s: %w: this program plans other executions with these options", dir, ErrChanged)
	}
	return nil
}

// openBatches opens batches.jsonl and cuts off what belongs to no record.
func (o *folder) openBatches(begun bool) (err error) {
	path := filepath.Join(o.dir, batchesFile)
	if o.batches, err = o.disk.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600); err != nil {
		return fmt.Errorf("campaign: %w", err)
	}
	info, err := o.batches.Stat()
	if err == nil && !begun && info.Size() > 0 {
		return fmt.Errorf("campaign: %s: %w: it has batches, but no %s; restore it, or name another folder", o.dir,
			ErrChanged, stateFile)
	}
	o.written = o.campaign.Bytes
	if err == nil {
		err = o.batches.Truncate(o.written)
	}
	if err == nil {
		_, err = o.batches.Seek(o.written, io.SeekStart)
	}
	if err != nil {
		return fmt.Errorf("campaign: %w", err)
	}
	return nil
}

// add adds a line to the record, which save writes.
func (o *folder) add(b *Batch) {
	b.link(o.campaign.Chain)
	line, err := json.Marshal(b)
	if err != nil {
		panic(err) // it has numbers and strings only
	}
	o.waiting.Write(append(line, '\n'))
	o.campaign.Chain, o.campaign.Bytes = b.Chain, o.written+int64(o.waiting.Len())
}

// due reports whether it is time to save.
func (o *folder) due() bool { return time.Since(o.saved) >= o.every }

// save puts the batches on disk, and then campaign.json, which says how many of them there are.
func (o *folder) save() error {
	o.saved = time.Now()
	_, err := o.batches.Write(o.waiting.Bytes())
	if err == nil {
		err = o.batches.Sync()
	}
	if err != nil {
		return fmt.Errorf("campaign: %w", err)
	}
	o.waiting.Reset()
	o.written = o.campaign.Bytes
	s := *o.campaign
	s.Failures = withoutFiles(s.Failures)
	b, err := durable.EncodeSealed(&s)
	if err == nil {
		err = durable.WriteFileOn(o.disk, filepath.Join(o.dir, stateFile), b)
	}
	if err != nil {
		return fmt.Errorf("campaign: %w", err)
	}
	return nil
}

// Close gives the folder back. It saves nothing.
func (o *folder) Close() error {
	var err error
	if o.batches != nil {
		err = o.batches.Close()
	}
	return errors.Join(err, o.lock.Close())
}
