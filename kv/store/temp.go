package store

import (
	"fmt"

	"github.com/eiderdb/eider/kv/memkv"
	"github.com/eiderdb/eider/kv/rel"
)

// tempSchemaBase is the first oid of temporary schemas, far above what a catalog gives out.
const tempSchemaBase = 4_000_000_000

// TempSpace holds the temporary tables of one session, in memory. At most one
// transaction uses it at a time.
type TempSpace struct {
	ns       *rel.Schema
	engine   *memkv.Engine
	schema   *schema
	counters rowCounters
	nextID   uint64
}

// NewTempSpace makes the space of a session; its schema is pg_temp_<sessionID>.
func NewTempSpace(sessionID uint32) *TempSpace {
	ts := &TempSpace{ns: &rel.Schema{
		OID:  tempSchemaBase + sessionID%200_000_000,
		Name: fmt.Sprintf("pg_temp_%d", sessionID), Version: 1,
	}}
	ts.Reset()
	return ts
}

// Schema returns the temporary schema.
func (ts *TempSpace) Schema() *rel.Schema { return ts.ns }

// Reset drops all temporary tables, as DISCARD does. No transaction may be open on the space.
func (ts *TempSpace) Reset() {
	ts.engine = memkv.New()
	ts.schema = newSchema()
	ts.schema.addSchema(ts.ns)
	ts.counters = rowCounters{}
	ts.nextID = 0
}

// commitTemp applies the transaction's writes to its TempSpace.
func (t *Txn) commitTemp() error {
	sp := &t.temp
	if t.opts.Temp == nil || sp.clean() {
		return nil
	}
	b := t.opts.Temp.engine.NewBatch()
	if err := sp.writeTo(b); err != nil {
		return err
	}
	if err := t.opts.Temp.engine.Apply(b, false); err != nil {
		return err
	}
	t.opts.Temp.schema = sp.current()
	return b.Close()
}

// endTemp does what ON COMMIT says: it empties or drops temporary tables.
func (t *Txn) endTemp() error {
	if t.opts.Temp == nil {
		return nil
	}
	var doomed []*rel.Table
	for tbl := range t.TempTables() {
		if tbl.OnCommit != "" {
			doomed = append(doomed, tbl)
		}
	}
	for _, tbl := range doomed {
		switch tbl.OnCommit {
		case "drop":
			if err := t.DropTable(tbl.OID); err != nil {
				return err
			}
		case "delete":
			if !t.tempTouched(tbl) {
				continue
			}
			if _, err := t.TruncateTable(tbl.OID); err != nil {
				return err
			}
		}
	}
	return nil
}

// tempTouched reports whether the transaction wrote rows of a temporary table.
func (t *Txn) tempTouched(tbl *rel.Table) bool {
	lo, hi := storageRange(t.temp.rows, tbl.Storage)
	return t.temp.ov.touches(lo, hi)
}
