package store

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/eiderdb/eider/kv"
	"github.com/eiderdb/eider/kv/rel"
)

// Store holds catalogs in an engine. It is safe for concurrent use.
type Store struct {
	engine kv.Engine
	opts   Options

	mu       sync.Mutex
	closed   bool                // guarded by mu
	catalogs map[string]*Catalog // guarded by mu
	nextID   uint32              // guarded by mu

	exports exportedViews
}

// catalogRecord is the stored form of a catalog's name, after a format byte.
type catalogRecord struct {
	ID   uint32
	OID  uint32
	Name string
}

const catalogRecordFormat = 1

// Open opens the store in engine, which it owns from then on: Close closes it. An empty
// engine becomes an empty store.
func Open(_ context.Context, engine kv.Engine, o Options) (*Store, error) {
	s := &Store{engine: engine, opts: o.withDefaults(), catalogs: make(map[string]*Catalog), nextID: 1}
	records, err := inspect(engine)
	switch {
	case errors.Is(err, kv.ErrNotFound):
		b := engine.NewBatch()
		if err := errors.Join(b.Set(keyFormat, []byte{storeFormat}), engine.Apply(b, true), b.Close()); err != nil {
			return nil, fmt.Errorf("store: initialize: %w", err)
		}
	case err != nil:
		return nil, fmt.Errorf("store: open: %w", err)
	}
	if b, err := engine.Get(keyNextCatalog); err == nil && len(b) == 4 {
		s.nextID = binary.BigEndian.Uint32(b)
	} else if !errors.Is(err, kv.ErrNotFound) {
		return nil, fmt.Errorf("store: open: next catalog: %w", errors.Join(err, kv.ErrCorrupt))
	}
	for _, r := range records {
		s.catalogs[r.Name] = newCatalog(s, r.ID, r.OID, r.Name)
	}
	return s, nil
}

// CheckFormat returns ErrFormat for a store that Open would refuse as a newer version's. It
// writes nothing, so that an engine can ask before it does; no store yet is none of these.
func CheckFormat(r kv.Reader) error {
	if _, err := inspect(r); err != nil && !errors.Is(err, kv.ErrNotFound) {
		return fmt.Errorf("store: format: %w", err)
	}
	return nil
}

// inspect reads what says which format the store has: its number and the catalogs. It is
// kv.ErrNotFound where there is no store yet.
func inspect(r kv.Reader) ([]catalogRecord, error) {
	format, err := r.Get(keyFormat)
	if err != nil {
		return nil, err
	}
	if len(format) != 1 || format[0] != storeFormat {
		return nil, fmt.Errorf("%w %x, this program knows %d", ErrFormat, format, storeFormat)
	}
	var records []catalogRecord
	err = scanRange(r, keyCatalogs, func(_, val []byte) error {
		if len(val) == 0 || val[0] != catalogRecordFormat {
			return fmt.Errorf("%w: catalog record", ErrFormat)
		}
		var c catalogRecord
		if err := json.Unmarshal(val[1:], &c); err != nil {
			return fmt.Errorf("catalog record: %w: %w", kv.ErrCorrupt, err)
		}
		records = append(records, c)
		return nil
	})
	return records, err
}

// Engine returns the engine, for metrics, checkpoints and tools.
func (s *Store) Engine() kv.Engine { return s.engine }

// Close closes the store and its engine. Transactions must have ended.
func (s *Store) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return ErrClosed
	}
	s.closed = true
	cats := s.catalogs
	s.catalogs = nil
	s.mu.Unlock()
	for _, c := range cats {
		// A group that is being written is finished first.
		c.seqMu.Lock()
		c.setDropped(true)
		c.seqMu.Unlock()
	}
	return s.engine.Close()
}

func putRecord(b kv.Batch, r catalogRecord) error {
	j, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return b.Set(catalogRecordKey(r.ID), append([]byte{catalogRecordFormat}, j...))
}

