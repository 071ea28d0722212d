package bench

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"synod.dev/synod"
	"synod.dev/synod/bench/task"
	"synod.dev/synod/cmd/cli/app"
)

type gradeFlags struct {
	form     string
	choices  []string
	flexible bool
	batch    bool
	asJSON   bool
}

// GradeCommand is "synod grade".
func GradeCommand() *cobra.Command {
	var f gradeFlags
	cmd := &cobra.Command{
		Use:   "grade --form FORM WANT GOT",
		Short: "Grade an answer, and show how it was read",
		Long: `Compares GOT (a reply of a model, or just an answer) with WANT (the key). Prints right,
wrong or unreadable, and how both were read. The strict reading, which counts, takes
the answer that the reply states as final. The flexible reading takes the last
possible answer if there is no such statement; it counts with --flexible. Both are
printed.

Exit codes: 0 right, 100 wrong, 1 unreadable.

--batch reads JSON lines {"form", "want", "got", "choices"?} from stdin and prints
each line with "verdict", "strict" and "flexible" added. Its exit code does not
depend on the verdicts.`,
		Example: `  synod grade --form number 18 "The answer is 18."
  synod grade --form math '\frac{11}{18}' 11/18
  synod grade --form choice --choices Paris,Rome,Oslo A "(A) Paris"
  synod grade --batch < graded.jsonl`,
		DisableFlagParsing: true, // so that -5 is not parsed as a flag
		RunE: func(cmd *cobra.Command, args []string) error {
			args, err := parseSigned(cmd, args)
			if err != nil {
				return err
			}
			if help, _ := cmd.Flags().GetBool("help"); help {
				return cmd.Help()
			}
			switch {
			case f.batch && len(args) > 0:
				return app.Fail(app.ExitUsage, errors.New("--batch reads answers from stdin; give none as arguments"))
			case f.batch:
				return f.gradeLines(cmd.InOrStdin(), cmd.OutOrStdout())
			case len(args) != 2:
				return app.Fail(app.ExitUsage, fmt.Errorf("give two answers, the key and the answer to grade, not %d",
					len(args)), "try: synod grade --help")
			}
			return f.grade(cmd.OutOrStdout(), args[0], args[1])
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.form, "form", "", "form of the answers: "+strings.Join(FormNames(), ", "))
	fl.StringSliceVar(&f.choices, "choices", nil, "texts of the choices A, B, C, … of a choice question")
	fl.BoolVar(&f.flexible, "flexible", false, "the flexible reading counts")
	fl.BoolVar(&f.batch, "batch", false, "grade JSON lines from stdin")
	fl.BoolVar(&f.asJSON, "json", false, "print JSON")
	_ = cmd.RegisterFlagCompletionFunc("form", cobra.FixedCompletions(FormNames(), cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// parseSigned parses flags and arguments where arguments may begin with a minus sign,
// as numbers and formulas do: a text with one dash that is not a short flag is an
// argument.
func parseSigned(cmd *cobra.Command, args []string) ([]string, error) {
	const mark = "\x00"
	marked := slices.Clone(args)
	for i, a := range marked {
		if a == "--" {
			break
		}
		if len(a) > 1 && a[0] == '-' && a[1] != '-' && a != "-h" && a != "-q" && a != "-v" {
			marked[i] = mark + a
		}
	}
	cmd.DisableFlagParsing = false
	if err := cmd.ParseFlags(marked); err != nil {
		return nil, cmd.FlagErrorFunc()(cmd, err)
	}
	rest := slices.Clone(cmd.Flags().Args())
	for i := range rest {
		rest[i] = strings.TrimPrefix(rest[i], mark)
	}
	return rest, nil
}

// FormNames returns the names of the forms of answers.
func FormNames() []string {
	var names []string
	for _, f := range task.Forms() {
		names = append(names, string(f))
	}
	return names
}

// question builds the question that the answers belong to, as far as grading needs it.
func (f gradeFlags) question(form string, choices []string) (*synod.Question, error) {
	if form == "" {
		return nil, errors.New("--form is missing; it must be one of " + strings.Join(FormNames(), ", "))
	}
	if !slices.Contains(FormNames(), form) {
		return nil, fmt.Errorf("unknown form %q%s; known forms: %s", form, synod.Hint(form, FormNames()),
			strings.Join(FormNames(), ", "))
	}
	q := &synod.Question{Form: synod.Form(form)}
	for i, text := range choices {
		if i == 26 {
			return nil, errors.New("there are more than 26 choices")
		}
		q.Options = append(q.Options, synod.Option{Label: string(rune('A' + i)), Text: text})
	}
	return q, nil
}

// verdict returns the verdict that counts.
func (f gradeFlags) verdict(g task.Grade) task.Verdict {
	if f.flexible {
		return g.Flexible
	}
	return g.Strict
}

func (f gradeFlags) grade(out io.Writer, want, got string) error {
	q, err := f.question(f.form, f.choices)
	if err != nil {
		return app.Fail(app.ExitUsage, err)
	}
	g := task.GradeReply(q, want, got)
	g.Verdict = f.verdict(g)
	if f.asJSON {
		err = app.WriteJSON(out, struct {
			Version int `json:"version"`
			task.Grade
		}{1, g})
	} else {
		_, err = io.WriteString(out, explainGrade(g))
	}
	switch {
	case err != nil:
		return app.Fail(app.ExitFailure, err)
	case g.Verdict == task.Right:
		return nil
	case g.Verdict == task.Wrong:
		return app.Fail(app.ExitGate, nil)
	}
	return app.Fail(app.ExitFailure, nil)
}

func explainGrade(g task.Grade) string {
	read := func(s string) string {
		if s == "" {
			return "nothing"
		}
		return app.OneLine(s)
	}
	s := fmt.Sprintf("%s\nwant      %s\ngot       %s\nstrict    %s\nflexible  %s", g.Verdict, read(g.Want), read(g.Got),
		g.Strict, g.Flexible)
	if g.Loose != g.Got {
		s += ", reading " + read(g.Loose)
	}
	if g.Problem != "" {
		s += "\nproblem   " + g.Problem
	}
	return s + "\n"
}

// maxGradeLine is the maximum length of a batch line, in bytes.
const maxGradeLine = 4 << 20

// gradeRow is a line of a batch. Other keys of the line are copied to the output.
type gradeRow struct {
	Form    string          `json:"form"`
	Want    json.RawMessage `json:"want"`
	Got     json.RawMessage `json:"got"`
	Choices []string        `json:"choices"`
	Verdict json.RawMessage `json:"verdict"`
}

// answerText returns the text of a JSON string, or the JSON of any other value.
func answerText(name string, raw json.RawMessage) (string, error) {
	if len(raw) == 0 {
		return "", fmt.Errorf("the line has no %q", name)
	}
	if raw[0] != '"' {
		return string(raw), nil
	}
	var s string
	err := json.Unmarshal(raw, &s)
	return s, err
}

func (f gradeFlags) gradeLines(in io.Reader, out io.Writer) error {
	s := bufio.NewScanner(in)
	s.Buffer(nil, maxGradeLine)
	w := bufio.NewWriter(out)
	defer w.Flush()
	for n := 1; s.Scan(); n++ {
		raw := s.Bytes()
		if n == 1 {
			raw = bytes.TrimPrefix(raw, []byte("\ufeff"))
		}
		line, err := f.gradeLine(bytes.TrimSpace(raw))
		if err != nil {
			return app.Fail(app.ExitFailure, fmt.Errorf("stdin, line %d: %w", n, err))
		}
		if _, err := w.Write(append(line, '\n')); err != nil {
			return app.Fail(app.ExitFailure, err)
		}
	}
	if err := s.Err(); err != nil {
		return app.Fail(app.ExitFailure, fmt.Errorf("read stdin: %w", err))
	}
	return nil
}

// gradeLine adds the grade to a line and does not change its other content.
func (f gradeFlags) gradeLine(line []byte) ([]byte, error) {
	if len(line) == 0 {
		return nil, errors.New("the line is empty")
	}
	var row gradeRow
	if err := json.Unmarshal(line, &row); err != nil {
		return nil, fmt.Errorf("not a line with {\"form\", \"want\", \"got\"}: %w", err)
	}
	if row.Form == "" {
		row.Form = f.form
	}
	q, err := f.question(row.Form, row.Choices)
	if err != nil {
		return nil, err
	}
	if row.Verdict != nil {
		return nil, errors.New("the line already has a verdict")
	}
	want, err := answerText("want", row.Want)
	if err != nil {
		return nil, err
	}
	got, err := answerText("got", row.Got)
	if err != nil {
		return nil, err
	}
	g := task.GradeReply(q, want, got)
	g.Verdict = f.verdict(g)
	graded, err := json.Marshal(g)
	if err != nil {
		return nil, err
	}
	body := line[:len(line)-1] // without the closing brace
	return slices.Concat(body, []byte(","), graded[1:]), nil
}
