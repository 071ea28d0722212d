package ask

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"synod.dev/synod"
	"synod.dev/synod/cmd/cli/app"
	"synod.dev/synod/council"
	"synod.dev/synod/internal/durable"
)

// attachFlags are the flags of what a question contains beside its text.
type attachFlags struct {
	system, messages     string
	images, files, audio []string
}

func (f *attachFlags) add(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&f.system, "system", "", "text `file` with instructions that come before the conversation, as the "+
		"system message of a program")
	fl.StringVar(&f.messages, "messages", "", "JSON `file` with the conversation before the question, or with the "+
		"question as its last message of the user: [{\"role\": \"user\", \"content\": \"…\"}, …]")
	fl.StringArrayVar(&f.images, "image", nil, "image `file` (PNG, JPEG, GIF, WebP) that belongs to the question; "+
		"may be repeated")
	fl.StringArrayVar(&f.files, "file", nil, "document `file` (PDF or text) that belongs to the question; may be "+
		"repeated")
	fl.StringArrayVar(&f.audio, "audio", nil, "sound `file` (WAV, MP3) that belongs to the question; may be repeated")
}

// names of the flags, which a resumed run takes from its journal.
var attachNames = []string{"system", "messages", "image", "file", "audio"}

// question returns the question of the arguments and the flags.
func (f *attachFlags) question(cmd *cobra.Command, args []string) (q synod.Question, err error) {
	if len(args) > 0 || f.messages == "" {
		if q.Text, err = question(cmd, args); err != nil {
			return q, err
		}
	}
	for _, from := range []struct {
		flag  string
		kind  synod.PartKind
		paths []string
	}{{"--image", synod.Image, f.images}, {"--file", synod.File, f.files}, {"--audio", synod.Audio, f.audio}} {
		for _, path := range from.paths {
			p, err := readPart(from.kind, path)
			if err != nil {
				return q, app.Fail(app.ExitUsage, fmt.Errorf("%s %s: %w", from.flag, path, err))
			}
			q.Parts = append(q.Parts, p)
		}
	}
	if f.messages != "" {
		if err := converse(&q, f.messages); err != nil {
			return q, app.Fail(app.ExitUsage, fmt.Errorf("--messages %s: %w", f.messages, err))
		}
	}
	if f.system != "" {
		text, err := readFile(f.system, synod.MaxConversation)
		if err == nil && !utf8.Valid(text) {
			err = errors.New("it is not UTF-8 text")
		}
		if err == nil && len(bytes.TrimSpace(text)) == 0 {
			err = errors.New("it is empty")
		}
		if err != nil {
			return q, app.Fail(app.ExitUsage, fmt.Errorf("--system %s: %w", f.system, err))
		}
		q.Before = append([]synod.Turn{{Role: synod.BySystem, Text: strings.TrimSpace(string(text))}}, q.Before...)
	}
	return q, nil
}

// converse puts the conversation of a file into a question.
func converse(q *synod.Question, path string) error {
	b, err := readFile(path, 2*synod.MaxParts)
	if err != nil {
		return err
	}
	turns, err := council.ReadMessages(b)
	if err != nil {
		return err
	}
	return council.Converse(q, turns)
}

// readFile reads a file of at most so many bytes.
func readFile(path string, most int) ([]byte, error) {
	f, err := durable.Open(path)
	if err != nil {
		return nil, errors.Unwrap(err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, int64(most)+1))
	switch {
	case err != nil:
		return nil, errors.Unwrap(err)
	case len(b) > most:
		return nil, fmt.Errorf("it has more than %d KB", most>>10)
	}
	return b, nil
}

// sounds are the media types of sounds by the ending of a file's name.
var sounds = map[string]string{".wav": "audio/wav", ".mp3": "audio/mpeg", ".aiff": "audio/aiff", ".aac": "audio/aac",
	".ogg": "audio/ogg", ".flac": "audio/flac"}

// readPart reads a file that belongs to a question, and finds its media type by its content or, of a sound, its
// name.
func readPart(kind synod.PartKind, path string) (p synod.Part, err error) {
	p = synod.Part{Kind: kind, Name: filepath.Base(path)}
	if p.Data, err = readFile(path, synod.MaxParts); err != nil {
		return p, err
	}
	p.Media, _, _ = strings.Cut(http.DetectContentType(p.Data), ";")
	switch {
	case len(p.Data) == 0:
		return p, errors.New("it is empty")
	case kind == synod.Image && !strings.HasPrefix(p.Media, "image/"):
		return p, errors.New("it is no PNG, JPEG, GIF or WebP image")
	case kind == synod.Audio:
		if p.Media = sounds[strings.ToLower(filepath.Ext(path))]; p.Media == "" {
			return p, errors.New("its name must end in .wav, .mp3, .aiff, .aac, .ogg or .flac")
		}
	case kind == synod.File && p.Media != "application/pdf":
		if p.Media = "text/plain"; !utf8.Valid(p.Data) || bytes.IndexByte(p.Data, 0) >= 0 {
			return p, errors.New("it is neither a PDF nor UTF-8 text")
		}
	}
	return p, nil
}

// question returns the question: the arguments, or stdin for "-".
func question(cmd *cobra.Command, args []string) (string, error) {
	if len(args) == 0 {
		return "", app.Fail(app.ExitUsage, errors.New("there is no question"),
			`try: synod ask "What is the capital of France?"`)
	}
	text := strings.Join(args, " ")
	if text == "-" {
		const most = 64 << 20
		b, err := io.ReadAll(io.LimitReader(cmd.InOrStdin(), most+1))
		if err != nil {
			return "", app.Fail(app.ExitFailure, fmt.Errorf("read the question from stdin: %w", err))
		}
		if len(b) > most {
			return "", app.Fail(app.ExitUsage, fmt.Errorf("the question on stdin has more than %d MB: shorten it",
				most>>20))
		}
		text = string(b)
	}
	if text = strings.TrimSpace(text); text == "" {
		return "", app.Fail(app.ExitUsage, errors.New("the question is empty"),
			`try: synod ask "What is the capital of France?"`)
	}
	return text, nil
}