// CreateCatalog makes an empty catalog with the schema "public".
func (s *Store) CreateCatalog(_ context.Context, name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return ErrClosed
	}
	if name == "" {
		return fmt.Errorf("%w: empty catalog name", ErrInvalid)
	}
	if _, ok := s.catalogs[name]; ok {
		return &ExistsError{Kind: ObjectCatalog, Name: name}
	}
	r := catalogRecord{ID: s.nextID, OID: FirstOID + s.nextID - 1, Name: name}
	prefix := catalogPrefix(r.ID)
	public, err := rel.EncodeSchema(&rel.Schema{OID: PublicOID, Name: "public", Version: 1})
	if err != nil {
		return err
	}
	b := s.engine.NewBatch()
	err = errors.Join(
		putRecord(b, r),
		b.Set(keyNextCatalog, binary.BigEndian.AppendUint32(nil, r.ID+1)),
		b.Set(schemaKey(prefix, PublicOID), public),
		b.Set(join(prefix, kindMeta, metaSeq), binary.BigEndian.AppendUint64(nil, 1)),
		b.Set(join(prefix, kindMeta, metaOID), binary.BigEndian.AppendUint32(nil, FirstOID)),
		b.Set(join(prefix, kindMeta, metaID), binary.BigEndian.AppendUint64(nil, 2)),
	)
	if err == nil {
		err = s.engine.Apply(b, true)
	}
	if err = errors.Join(err, b.Close()); err != nil {
		return fmt.Errorf("store: create catalog %q: %w", name, err)
	}
	s.nextID++
	s.catalogs[name] = newCatalog(s, r.ID, r.OID, name)
	return nil
}

// DropCatalog removes a catalog with everything in it. Transactions that are open in it
// go on reading; their commits fail with ErrNoCatalog.
func (s *Store) DropCatalog(_ context.Context, name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return ErrClosed
	}
	c, ok := s.catalogs[name]
	if !ok {
		return ErrNoCatalog
	}
	c.seqMu.Lock()
	defer c.seqMu.Unlock()
	c.setDropped(true) // before the rows go: nobody must begin on what is left
	b := s.engine.NewBatch()
	err := errors.Join(b.Delete(catalogRecordKey(c.id)), b.DeleteRange(c.prefix, kv.PrefixEnd(c.prefix)))
	if err == nil {
		err = s.engine.Apply(b, true)
	}
	if err = errors.Join(err, b.Close()); err != nil {
		c.setDropped(false)
		return fmt.Errorf("store: drop catalog %q: %w", name, err)
	}
	delete(s.catalogs, name)
	return nil
}

// RenameCatalog gives a catalog another name.
func (s *Store) RenameCatalog(_ context.Context, name, newName string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return ErrClosed
	}
	c, ok := s.catalogs[name]
	if !ok {
		return ErrNoCatalog
	}
	if newName == "" {
		return fmt.Errorf("%w: empty catalog name", ErrInvalid)
	}
	if _, ok := s.catalogs[newName]; ok {
		return &ExistsError{Kind: ObjectCatalog, Name: newName}
	}
	b := s.engine.NewBatch()
	err := putRecord(b, catalogRecord{ID: c.id, OID: c.oid, Name: newName})
	if err == nil {
		err = s.engine.Apply(b, true)
	}
	if err = errors.Join(err, b.Close()); err != nil {
		return fmt.Errorf("store: rename catalog %q: %w", name, err)
	}
	c.name.Store(&newName)
	delete(s.catalogs, name)
	s.catalogs[newName] = c
	return nil
}

// Catalogs lists the catalogs by name.
func (s *Store) Catalogs() []CatalogInfo {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]CatalogInfo, 0, len(s.catalogs))
	for name, c := range s.catalogs {
		out = append(out, CatalogInfo{Name: name, OID: c.oid})
	}
	slices.SortFunc(out, func(a, b CatalogInfo) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// Catalog returns the catalog of the given name, reading its descriptors when it is
// first asked for.
func (s *Store) Catalog(name string) (*Catalog, error) {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil, ErrClosed
	}
	c, ok := s.catalogs[name]
	s.mu.Unlock()
	if !ok {
		return nil, ErrNoCatalog
	}
	if err := c.load(); err != nil {
		return nil, err
	}
	return c, nil
}
