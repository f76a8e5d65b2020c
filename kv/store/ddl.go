package store

import (
	"fmt"

	"github.com/eiderdb/eider/kv/rel"
	"github.com/eiderdb/eider/kv/row"
)

// NewOID gives out an oid. Oids of transactions that did not commit are not used again
// while the process lives.
func (t *Txn) NewOID() uint32 { return t.cat.nextOID.Add(1) - 1 }

// NewStorage gives out a storage number: the rows of a table under a new number start empty.
func (t *Txn) NewStorage() uint64 {
	s := t.newID()
	if t.main.made == nil {
		t.main.made = make(map[uint64]bool)
	}
	t.main.made[s] = true
	return s
}

// newID numbers storages and versions.
func (t *Txn) newID() uint64 { return t.cat.nextID.Add(1) - 1 }

func (t *Txn) newTempStorage() uint64 {
	t.opts.Temp.nextID++
	if t.temp.made == nil {
		t.temp.made = make(map[uint64]bool)
	}
	t.temp.made[t.opts.Temp.nextID] = true
	return t.opts.Temp.nextID
}

func (t *Txn) spaceOf(tbl *rel.Table) *space {
	if tbl.Temp {
		return &t.temp
	}
	return &t.main
}

// begin is what every change starts with.
func (t *Txn) begin(sp *space) error {
	if t.done {
		return ErrTxnDone
	}
	if t.frozen {
		return ErrInvalid
	}
	if sp == &t.temp {
		if t.opts.Temp == nil {
			return ErrNoTemp
		}
		return nil
	}
	if err := t.EnsureSnapshot(); err != nil {
		return err
	}
	t.wroteNow()
	return nil
}

// CreateSchema makes a schema.
func (t *Txn) CreateSchema(name string) (*rel.Schema, error) {
	return t.CreateSchemaOID(name, 0)
}

// CreateSchemaOID makes a schema with a fixed oid (public is made again with its own);
// oid 0 takes a new one.
func (t *Txn) CreateSchemaOID(name string, oid uint32) (*rel.Schema, error) {
	if err := t.begin(&t.main); err != nil {
		return nil, err
	}
	d := t.main.changed()
	if _, ok := d.schemaByName(name); ok {
		return nil, &ExistsError{Kind: ObjectSchema, Name: name}
	}
	if _, ok := d.schema(oid); ok && oid != 0 {
		return nil, &ExistsError{Kind: ObjectSchema, Name: name}
	}
	if oid == 0 {
		oid = t.NewOID()
	}
	s := &rel.Schema{OID: oid, Name: name, Version: t.newID()}
	t.main.recordSchema(s.OID, nil, s)
	d.addSchema(s)
	return s, nil
}

// DropSchema removes an empty schema.
func (t *Txn) DropSchema(oid uint32) error {
	if err := t.begin(&t.main); err != nil {
		return err
	}
	d := t.main.changed()
	s, ok := d.schema(oid)
	if !ok {
		return &NotFoundError{Kind: ObjectSchema, OID: oid}
	}
	if !d.empty(oid) {
		return ErrSchemaNotEmpty
	}
	t.main.recordSchema(oid, s, nil)
	d.removeSchema(s)
	return nil
}

// RenameSchema gives a schema another name.
func (t *Txn) RenameSchema(oid uint32, name string) error {
	s, ok := t.desc().schema(oid)
	if !ok {
		return &NotFoundError{Kind: ObjectSchema, OID: oid}
	}
	s = s.Clone()
	s.Name = name
	return t.PutSchema(s)
}

// PutSchema replaces a schema's descriptor; the store sets the version of its copy.
func (t *Txn) PutSchema(s *rel.Schema) error {
	if err := t.begin(&t.main); err != nil {
		return err
	}
	d := t.main.changed()
	cur, ok := d.schema(s.OID)
	if !ok {
		return &NotFoundError{Kind: ObjectSchema, OID: s.OID}
	}
	if other, ok := d.schemaByName(s.Name); ok && other.OID != s.OID {
		return &ExistsError{Kind: ObjectSchema, Name: s.Name}
	}
	s = s.Clone()
	s.Version = t.newID()
	t.main.recordSchema(s.OID, cur, s)
	d.removeSchema(cur)
	d.addSchema(s)
	return nil
}

