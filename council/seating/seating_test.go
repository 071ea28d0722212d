package seating

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestFamily(t *testing.T) {
	for name, want := range map[string]string{
		"gpt-4o-mini": "openai", "openai/gpt-oss-20b": "openai", "o4-mini": "openai", "chatgpt-4o-latest": "openai",
		"claude-haiku-4-5-20251001": "anthropic", "anthropic/claude-sonnet-4.5": "anthropic",
		"gemini-2.5-flash": "google", "gemma3:4b": "google", "meta-llama/Llama-3.3-70B-Instruct": "meta",
		"llama3.2:latest": "meta", "codellama:7b": "meta", "Qwen/Qwen2.5-7B-Instruct": "alibaba", "qwq-32b": "alibaba",
		"deepseek-r1-distill-llama-70b": "meta", "deepseek-ai/DeepSeek-R1-Distill-Qwen-7B": "alibaba",
		"deepseek-chat": "deepseek", "mixtral-8x7b-instruct": "mistral", "magistral-small-2506": "mistral",
		"nvidia/llama-3.1-nemotron-70b": "meta", "nvidia/nemotron-4-340b": "nvidia", "grok-4-fast": "xai",
		"phi4:14b": "microsoft", "phi-3.5-mini": "microsoft", "command-r-plus": "cohere", "glm-4.6": "zhipu",
		"kimi-k2": "moonshot", "granite3.3:8b": "ibm", "yi-large": "01-ai", "smollm2-135m-instruct": "huggingface",
		"hermes-3-llama-3.1-8b": "meta", "solar-pro": "solar", "my-model": "my", "42": "42",
		"graphite-7b": "graphite", "orphic": "orphic",
	} {
		if got := Family(name); got != want {
			t.Errorf("Family(%q) = %q, want %q", name, got, want)
		}
	}
}

func TestNames(t *testing.T) {
	for name, chats := range map[string]bool{
		"gpt-4o": true, "text-embedding-3-small": false, "whisper-1": false, "gpt-4o-realtime-preview": false,
		"nomic-embed-text:latest": false, "omni-moderation-latest": false, "dall-e-3": false, "llama-guard-3-8b": false,
		"gpt-3.5-turbo-instruct": false, "gemini-2.5-flash-image": false, "davinci-002": false,
		"qwen2.5-7b-base":  false,
		"qwen2.5-coder:7b": false, "claude-opus-4-1": true, "mistral:7b": true,
	} {
		if Chats(name) != chats {
			t.Errorf("Chats(%q) = %t", name, !chats)
		}
	}
	for name, want := range map[string]float64{
		"gpt-4.1-mini": 4.1, "gpt-4o": 4, "claude-haiku-4-5": 4.5, "claude-haiku-4-5-20251001": 4.5,
		"claude-3-5-haiku-20241022": 3.5, "gemini-2.5-flash": 2.5, "llama3.2:3b": 3.2, "llama-3-70b": 3, "o4-mini": 4,
		"mixtral-8x7b": 0, "mistral-small-2506": 0, "mistral:7b": 0, "gpt-4o-2024-08-06": 4, "grok-4-fast": 4,
	} {
		if got := version(name); got != want {
			t.Errorf("version(%q) = %v, want %v", name, got, want)
		}
	}
	for name, want := range map[string]int{"gpt-5-mini": 0, "gemini-2.5-flash-lite": 3, "gemini-2.5-flash": 0,
		"gpt-5": 1, "claude-opus-4-1": 2, "claude-sonnet-4-5": 1, "gpt-5-nano": 3, "ministral-8b": 1} {
		if got := tier(name); got != want {
			t.Errorf("tier(%q) = %d, want %d", name, got, want)
		}
	}
}

func candidates(names ...string) (all []Candidate) {
	for i, n := range names {
		all = append(all, Candidate{Name: n, Source: i % 2})
	}
	return all
}

