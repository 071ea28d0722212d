package inspectai

import (
	"archive/zip"
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"path/filepath"
)

// The formats of a log, by the extensions of their file names.
const (
	JSON    = ".json"
	Archive = ".eval"
)

// Samples yields a log's samples in order, or the error that ends them.
type Samples = iter.Seq2[*Sample, error]

// Write writes a log in a format, JSON or Archive. It sets the log's times and usage
// from the samples, which it iterates twice.
func Write(w io.Writer, format string, log *Log, samples Samples) error {
	if err := log.sum(samples); err != nil {
		return err
	}
	switch format {
	case JSON:
		return writeJSON(w, log, samples)
	case Archive:
		return writeArchive(w, log, samples)
	}
	return fmt.Errorf("inspectai: unknown format %q; supported: %s %s", format, JSON, Archive)
}

// sum adds up the usage of all samples. It sets the first start and, unless the run
// may continue, the last end.
func (l *Log) sum(samples Samples) error {
	l.Stats = Stats{ModelUsage: map[string]Usage{}}
	for s, err := range samples {
		if err != nil {
			return err
		}
		for model, u := range s.ModelUsage { // the order of a sum does not matter
			l.Stats.ModelUsage[model] = l.Stats.ModelUsage[model].Plus(u)
		}
		if s.StartedAt != "" && (l.Stats.StartedAt == "" ||
			s.StartedAt < l.Stats.StartedAt) { // all are UTC and have the same length
			l.Stats.StartedAt = s.StartedAt
		}
		if l.Status != Started {
			l.Stats.CompletedAt = max(l.Stats.CompletedAt, s.CompletedAt)
		}
	}
	return nil
}

// writeJSON writes the header before the samples, so that a program that lists logs
// does not have to read the samples.
func writeJSON(w io.Writer, log *Log, samples Samples) error {
	header, err := json.MarshalIndent(log, "", "  ")
	if err != nil {
		return fmt.Errorf("inspectai: %w", err)
	}
	out := bufio.NewWriter(w)
	out.Write(bytes.TrimSuffix(header, []byte("\n}"))) // Flush returns the first error
	out.WriteString(",\n  \"samples\": [")
	first := true
	for s, err := range samples {
		if err != nil {
			return err
		}
		b, err := json.MarshalIndent(s, "    ", "  ")
		if err != nil {
			return fmt.Errorf("inspectai: %w", err)
		}
		if !first {
			out.WriteByte(',')
		}
		first = false
		out.WriteString("\n    ")
		out.Write(b)
	}
	out.WriteString("\n  ]\n}\n")
	if err := out.Flush(); err != nil {
		return fmt.Errorf("inspectai: %w", err)
	}
	return nil
}

func writeArchive(w io.Writer, log *Log, samples Samples) error {
	z := zip.NewWriter(w)
	put := func(name string, v any) error {
		f, err := z.Create(name)
		if err == nil {
			err = json.NewEncoder(f).Encode(v)
		}
		if err != nil {
			return fmt.Errorf("inspectai: %s: %w", name, err)
		}
		return nil
	}
	summaries := []summary{}
	for s, err := range samples {
		if err != nil {
			return err
		}
		name := fmt.Sprintf("samples/%s_epoch_%d.json", s.ID, s.Epoch) // the name that Inspect expects
		if !filepath.IsLocal(name) || filepath.Clean(name) != name {
			return fmt.Errorf("inspectai: the id %q cannot be a file name in an archive; write a %s file", s.ID, JSON)
		}
		if err := put(name, s); err != nil {
			return err
		}
		summaries = append(summaries, s.summary())
	}
	if err := put("summaries.json", summaries); err != nil {
		return err
	}
	if err := put("header.json", log); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return fmt.Errorf("inspectai: %w", err)
	}
	return nil
}
