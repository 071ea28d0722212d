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

// The formats of a log, by the ends of their file names.
const (
	JSON    = ".json"
	Archive = ".eval"
)

// Samples yields a log's samples in order, or the error that ends them.
type Samples = iter.Seq2[*Sample, error]

// Write writes a log in a format. It fills in what the samples tell of times and
// usage, and asks for them twice.
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
	return fmt.Errorf("inspect: no format is called %q; there are: %s %s", format, JSON, Archive)
}

// sum adds up the usage of all samples and takes the first start and, unless it is
// not known whether there is more to come, the last end.
func (l *Log) sum(samples Samples) error {
	l.Stats = Stats{ModelUsage: map[string]Usage{}}
	for s, err := range samples {
		if err != nil {
			return err
		}
		for model, u := range s.ModelUsage { // sums: order cannot show
			was := l.Stats.ModelUsage[model]
			l.Stats.ModelUsage[model] = Usage{was.Input + u.Input, was.Output + u.Output, was.Total + u.Total}
		}
		if s.StartedAt != "" && (l.Stats.StartedAt == "" || s.StartedAt < l.Stats.StartedAt) { // all are UTC and of one length
			l.Stats.StartedAt = s.StartedAt
		}
		if l.Status != Started {
			l.Stats.CompletedAt = max(l.Stats.CompletedAt, s.CompletedAt)
		}
	}
	return nil
}

// writeJSON writes the header before the samples, so that whoever lists logs need
// not read them.
func writeJSON(w io.Writer, log *Log, samples Samples) error {
	header, err := json.MarshalIndent(log, "", "  ")
	if err != nil {
		return fmt.Errorf("inspect: %w", err)
	}
	out := bufio.NewWriter(w)
	out.Write(bytes.TrimSuffix(header, []byte("\n}"))) // what fails shows in Flush
	out.WriteString(",\n  \"samples\": [")
	first := true
	for s, err := range samples {
		if err != nil {
			return err
		}
		b, err := json.MarshalIndent(s, "    ", "  ")
		if err != nil {
			return fmt.Errorf("inspect: %w", err)
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
		return fmt.Errorf("inspect: %w", err)
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
			return fmt.Errorf("inspect: %s: %w", name, err)
		}
		return nil
	}
	summaries := []summary{}
	for s, err := range samples {
		if err != nil {
			return err
		}
		name := fmt.Sprintf("samples/%s_epoch_%d.json", s.ID, s.Epoch) // Inspect looks for exactly this
		if !filepath.IsLocal(name) || filepath.Clean(name) != name {
			return fmt.Errorf("inspect: the id %q cannot be the name of a file in an archive; write a %s file", s.ID, JSON)
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
		return fmt.Errorf("inspect: %w", err)
	}
	return nil
}
