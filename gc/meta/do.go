package meta

import (
	"context"
	"errors"
	"fmt"

	"github.com/eiderdb/eider/kv/store"
)

// Committer commits what a job has written, after the checks that commits of clients get.
type Committer interface {
	// Commit commits the transaction or refuses it; either way it is finished. The error of a
	// race that was lost is one of package store, or wraps ErrLost.
	Commit(ctx context.Context, txn *store.Txn) error
}

// maxTries bounds how often Do repeats a transaction.
const maxTries = 10

// Do runs fn in a transaction of its own and commits it. When another transaction came
// first it does so again, on the newest state, ten times at most: fn must plan anew what it
// writes. An error of fn ends the transaction without a trace. When ctx ends the error is its
// cause.
//
// Nothing was committed when Do returns an error, with the exception of
// kv.ErrUnknownOutcome.
func Do(ctx context.Context, cat *store.Catalog, c Committer, fn func(txn *store.Txn) error) error {
	var err error
	for range maxTries {
		if err = context.Cause(ctx); err != nil {
			return err
		}
		txn := cat.Begin(store.TxnOptions{Isolation: store.RepeatableRead, Sync: true, Background: true})
		if err = try(txn, fn); err == nil {
			err = c.Commit(ctx, txn)
		}
		if err == nil || !Lost(err) {
			return err
		}
	}
	return fmt.Errorf("meta: gave up after %d tries: %w", maxTries, err)
}

func try(txn *store.Txn, fn func(txn *store.Txn) error) (err error) {
	ended := false
	defer func() {
		if !ended || err != nil { // a panic passes through
			err = errors.Join(err, txn.Rollback())
		}
	}()
	if err = txn.EnsureSnapshot(); err == nil {
		err = fn(txn)
	}
	ended = true
	return err
}

// Lost says whether an error is that of a race: the transaction may be done again.
func Lost(err error) bool {
	return errors.Is(err, ErrLost) || errors.Is(err, store.ErrSerialization) || errors.Is(err, store.ErrUnique) || errors.Is(err, store.ErrExists)
}

// Read runs fn in a transaction that is not committed.
func Read(ctx context.Context, cat *store.Catalog, fn func(txn *store.Txn) error) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	txn := cat.Begin(store.TxnOptions{Isolation: store.RepeatableRead, ReadOnly: true})
	err := try(txn, fn)
	if err == nil {
		err = txn.Rollback()
	}
	return err
}
