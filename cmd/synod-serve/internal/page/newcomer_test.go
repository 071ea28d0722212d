package page

import (
	"testing"

	"synod.dev/synod/internal/llmtest"
	"synod.dev/synod/internal/newcomer"
	"synod.dev/synod/protocol/catalog"
	"synod.dev/synod/record/certificate"
)

// The gateway plays a new protocol and the page shows its run, as its entry stands.
func TestNewProtocol(t *testing.T) {
	catalog.Protocols.Add(newcomer.Protocol)
	server := llmtest.Start(t, func(llmtest.Call) string { return "I add them.\nAnswer: 42" })
	h := open(t, map[string]string{"new": `council: new
protocol: {name: newcomer}
graph: {family: complete}
f: 1
models: {stub: {provider: openai, url: "` + server.URL + `", model: stub, attempts: 1, max_tokens: 100}}
seats: [{id: s, model: stub, count: 5}]
`})
	path, run := h.asked(t, "question", sum, "council", "new", "form", "number")
	contains(t, "the run", run, `<p class="answer"><bdi>42</bdi>`, "5 of 5", "newcomer")
	c, err := certificate.Parse([]byte(h.get(t, path+"/certificate").body))
	if err == nil {
		_, err = certificate.Verify(c, nil)
	}
	if err != nil {
		t.Error("the certificate:", err)
	}
}
