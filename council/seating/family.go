package seating

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// family is a maker of models and the words in names by which its models are known.
type family struct {
	name  string
	words []string
}

// families lists makers in the order in which they are proposed. Makers of open weights come with the words of these:
// a model that others made from such weights belongs to the family of the weights.
var families = []family{
	{"openai", []string{"gpt", "chatgpt", "o1", "o3", "o4"}},
	{"anthropic", []string{"claude"}},
	{"google", []string{"gemini", "gemma"}},
	{"meta", []string{"llama"}},
	{"alibaba", []string{"qwen", "qwq"}},
	{"mistral", []string{"mistral", "mixtral", "ministral", "magistral", "codestral", "devstral"}},
	{"deepseek", []string{"deepseek"}},
	{"xai", []string{"grok"}},
	{"microsoft", []string{"phi"}},
	{"cohere", []string{"command", "aya"}},
	{"zhipu", []string{"glm"}},
	{"moonshot", []string{"kimi", "moonshot"}},
	{"ibm", []string{"granite"}},
	{"amazon", []string{"nova"}},
	{"nvidia", []string{"nemotron"}},
	{"ai2", []string{"olmo"}},
	{"tii", []string{"falcon"}},
	{"01-ai", []string{"yi"}},
	{"minimax", []string{"minimax"}},
	{"huggingface", []string{"smollm"}},
}

// weights are the makers whose open weights others build on.
var weights = []string{"meta", "alibaba", "mistral", "google"}

var word = regexp.MustCompile(`[a-z]+[0-9]?`)

// base returns a model's name without the folders and the tag of a server: "Qwen/Qwen2.5-7B" is "qwen2.5-7b".
func base(name string) string {
	name = strings.ToLower(strings.TrimSuffix(name, ":latest"))
	return name[strings.LastIndexByte(name, '/')+1:]
}

// Family returns the maker of the weights behind a model's name, from its words. Of a name that no maker is known by it
// returns the first word.
func Family(name string) string {
	name = base(name)
	for _, only := range [][]string{weights, nil} {
		for _, f := range families {
			if (only == nil || slices.Contains(only, f.name)) && f.owns(name) {
				return f.name
			}
		}
	}
	if first := strings.TrimRight(word.FindString(name), "0123456789"); first != "" {
		return first
	}
	return name
}

func (f *family) owns(name string) bool {
	for _, w := range f.words {
		if len(w) >= 4 && strings.Contains(name, w) {
			return true
		}
	}
	return slices.ContainsFunc(word.FindAllString(name, -1), func(part string) bool {
		return slices.Contains(f.words, part) || slices.Contains(f.words, strings.TrimRight(part, "0123456789"))
	})
}

// other are words of models that do not chat: they embed, rank, speak, listen, draw, guard or complete text.
var other = []string{"embed", "rerank", "bge", "gte", "minilm", "whisper", "transcribe", "tts", "audio", "speech",
	"realtime", "live", "voice", "image", "dall-e", "imagen", "veo", "sora", "lyria", "video", "diffusion", "flux",
	"moderation", "guard", "shield", "search", "research", "davinci", "babbage", "turbo-instruct", "computer-use",
	"clip", "ocr", "aqa", "robotics", "reward", "-base", "codex", "math", "coder", "codestral", "devstral", "fim"}

// Chats reports whether a model answers questions of any kind, as far as its name tells.
func Chats(name string) bool {
	name = strings.ToLower(name)
	return !slices.ContainsFunc(other, func(w string) bool { return strings.Contains(name, w) })
}

var (
	snapshot = regexp.MustCompile(`[-@](20\d\d-?\d\d-?\d\d|\d{4}|0\d\d|0\d-\d\d)\b|` +
		`preview|beta|\bexp\b|experimental|latest|:free`)
	letters = regexp.MustCompile(`[a-z]+`)
	number  = regexp.MustCompile(`(?:^|[^0-9.])(\d{1,2})(?:[.-](\d{1,2}))?([a-z.0-9-]?)`)
	size    = regexp.MustCompile(`(?:^|[^0-9a-z.])(\d{1,4}(?:\.\d+)?)b\b`)
)

// version returns the version in a name: 4.1 of gpt-4.1-mini, 4.5 of claude-haiku-4-5, 0 without one.
func version(name string) float64 {
	name = snapshot.ReplaceAllString(size.ReplaceAllString(base(name), ""), "")
	m := number.FindStringSubmatch(name)
	if m == nil || m[3] == "x" { // 8x7b counts experts
		return 0
	}
	major, _ := strconv.ParseFloat(m[1], 64)
	minor, _ := strconv.ParseFloat("0."+m[2], 64) // "" is 0: "0." parses as 0
	return major + minor
}

// billions returns the parameters that a name states, in billions; 0 without.
func billions(name string) float64 {
	m := size.FindStringSubmatch(base(name))
	if m == nil {
		return 0
	}
	b, _ := strconv.ParseFloat(m[1], 64)
	return b
}

// tiers are words of names for the size of a hosted model, by how soon it is proposed: a question costs dozens of
// calls.
var tiers = [][]string{
	{"mini", "flash", "haiku", "small", "fast"},
	nil,
	{"pro", "opus", "large", "max", "ultra", "plus"},
	{"nano", "lite", "tiny", "micro"},
}

// tier returns the index of a model's tier.
func tier(name string) int {
	parts := letters.FindAllString(base(name), -1)
	for _, i := range []int{3, 0, 2} { // "flash-lite" is a lite one
		if slices.ContainsFunc(parts, func(p string) bool { return slices.Contains(tiers[i], p) }) {
			return i
		}
	}
	return 1
}
