package task

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"synod.dev/synod/internal/durable"
	"synod.dev/synod/internal/fetch"
)

// promptRecord stands beside the templates of a set and says what they were made of.
type promptRecord struct {
	From   []promptSource    `json:"from"`
	SHA256 map[string]string `json:"sha256"` // of the templates, by file
}

type promptSource struct {
	File   string `json:"file"` // URL, or name of the given file
	SHA256 string `json:"sha256"`
}

// promptRecordFile is the name of the record in the folder of a set.
const promptRecordFile = "made.json"

// Prompts returns the folder in which a store keeps a set of prompts.
func (s Store) Prompts(set PromptSet) string { return filepath.Join(s.Dir, set.Folder()) }

// PromptsState returns the state of a set of prompts: Here, Damaged, Absent or Unpinned.
func (s Store) PromptsState(set PromptSet) string {
	if set.From.URL == "" {
		return Unpinned
	}
	switch err := set.verify(s.Prompts(set)); {
	case errors.Is(err, os.ErrNotExist):
		return Absent
	case err != nil:
		return Damaged
	}
	return Here
}

// verify returns an error unless a folder has the templates that its record names, unchanged.
func (s PromptSet) verify(folder string) error {
	text, err := durable.ReadFile(filepath.Join(folder, promptRecordFile), maxPython)
	if err != nil {
		return err
	}
	var record promptRecord
	if err := json.Unmarshal(text, &record); err != nil {
		return fmt.Errorf("task: %s: %w", folder, err)
	}
	for _, name := range slices.Sorted(maps.Keys(s.templates)) {
		_, sum, err := fetch.Digest(filepath.Join(folder, filepath.FromSlash(name)))
		if err != nil || sum != record.SHA256[name] {
			return fmt.Errorf("task: %s in %s: %w", name, folder, fetch.ErrDigest)
		}
	}
	return nil
}

// Convert makes the templates of a set from files and writes them with their record into a folder. It returns a note
// as Make does.
func (s PromptSet) Convert(in []string, folder string) (note string, err error) {
	return s.convert(in, in, folder)
}

func (s PromptSet) convert(in, names []string, folder string) (note string, err error) {
	files, note, err := s.Make(in)
	if err != nil {
		return "", err
	}
	record := promptRecord{SHA256: map[string]string{}}
	for i, path := range in {
		_, sum, err := fetch.Digest(path)
		if err != nil {
			return "", err
		}
		record.From = append(record.From, promptSource{filepath.ToSlash(names[i]), sum})
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		path := filepath.Join(folder, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return "", fmt.Errorf("task: %w", err)
		}
		if err := durable.WriteFile(path, files[name]); err != nil {
			return "", fmt.Errorf("task: %w", err)
		}
		if _, record.SHA256[name], err = fetch.Digest(path); err != nil {
			return "", err
		}
	}
	text, err := json.MarshalIndent(record, "", "  ")
	if err != nil {
		return "", err
	}
	return note, durable.WriteFile(filepath.Join(folder, promptRecordFile), append(text, '\n'))
}

// PullPrompts fetches the published file of a set at the pinned commit and makes the templates in the store. No digest
// of the file is known: the commit in its address names it, and the digests of what came are recorded. The error is a
// *PullError, which wraps fetch.ErrDigest if the file does not have the expected texts.
func (s Store) PullPrompts(ctx context.Context, set PromptSet, o PullOptions) error {
	if set.From.URL == "" {
		return &UnpublishedError{Conversion{Entry: set.Entry, About: set.About, File: set.Name}}
	}
	to := s.Prompts(set)
	if err := os.MkdirAll(to, 0o755); err != nil {
		return fmt.Errorf("task: %w", err)
	}
	unlock, err := fetch.Lock(ctx, filepath.Join(s.Dir, ".lock"))
	if err != nil {
		return fmt.Errorf("task: waiting for another pull: %w", err)
	}
	defer unlock()
	if set.verify(to) == nil {
		o.notice("%s is already there; use it with --set prompts=%s", set.Name, to)
		return nil
	}
	e, part := Entry{Entry: set.Entry, Source: set.From}, filepath.Join(to, "source.part")
	o.notice("%s: fetching %s", set.Name, set.From.URL)
	if err := s.fetch.Download(ctx, set.From.URL, part, fetch.Want{}, o.Progress); err != nil {
		return &PullError{e, err}
	}
	note, err := set.convert([]string{part}, []string{set.From.URL}, to)
	if removed := os.Remove(part); err != nil || removed != nil {
		return &PullError{e, fmt.Errorf("%w: %w", fetch.ErrDigest, errors.Join(err, removed))}
	}
	if note != "" {
		o.notice("%s: %s", set.Name, note)
	}
	o.notice("%s: use it with --set prompts=%s", set.Name, to)
	return nil
}