// CreateTable makes a table or view from a description and returns its descriptor: the
// store assigns oid, version, storage, index oids and ids, and chooses the layout. For
// a temporary table (Temp) the schema is the session's.
func (t *Txn) CreateTable(tbl *rel.Table) (*rel.Table, error) {
	sp := t.spaceOf(tbl)
	if err := t.begin(sp); err != nil {
		return nil, err
	}
	tbl = tbl.Clone()
	d := sp.changed()
	if tbl.Temp {
		tbl.Schema = t.opts.Temp.ns.OID
	}
	if _, ok := d.schema(tbl.Schema); !ok {
		return nil, &NotFoundError{Kind: ObjectSchema, OID: tbl.Schema}
	}
	if tbl.Kind == 0 {
		tbl.Kind = rel.KindTable
	}
	tbl.OID = t.NewOID()
	tbl.Version = t.newID()
	tbl.Storage, tbl.Layout = 0, nil
	for i := range tbl.Columns {
		tbl.Columns[i].Num = int16(i + 1)
	}
	for i := range tbl.Indexes {
		tbl.Indexes[i].OID, tbl.Indexes[i].ID = t.NewOID(), uint32(i+1)
	}
	if tbl.Kind == rel.KindTable {
		if tbl.Temp {
			tbl.Storage = t.newTempStorage()
		} else {
			tbl.Storage = t.NewStorage()
		}
		layout, hidden := rel.ChooseLayout(tbl)
		tbl.Layout = layout
		for _, cols := range hidden {
			tbl.Indexes = append(tbl.Indexes, rel.Index{ID: uint32(len(tbl.Indexes) + 1), Columns: cols, Hidden: true})
		}
	}
	if err := checkTable(tbl); err != nil {
		return nil, err
	}
	if kind, name, ok := d.taken(tbl); ok {
		return nil, &ExistsError{Kind: kind, Name: name}
	}
	sp.recordTable(tbl.OID, nil, tbl)
	d.add(tbl)
	return tbl, nil
}

func checkTable(tbl *rel.Table) error {
	if len(tbl.Columns) > row.MaxFields {
		return fmt.Errorf("%w: %d columns", ErrInvalid, len(tbl.Columns))
	}
	if err := tbl.Check(); err != nil {
		return fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	return nil
}

// PutTable replaces a table's descriptor (ALTER) and returns the new one with the
// version that the store gave it. The oid, Temp and the layout stay; a new Storage must
// come from NewStorage, and the rows under the old one are gone at commit. Indexes with
// OID 0 are not accepted here: CreateIndex fills them.
func (t *Txn) PutTable(tbl *rel.Table) (*rel.Table, error) {
	sp := t.spaceOf(tbl)
	if err := t.begin(sp); err != nil {
		return nil, err
	}
	d := sp.changed()
	cur, ok := d.table(tbl.OID)
	if !ok {
		return nil, &NotFoundError{Kind: ObjectRelation, OID: tbl.OID, Name: tbl.Name}
	}
	tbl = tbl.Clone()
	if _, ok := d.schema(tbl.Schema); !ok {
		return nil, &NotFoundError{Kind: ObjectSchema, OID: tbl.Schema}
	}
	if err := checkTable(tbl); err != nil {
		return nil, err
	}
	if !sameLayout(cur, tbl) && tbl.Storage == cur.Storage {
		return nil, fmt.Errorf("%w: layout of %q changed without a new storage", ErrInvalid, tbl.Name)
	}
	tbl.Version = t.newID()
	d.remove(cur)
	if kind, name, ok := d.taken(tbl); ok {
		d.add(cur)
		return nil, &ExistsError{Kind: kind, Name: name}
	}
	if cur.Storage != tbl.Storage && cur.Storage != 0 {
		t.staysAsRead(sp, cur)
		sp.wipe(cur.Storage)
	}
	sp.recordTable(tbl.OID, cur, tbl)
	d.add(tbl)
	return tbl, nil
}

func sameLayout(a, b *rel.Table) bool {
	if len(a.Layout) != len(b.Layout) {
		return false
	}
	for i := range a.Layout {
		if a.Layout[i] != b.Layout[i] {
			return false
		}
	}
	return true
}

// staysAsRead makes Commit fail if another transaction commits changes to rows of tbl.
func (t *Txn) staysAsRead(sp *space, tbl *rel.Table) {
	if sp == &t.main && !sp.made[tbl.Storage] {
		t.stays = append(t.stays, dataDep{storage: tbl.Storage, seq: t.view.seq, name: tbl.Name})
	}
}

// HoldRows makes Commit fail if another transaction commits changes to rows of tbl: for
// what was derived from all of them, as a rewritten table or a constraint found to hold.
func (t *Txn) HoldRows(tbl *rel.Table) error {
	sp := t.spaceOf(tbl)
	if err := t.begin(sp); err != nil {
		return err
	}
	t.staysAsRead(sp, tbl)
	return nil
}

// DropTable removes a table or view with its rows.
func (t *Txn) DropTable(oid uint32) error {
	sp := &t.main
	if _, ok := t.tempDesc().table(oid); ok {
		sp = &t.temp
	}
	if err := t.begin(sp); err != nil {
		return err
	}
	d := sp.changed()
	cur, ok := d.table(oid)
	if !ok {
		return &NotFoundError{Kind: ObjectRelation, OID: oid}
	}
	sp.recordTable(oid, cur, nil)
	d.remove(cur)
	if cur.Storage != 0 {
		sp.wipe(cur.Storage)
	}
	if sp == &t.main && leavesGhost(cur) && !sp.made[cur.Storage] {
		d.addGhost(cur, t.cat.store.opts.MaxGhosts)
	}
	return nil
}

// TruncateTable removes all rows and returns the table's new descriptor.
func (t *Txn) TruncateTable(oid uint32) (*rel.Table, error) {
	sp := &t.main
	if _, ok := t.tempDesc().table(oid); ok {
		sp = &t.temp
	}
	if err := t.begin(sp); err != nil {
		return nil, err
	}
	d := sp.changed()
	cur, ok := d.table(oid)
	if !ok {
		return nil, &NotFoundError{Kind: ObjectRelation, OID: oid}
	}
	if cur.Kind != rel.KindTable {
		return nil, ErrNotTable
	}
	tbl := cur.Clone()
	tbl.Version = t.newID()
	if sp == &t.temp {
		tbl.Storage = t.newTempStorage()
	} else {
		tbl.Storage = t.NewStorage()
	}
	sp.wipe(cur.Storage)
	sp.recordTable(oid, cur, tbl)
	d.remove(cur)
	d.add(tbl)
	return tbl, nil
}

// CreateIndex adds an index or unique constraint to a table, filling it from the rows
// that the transaction sees, and returns the table's new descriptor. The store assigns
// OID and ID.
func (t *Txn) CreateIndex(tableOID uint32, idx rel.Index) (*rel.Table, error) {
	cur, ok := t.TableByOID(tableOID)
	if !ok {
		return nil, &NotFoundError{Kind: ObjectRelation, OID: tableOID}
	}
	if cur.Kind != rel.KindTable {
		return nil, ErrNotTable
	}
	sp := t.spaceOf(cur)
	tbl := cur.Clone()
	idx.OID, idx.ID = 0, 0
	if !idx.Hidden {
		idx.OID = t.NewOID()
	}
	for i := range tbl.Indexes {
		idx.ID = max(idx.ID, tbl.Indexes[i].ID)
	}
	idx.ID++
	tbl.Indexes = append(tbl.Indexes, idx)
	if _, ok := sp.current().relation(tbl.Schema, idx.Name); ok && !idx.Hidden {
		return nil, &ExistsError{Kind: ObjectRelation, Name: idx.Name}
	}
	it, err := t.Scan(cur, Access{})
	if err != nil {
		return nil, err
	}
	mark := t.Savepoint()
	tbl, err = t.PutTable(tbl)
	if err == nil {
		t.staysAsRead(sp, tbl)
		err = t.fillIndex(sp, tbl, &tbl.Indexes[len(tbl.Indexes)-1], it)
	}
	if cerr := it.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		if rerr := t.RollbackTo(mark); rerr != nil {
			return nil, rerr
		}
		return nil, err
	}
	return tbl, nil
}

