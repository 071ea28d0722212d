package store

import (
	"context"
	"fmt"
	"time"
)

// Spend is what the requests to a model have cost together.
type Spend struct {
	Requests   int // begun
	Failed     int // that ended without an answer
	Open       int // that have not ended
	Spent      Money
	Unpriced   int // requests of which the price of a part is not known
	Calls      int
	Prompt     int // tokens
	Completion int
	Compared   int       // requests of which is known what the reference model alone would have cost
	Alone      Money     // that
	Against    Money     // what these requests cost
	Last       time.Time // when the last one began
}

// Saved returns by how much less the compared requests cost than the reference model alone; below 0: they cost more.
func (s Spend) Saved() Money { return s.Alone - s.Against }

// SpendByModel returns, by model id, what requests since a time have cost: those of one key, or for "" all.
func (s *Store) SpendByModel(ctx context.Context, key string, since time.Time) (map[string]Spend, error) {
	if err := s.flush(); err != nil {
		return nil, err
	}
	rows, err := s.db.QueryContext(ctx, `SELECT model, COUNT(*),
		CAST(SUM(CASE WHEN ended > 0 AND http <> 200 THEN 1 ELSE 0 END) AS BIGINT),
		CAST(SUM(CASE WHEN ended = 0 THEN 1 ELSE 0 END) AS BIGINT), CAST(SUM(spent) AS BIGINT),
		CAST(SUM(unpriced) AS BIGINT), CAST(SUM(calls) AS BIGINT), CAST(SUM(prompt) AS BIGINT),
		CAST(SUM(completion) AS BIGINT), CAST(SUM(compared) AS BIGINT), CAST(SUM(alone) AS BIGINT),
		CAST(SUM(CASE WHEN compared = 1 THEN spent ELSE 0 END) AS BIGINT), MAX(begun) FROM requests
		WHERE begun >= $1 AND ($2 = '' OR key_id = $2) GROUP BY model`, since.UnixMilli(), key)
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	defer rows.Close()
	all := map[string]Spend{}
	for rows.Next() {
		var x Spend
		var model string
		var last int64
		if err := rows.Scan(&model, &x.Requests, &x.Failed, &x.Open, &x.Spent, &x.Unpriced, &x.Calls, &x.Prompt,
			&x.Completion, &x.Compared, &x.Alone, &x.Against, &last); err != nil {
			return nil, fmt.Errorf("store: %w", err)
		}
		x.Last = time.UnixMilli(last)
		all[model] = x
	}
	return all, rows.Err()
}
