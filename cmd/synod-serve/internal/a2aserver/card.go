package a2aserver

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/http"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"synod.dev/synod/core/sign"
)

// CertificateURI names the extension by which a client wants a certificate of the decision.
const CertificateURI = "https://synod.dev/a2a/certificate/v1"

// CertificateType is the media type of a certificate.
const CertificateType = "application/vnd.dsse+json"

func certificateExtension() *a2a.AgentExtension {
	return &a2a.AgentExtension{URI: CertificateURI, Description: "A task with a decision has an artifact with its " +
		"certificate, which synod verify checks without any model."}
}

func capabilities() *a2a.AgentCapabilities {
	return &a2a.AgentCapabilities{Streaming: true, Extensions: []a2a.AgentExtension{*certificateExtension()}}
}

// described is what the agent says about itself.
func (s *Server) described(base string) *a2a.AgentCard {
	c := &a2a.AgentCard{Name: "Synod", Version: s.o.Version, Capabilities: *capabilities(),
		Description: "A council of language models, some of which may be wrong or hostile. It decides a question " +
			"together and says what is guaranteed about the answer.",
		DefaultInputModes: []string{"text/plain", "application/json", "image/png", "image/jpeg", "image/webp",
			"image/gif"},
		DefaultOutputModes: []string{"text/plain", "application/json", CertificateType},
		SupportedInterfaces: []*a2a.AgentInterface{a2a.NewAgentInterface(base+Path,
			a2a.TransportProtocolJSONRPC)},
		Skills: []a2a.AgentSkill{{ID: "decide", Name: "Decide a question", Tags: []string{"consensus", "council",
			"verification"},
			Description: "Answers a question by the agreement of several models, with votes, dissent and what the " +
				"decision " +
				"withstands. Without a decision the task asks for input. metadata.synod of a message may have " +
				"council, " +
				"form, deadline, budget and on_no_consensus.",
			Examples: []string{"Is 91 prime?", "Which of these two contracts has the shorter notice period?"}}}}
	if s.o.NeedKey {
		c.SecuritySchemes = a2a.NamedSecuritySchemes{"key": a2a.HTTPAuthSecurityScheme{Scheme: "Bearer",
			Description: "An API key of the gateway"}}
		c.SecurityRequirements = a2a.SecurityRequirementsOptions{{"key": {}}}
	}
	return c
}

// card answers requests for the card, which is signed where there is a key.
func (s *Server) card(w http.ResponseWriter, r *http.Request) {
	base := s.o.URL
	if base == "" {
		base = "http://" + r.Host
	}
	b, err := s.cardAt(base)
	if err != nil {
		s.o.Log.Error("the agent card cannot be made", "error", err.Error())
		http.Error(w, "the agent card cannot be made; the gateway's log says why", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(b) // the client may be gone
}

// mostCards bounds how many cards are kept: one for each name of the gateway.
const mostCards = 100

func (s *Server) cardAt(base string) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if b := s.signed[base]; b != nil {
		return b, nil
	}
	c := s.described(base)
	secret, ok, err := s.o.Signer()
	if err == nil && ok {
		var signature a2a.AgentCardSignature
		if signature, err = signCard(c, secret); err == nil {
			c.Signatures = []a2a.AgentCardSignature{signature}
		}
	}
	if err != nil {
		return nil, err
	}
	b, err := json.Marshal(c)
	if err == nil && ok && len(s.signed) < mostCards { // without a signature it may get one later
		if s.signed == nil {
			s.signed = map[string][]byte{}
		}
		s.signed[base] = b
	}
	return b, err
}

// signCard signs a card by JWS (RFC 7515) with EdDSA (RFC 8037) over its canonical JSON. The key's name is the
// public key in hex, as synod prints it.
func signCard(c *a2a.AgentCard, secret sign.Secret) (a2a.AgentCardSignature, error) {
	payload, err := canonical(c)
	if err != nil {
		return a2a.AgentCardSignature{}, err
	}
	head, err := json.Marshal(map[string]string{"alg": "EdDSA", "typ": "JOSE",
		"kid": hex.EncodeToString(secret.PublicKey())})
	if err != nil {
		return a2a.AgentCardSignature{}, err
	}
	coded := base64.RawURLEncoding
	protected := coded.EncodeToString(head)
	sig := ed25519.Sign(secret.LinkKey(), []byte(protected+"."+coded.EncodeToString(payload)))
	return a2a.AgentCardSignature{Protected: protected, Signature: coded.EncodeToString(sig)}, nil
}

// canonical is the canonical JSON of a card that is signed: without signatures and without empty values, which
// the protocol does not tell from absent ones, by JCS (RFC 8785). A card has no numbers, and its keys are ASCII.
func canonical(c *a2a.AgentCard) ([]byte, error) {
	b, err := json.Marshal(c)
	if err != nil {
		return nil, err
	}
	var all map[string]any
	if err := json.Unmarshal(b, &all); err != nil {
		return nil, err
	}
	delete(all, "signatures")
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	err = e.Encode(withoutEmpty(all))
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), err
}

// withoutEmpty removes empty texts, lists and objects; nil if nothing is left.
func withoutEmpty(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for key, one := range v {
			if v[key] = withoutEmpty(one); v[key] == nil {
				delete(v, key)
			}
		}
		if len(v) > 0 {
			return v
		}
	case []any:
		var left []any
		for _, one := range v {
			if one = withoutEmpty(one); one != nil {
				left = append(left, one)
			}
		}
		if len(left) > 0 {
			return left
		}
	case string:
		if v != "" {
			return v
		}
	default:
		return v
	}
	return nil
}
