package guard

import (
	"context"

	"github.com/eiderdb/eider/kv/rel"
	"github.com/eiderdb/eider/kv/row"
	"github.com/eiderdb/eider/kv/store"
	"github.com/eiderdb/eider/lake"
)

// Waiting is a file of a lake that waits to be deleted.
type Waiting struct {
	Lake string
	File lake.Scheduled
	Due  int64  // when the time allows it to go, µs since 1970
	Held string // what keeps it besides, "" for nothing
}

// waitingChunk is how many files are asked about at a time.
const waitingChunk = 1000

// Waiting calls fn for the files that wait to be deleted in all lakes of the transaction's
// catalog, also those that clients do not see yet.
func (g *Guard) Waiting(ctx context.Context, txn *store.Txn, fn func(Waiting) error) error {
	for s := range txn.Schemas() {
		t, ok := txn.TableByName(s.OID, scheduleTable)
		if !ok || t.Kind != rel.KindTable {
			continue
		}
		if err := g.waitingIn(ctx, relation{txn, t}, s.Name, fn); err != nil {
			return err
		}
	}
	return nil
}

func (g *Guard) waitingIn(ctx context.Context, r relation, name string, fn func(Waiting) error) error {
	f, err := g.Fence(r.txn, name, nil)
	if err != nil {
		return err
	}
	due, err := f.due()
	if err != nil {
		return err
	}
	var chunk []lake.Scheduled
	flush := func() error {
		held, err := f.Held(ctx, chunk)
		if err != nil {
			return err
		}
		for i, s := range chunk {
			if err := fn(Waiting{Lake: name, File: s, Due: due.at(s), Held: held[i]}); err != nil {
				return err
			}
		}
		chunk = chunk[:0]
		return nil
	}
	err = r.each("", nil, func(_ uint64, t row.Tuple) error {
		if chunk = append(chunk, r.scheduled(t)); len(chunk) < waitingChunk {
			return nil
		}
		return flush()
	})
	if err != nil {
		return err
	}
	return flush()
}
