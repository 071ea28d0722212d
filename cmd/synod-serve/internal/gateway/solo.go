package gateway

import (
	"net/http"

	"synod.dev/synod/cmd/synod-serve/internal/wire"
)

// solo passes a request on to one model.
func (g *Gateway) solo(d dialect, w http.ResponseWriter, r *http.Request, j *job, body []byte) *wire.Error {
	return wire.Unsupported("model", "pass-through to a single model is not supported yet")
}
