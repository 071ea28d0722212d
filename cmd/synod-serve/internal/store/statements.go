package store

import "strings"

// The statements of requests.
const (
	intoRequests = `INSERT INTO requests (id, gateway, key_id, api, model, begun, ended, status, http, reserved, spent,
		unpriced, calls, prompt, completion, journal, bytes, reserved_tokens, alone, compared)
		VALUES `
	insertRequest = intoRequests + "($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, " +
		"$18, $19, $20)"
	insertText = "INSERT INTO texts (id, question, answer) VALUES ($1, $2, $3)"
	once       = " ON CONFLICT (id) DO NOTHING"
	endRequest = `UPDATE requests SET ended = $1, status = $2, http = $3, spent = $4, unpriced = $5, calls = $6,
		prompt = $7, completion = $8, journal = $9, bytes = $10, alone = $11, compared = $12 WHERE id = $13 AND
		ended = 0`
	useKey   = "UPDATE keys SET used = $1 WHERE id = $2 AND " + valid + "$1)"
	lockKey  = "UPDATE keys SET used = $1 WHERE id = $2"
	sumRates = "SELECT SUM(n), MIN(second) FROM rates WHERE key_id = $1 AND second > $2"
	addRate  = `INSERT INTO rates (key_id, second, n) VALUES ($1, $2, 1)
		ON CONFLICT (key_id, second) DO UPDATE SET n = rates.n + 1`
	findReserved = "SELECT reserved, reserved_tokens FROM requests WHERE id = $1"
	setReserved  = "UPDATE requests SET reserved = $1, reserved_tokens = $2 WHERE id = $3 AND ended = 0"
	findDay      = "SELECT spent, reserved, tokens, reserved_tokens FROM days WHERE key_id = $1 AND day = $2"
	addToDay     = `INSERT INTO days (key_id, day, requests, spent, reserved, tokens, reserved_tokens)
		VALUES ($1, $2, $3, $4, $5, $6, $7)
		ON CONFLICT (key_id, day) DO UPDATE SET requests = days.requests + $3, spent = days.spent + $4,
		reserved = days.reserved + $5, tokens = days.tokens + $6, reserved_tokens = days.reserved_tokens + $7`
)

// rowsAtOnce is how many requests insertMany writes: a statement for each would cost twice the processor time.
const rowsAtOnce = 32

// insertMany is for SQLite, which the log belongs to.
var insertMany = intoRequests + strings.Repeat(", (?"+strings.Repeat(", ?", columns-1)+")", rowsAtOnce)[2:] + once

// statements are those that are parsed once.
var statements = []string{insertRequest, insertRequest + once, insertText, insertText + once, endRequest, useKey,
	lockKey, sumRates, addRate, findReserved, setReserved, findDay, addToDay}

// valid is the condition of a valid key, up to the time in milliseconds and a parenthesis.
const valid = "revoked = 0 AND (expires = 0 OR expires > "

// columns is how many values a row of insertRequest has.
const columns = 20
