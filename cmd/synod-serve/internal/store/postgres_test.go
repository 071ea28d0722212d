package store

import (
	"testing"

	"synod.dev/synod/cmd/synod-serve/internal/pgtest"
)

// The tests of the store pass with a real PostgreSQL, where its programs are installed.
func TestPostgres(t *testing.T) {
	postgresURL = pgtest.Start(t)
	defer func() { postgresURL = "" }()
	for name, test := range map[string]func(*testing.T){
		"keys": TestKeys, "limits": TestLimitsAreHard, "books": TestBooks, "dead gateways": TestDeadGateways,
		"retain": TestRetain, "search": TestSearch, "sessions": TestSessions, "draw": TestDraw,
		"tokens": TestTokensAreHard, "lost": TestLostTokens, "erase": TestErase, "rollback": TestRollback,
	} {
		t.Run(name, test)
	}
}
