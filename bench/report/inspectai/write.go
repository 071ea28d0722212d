package inspectai

import (
	"archive/zip"
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
)

// The formats of a log, by the extensions of their file names.
const (
	JSON    = ".json"
	Archive = ".eval"
)

// Samples yields a log's samples in order, or the error that ends them.
type Samples = iter.Seq2[*Sample, error]

// Write writes a log in a format, JSON or Archive. It sets the log's times and usage from the samples, which it
// iterates once. JSON takes as much space again in the folder for temporary files while it is written; Archive takes
// some for its list of samples.
func Write(w io.Writer, format string, log *Log, samples Samples) error {
	log.Stats = Stats{ModelUsage: map[string]Usage{}}
	switch format {
	case JSON:
		return writeJSON(w, log, samples)
	case Archive:
		return writeArchive(w, log, samples)
	}
	return fmt.Errorf("inspectai: unknown format %q; supported: %s %s", format, JSON, Archive)
}

// add adds the usage of a sample. It sets the first start and, unless the run may continue, the last end.
func (l *Log) add(s *Sample) {
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

// writeJSON writes the header before the samples, so that a program that lists logs does not have to read the
// samples. The header depends on them, so they are written to a temporary file first.
func writeJSON(w io.Writer, log *Log, samples Samples) error {
	return spooled(func(spool *os.File) error {
		if err := log.writeSamples(spool, samples); err != nil {
			return err
		}
		header, err := json.MarshalIndent(log, "", "  ")
		if err == nil {
			_, err = spool.Seek(0, io.SeekStart)
		}
		if err != nil {
			return fmt.Errorf("inspectai: %w", err)
		}
		out := bufio.NewWriterSize(w, buffer)
		out.Write(bytes.TrimSuffix(header, []byte("\n}"))) // Flush returns the first error
		out.WriteString(",\n  \"samples\": [")
		if _, err := io.Copy(out, spool); err != nil {
			return fmt.Errorf("inspectai: %w", err)
		}
		out.WriteString("\n  ]\n}\n")
		if err := out.Flush(); err != nil {
			return fmt.Errorf("inspectai: %w", err)
		}
		return nil
	})
}

// buffer is how many bytes of a log are written at once.
const buffer = 256 << 10

// spooled calls do with a temporary file.
func spooled(do func(*os.File) error) error {
	spool, err := os.CreateTemp("", "synod-samples-*.json")
	if err != nil {
		return fmt.Errorf("inspectai: %w", err)
	}
	return errors.Join(do(spool), spool.Close(), os.Remove(spool.Name()))
}

// writeSamples writes the samples as the members of an array, and adds them to the log.
func (l *Log) writeSamples(w io.Writer, samples Samples) error {
	out, between := bufio.NewWriterSize(w, buffer), ""
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetIndent("    ", "  ")
	for s, err := range samples {
		if err != nil {
			return err
		}
		l.add(s)
		text.Reset()
		if err := encoder.Encode(s); err != nil {
			return fmt.Errorf("inspectai: %w", err)
		}
		out.WriteString(between + "\n    ") // Flush returns the first error
		out.Write(bytes.TrimSuffix(text.Bytes(), []byte("\n")))
		between = ","
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("inspectai: %w", err)
	}
	return nil
}

// writeArchive writes a file for every sample, and then the list of all, which is in a temporary file meanwhile.
func writeArchive(w io.Writer, log *Log, samples Samples) error {
	return spooled(func(spool *os.File) error {
		z, list := zip.NewWriter(w), bufio.NewWriterSize(spool, buffer)
		for s, err := range samples {
			if err != nil {
				return err
			}
			name := fmt.Sprintf("samples/%s_epoch_%d.json", s.ID, s.Epoch) // the name that Inspect expects
			if !filepath.IsLocal(name) || filepath.Clean(name) != name {
				return fmt.Errorf("inspectai: the id %q cannot be a file name in an archive; write a %s file", s.ID,
					JSON)
			}
			if err := put(z, name, s); err != nil {
				return err
			}
			log.add(s)
			b, err := json.Marshal(s.summary())
			if err != nil {
				return fmt.Errorf("inspectai: %w", err)
			}
			list.WriteByte(',') // Flush returns the first error
			list.Write(b)
		}
		if err := errors.Join(list.Flush(), putList(z, spool), put(z, "header.json", log), z.Close()); err != nil {
			return fmt.Errorf("inspectai: %w", err)
		}
		return nil
	})
}

// put adds a file to an archive.
func put(z *zip.Writer, name string, v any) error {
	f, err := z.Create(name)
	if err == nil {
		err = json.NewEncoder(f).Encode(v)
	}
	if err != nil {
		return fmt.Errorf("inspectai: %s: %w", name, err)
	}
	return nil
}

// putList adds the list of samples, each of which has a comma before it in a file.
func putList(z *zip.Writer, spool *os.File) error {
	f, err := z.Create("summaries.json")
	if err != nil {
		return err
	}
	if _, err := spool.Seek(1, io.SeekStart); err != nil {
		return err
	}
	if _, err := io.WriteString(f, "["); err != nil {
		return err
	}
	if _, err := io.Copy(f, spool); err != nil {
		return err
	}
	_, err = io.WriteString(f, "]\n")
	return err
}