func (t *Txn) fillIndex(sp *space, tbl *rel.Table, x *rel.Index, it *RowIter) error {
	for it.Next() {
		key, guarded, err := rel.AppendIndexKey(append(t.scratch[:0], sp.rows...), tbl, x, it.Tuple(), it.RowID())
		t.scratch = key
		if err != nil {
			return err
		}
		if guarded {
			if e := sp.ov.get(&t.probe, key); e != nil && !e.del {
				return t.violation(tbl, x, it.Tuple(), 0, false)
			}
		}
		t.putIndex(sp, tbl, x, key, guarded, it.RowID(), nil)
		if err := t.room(); err != nil {
			return err
		}
	}
	return it.Err()
}

// DropIndex removes an index from a table and returns the table's new descriptor.
func (t *Txn) DropIndex(tableOID, indexOID uint32) (*rel.Table, error) {
	cur, ok := t.TableByOID(tableOID)
	if !ok {
		return nil, &NotFoundError{Kind: ObjectRelation, OID: tableOID}
	}
	tbl := cur.Clone()
	for i := range tbl.Indexes {
		x := tbl.Indexes[i]
		if x.OID != indexOID || x.Hidden {
			continue
		}
		tbl.Indexes = append(tbl.Indexes[:i], tbl.Indexes[i+1:]...)
		sp := t.spaceOf(cur)
		if err := t.begin(sp); err != nil {
			return nil, err
		}
		// A row inserted meanwhile would leave an entry behind.
		t.staysAsRead(sp, cur)
		if err := t.wipeIndex(sp, cur, &x); err != nil {
			return nil, err
		}
		return t.PutTable(tbl)
	}
	return nil, &NotFoundError{Kind: ObjectIndex, OID: indexOID}
}
