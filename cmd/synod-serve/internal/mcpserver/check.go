package mcpserver

import (
	"context"
	"fmt"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"synod.dev/synod/cmd/cli/graph"
	"synod.dev/synod/cmd/cli/verification"
	"synod.dev/synod/graph/format"
	"synod.dev/synod/graph/topology"
	"synod.dev/synod/record/certificate"
)

// toVerify is what the tool verify takes.
type toVerify struct {
	Certificate string  `json:"certificate" jsonschema:"the whole text of the certificate's file, with the line feed at its end"`
	Question    *string `json:"question,omitempty" jsonschema:"check that it is about this question"`
	Answer      *string `json:"answer,omitempty" jsonschema:"check that it is about this answer, as the field answer of the object synod has it"`
}

func addVerify(m *mcp.Server) {
	mcp.AddTool(m, &mcp.Tool{Name: "verify", Title: "Verify a certificate", InputSchema: schemaOf[toVerify](),
		OutputSchema: schemaOf[verification.Result](), Description: "Verifies a certificate of a council's decision " +
			"without " +
			"any model: signatures, arithmetic, robustness of the graph. Returns what is proved and what is not.",
		Annotations: &mcp.ToolAnnotations{Title: "Verify a certificate", ReadOnlyHint: true,
			DestructiveHint: truth(false),
			IdempotentHint:  true, OpenWorldHint: truth(false)}}, verify)
}

// verify verifies a certificate. One that is not valid is a result and no error of the tool.
func verify(_ context.Context, _ *mcp.CallToolRequest, in toVerify) (*mcp.CallToolResult, verification.Result, error) {
	if len(in.Certificate) > certificate.MaxSize {
		return nil, verification.Result{}, fmt.Errorf("the certificate is longer than %d bytes", certificate.MaxSize)
	}
	v := verification.VerifyCertificate([]byte(in.Certificate), in.Question, in.Answer)
	return nil, v, nil
}

// toCheck is what the tool graph_check takes.
type toCheck struct {
	Family string         `json:"family,omitempty" jsonschema:"a family of graphs, with n; or give graph"`
	Nodes  int            `json:"n,omitempty" jsonschema:"number of nodes of the family"`
	Params map[string]any `json:"params,omitempty" jsonschema:"parameters of the family"`
	Seed   uint64         `json:"seed,omitempty" jsonschema:"seed of a random family"`
	Graph  string         `json:"graph,omitempty" jsonschema:"the text of a graph: with the format edges, two names in each line"`
	Format string         `json:"format,omitempty" jsonschema:"the format of graph; default: edges"`
	Faults *int           `json:"f,omitempty" jsonschema:"faulty neighbours of each node that the graph has to tolerate"`
	Rule   string         `json:"rule,omitempty" jsonschema:"sac: r ≥ F+1 is enough; strong: r ≥ 2F+1, so that the reliable nodes alone stay connected"`
	Rounds *int           `json:"rounds,omitempty" jsonschema:"rounds T of a question, for its number of calls; default: 6"`
}

const (
	mostNodes   = 256
	graphTime   = 10 * time.Second
	usualRounds = 6
)

// graphSchema is the schema of what "synod graph check --json" prints.
func graphSchema() *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "object", Required: []string{"nodes", "edges", "r", "lower", "upper", "exact",
		"f_sac",
		"f_strong", "calls"}, Properties: map[string]*jsonschema.Schema{
		"r":        {Type: "integer", Description: "the graph is r-robust; the largest such r if exact"},
		"f_sac":    {Type: "integer", Description: "the largest F with r ≥ F+1"},
		"f_strong": {Type: "integer", Description: "the largest F with r ≥ 2F+1"},
		"witness":  {Description: "two sets that prove that r is not larger; null: none was found"},
		"enough":   {Description: "whether the graph tolerates f; null: not known"},
		"exact":    {Type: "boolean"}, "note": {Type: "string"}}}
	for _, key := range []string{"nodes", "edges", "lower", "upper", "calls"} {
		s.Properties[key] = &jsonschema.Schema{Type: "integer"}
	}
	return s
}

func (s *Server) addGraphCheck(m *mcp.Server) {
	in := schemaOf[toCheck]()
	oneOf(in, "family", topology.Catalogue.Names()...)
	oneOf(in, "rule", "sac", "strong")
	for _, f := range format.All() {
		oneOf(in, "format", f.Name)
	}
	mcp.AddTool(m, &mcp.Tool{Name: "graph_check", Title: "Check a communication graph", InputSchema: in,
		OutputSchema: graphSchema(), Description: fmt.Sprintf("Finds how robust a communication graph of at most "+
			"%d nodes "+
			"is: the largest r, how many faulty neighbours of each node it tolerates, and two sets that prove "+
			"that r is "+
			"not larger. Takes at most %s and asks no model.", mostNodes, graphTime),
		Annotations: &mcp.ToolAnnotations{Title: "Check a communication graph", ReadOnlyHint: true,
			DestructiveHint: truth(false), IdempotentHint: true, OpenWorldHint: truth(false)}}, s.graphCheck)
}

func (s *Server) graphCheck(ctx context.Context, _ *mcp.CallToolRequest, in toCheck) (*mcp.CallToolResult,
	*graph.CheckReport, error) {
	select {
	case s.graphs <- struct{}{}:
		defer func() { <-s.graphs }()
	case <-ctx.Done():
		return nil, nil, ctx.Err()
	}
	q := graph.Query{Text: in.Graph, Format: in.Format, Family: in.Family, Nodes: in.Nodes, Params: in.Params,
		Seed: in.Seed, Faults: -1, Strong: in.Rule == "strong", Rounds: usualRounds, Most: mostNodes, Limit: graphTime}
	if in.Faults != nil {
		if q.Faults = *in.Faults; q.Faults < 0 {
			return nil, nil, fmt.Errorf("f is %d; it must be 0 or more", q.Faults)
		}
	}
	if in.Rounds != nil {
		if q.Rounds = *in.Rounds; q.Rounds < 0 || q.Rounds > 1000 {
			return nil, nil, fmt.Errorf("rounds is %d; it must be between 0 and 1000", q.Rounds)
		}
	}
	report, err := graph.Check(ctx, q)
	return nil, report, err
}
