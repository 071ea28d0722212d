package read

import (
	"strings"

	"synod.dev/synod/llm/read/notation"
)

// escape copies an escape. A backslash that begins none, and one that begins a command of LaTeX, is a backslash.
// Nobody writes a backspace, a form feed or a carriage return before a letter, so these always begin a command.
func (r *repairer) escape() {
	rest := r.in[r.at+1:]
	if rest == "" {
		r.out = append(r.out, `\\`...)
		return
	}
	switch c := rest[0]; {
	case r.raw && endsRow(rest):
		r.out = append(r.out, `\\\\`...)
		r.at++
	case c == '"' || c == '\\' || c == '/' || c == 'u' && hexadecimal(rest[1:]),
		strings.IndexByte("bfnrt", c) >= 0 && !command(rest):
		r.out = append(r.out, '\\', c)
		r.at++
	case c == '\'':
		r.out = append(r.out, c)
		r.at++
	default:
		r.raw = true
		r.out = append(r.out, `\\`...)
	}
}

// endsRow reports that the second of two backslashes ends a row of a matrix. In a string whose commands have single
// backslashes, two before a space or a number are no escape.
func endsRow(rest string) bool {
	return len(rest) > 1 && rest[0] == '\\' && strings.IndexByte(" \n-0123456789", rest[1]) >= 0
}

// command reports whether the letters after a backslash are a command of LaTeX.
func command(letters string) bool {
	name, _ := notation.CutName(letters[:min(len(letters), maxCommand)])
	return commands[name] || len(name) > 1 && strings.IndexByte("bfr", name[0]) >= 0
}

func hexadecimal(s string) bool {
	return len(s) >= 4 && strings.Trim(s[:4], "0123456789abcdefABCDEF") == ""
}

// maxCommand is longer than every command.
const maxCommand = 24

// commands are the commands of LaTeX that begin with n or t, which are escapes of JSON that people use.
// Not among them is \ni: the lines of programs begin with i.
var commands = notation.Set(`nabla natural ncong ne nearrow neg neq newline nexists ngeq nleq nmid nolimits nonumber normalsize
	not notin nparallel nprec nsim nsubseteq nsucc nu tag tan tanh tau tbinom text textbf textit textrm
	textsf texttt textstyle tfrac therefore theta thickapprox thinspace tilde times to top triangle
	triangleleft triangleq triangleright twoheadrightarrow`)