func TestChoose(t *testing.T) {
	usd := func(c Candidate, v float64) Candidate { c.USD = &v; return c }
	local := func(names ...string) []Candidate {
		all := candidates(names...)
		for i := range all {
			all[i].Local = true
		}
		return all
	}
	for _, x := range []struct {
		what string
		of   []Candidate
		want string
	}{
		{"an account of one maker", candidates("gpt-4o", "gpt-4o-2024-08-06", "gpt-4.1-mini", "gpt-5-mini", "gpt-5",
			"gpt-5-nano", "whisper-1"), "[gpt-5-mini×3 gpt-4.1-mini×2 gpt-5×2]"},
		{"a known price comes first", []Candidate{{Name: "gpt-6-mini"}, usd(Candidate{Name: "gpt-5-mini"}, 2)},
			"[gpt-5-mini×4 gpt-6-mini×3]"},
		{"one seat for each of three makers", candidates("gpt-5-mini", "gpt-5", "claude-haiku-4-5", "gemini-2.5-flash"),
			"[gpt-5-mini×1 claude-haiku-4-5×1 gemini-2.5-flash×1]"},
		{"local ones before hosted ones", append(candidates("meta/llama-3.3-70b", "gpt-5-mini", "claude-haiku-4-5"),
			local("llama3.2:3b", "llama3.1:8b", "llama3.1:70b")...),
			"[llama3.1:8b×1 gpt-5-mini×1 claude-haiku-4-5×1]"},
		{"the same model of two servers", []Candidate{{Name: "x/qwen-3-8b"}, {Name: "qwen-3-8b", Source: 1}},
			"[qwen-3-8b×7]"},
		{"seven makers at most", candidates("gpt-5", "claude-x", "gemini-2", "llama-3", "qwen-3", "mistral-x",
			"deepseek-x", "grok-4", "phi-4"),
			"[gpt-5×1 claude-x×1 gemini-2×1 llama-3×1 qwen-3×1 mistral-x×1 deepseek-x×1]"},
		{"nothing that chats", candidates("whisper-1", "bge-m3"), "[]"},
	} {
		var got []string
		for _, p := range Choose(x.of) {
			got = append(got, fmt.Sprintf("%s×%d", p.Name, p.Seats))
		}
		if fmt.Sprint(got) != x.want {
			t.Errorf("%s: %v, want %s", x.what, got, x.want)
		}
	}
}

// The proposal does not depend on the order of the lists, seats at most seven, and with three families or more no
// family has more seats than F of the complete graph.
func TestChooseProperties(t *testing.T) {
	words := []string{"gpt", "claude", "gemini", "llama", "qwen", "mistral", "deepseek", "grok", "phi", "solar",
		"embed"}
	tails := []string{"", "-mini", "-2024-08-06", "-4.1", ":7b", ":70b", "-preview", "-nano"}
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		var all []Candidate
		for range 1 + r.IntN(20) {
			c := Candidate{Name: words[r.IntN(len(words))] + tails[r.IntN(len(tails))], Source: r.IntN(3),
				Local: r.IntN(3) == 0}
			if v := r.Float64(); r.IntN(2) == 0 {
				c.USD = &v
			}
			same := func(d Candidate) bool { return d.Name == c.Name && d.Source == c.Source }
			if !slices.ContainsFunc(all, same) {
				all = append(all, c)
			}
		}
		picks := Choose(all)
		seats, byFamily, names := 0, map[string]int{}, map[string]bool{}
		for _, p := range picks {
			seats, byFamily[p.Family] = seats+p.Seats, byFamily[p.Family]+p.Seats
			if !Chats(p.Name) || p.Seats < 1 || names[base(p.Name)] {
				t.Fatalf("seed %d: %+v of %v", seed, p, picks)
			}
			names[base(p.Name)] = true
		}
		if f := (seats+1)/2 - 1; len(byFamily) >= 3 {
			for name, n := range byFamily {
				if n > f {
					t.Fatalf("seed %d: %d of %d seats are of %s, F is %d", seed, n, seats, name, f)
				}
			}
		} else if len(picks) > 0 && seats != maxSeats || len(picks) > fewModels {
			t.Fatalf("seed %d: %d seats of %v", seed, seats, picks)
		}
		r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		if again := Choose(all); fmt.Sprint(again) != fmt.Sprint(picks) {
			t.Fatalf("seed %d: %v, and in another order %v", seed, picks, again)
		}
	}
}
