package store_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/eiderdb/eider/kv/memkv"
	"github.com/eiderdb/eider/kv/rel"
	"github.com/eiderdb/eider/kv/store"
)

func simple(name string) *rel.Table {
	return &rel.Table{Schema: store.PublicOID, Name: name, Columns: cols("a", int8OID, "b", varcharOID)}
}

func create(t testing.TB, tx *store.Txn, tbl *rel.Table) *rel.Table {
	t.Helper()
	tbl, err := tx.CreateTable(tbl)
	must(t, err)
	return tbl
}

func commit(t testing.TB, tx *store.Txn) {
	t.Helper()
	must(t, tx.Commit(context.Background()))
}

func wantErr(t testing.TB, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("got %v, want %v", err, want)
	}
}

func TestDDLIsTransactional(t *testing.T) {
	c := openMem(t)
	reader := begin(c)
	must(t, reader.EnsureSnapshot())
	tx := begin(c)
	ns, err := tx.CreateSchema("s")
	must(t, err)
	tbl := simple("t")
	tbl.Schema = ns.OID
	tbl = create(t, tx, tbl)
	if tbl.OID < store.FirstOID || tbl.Storage == 0 || tbl.Version == 0 {
		t.Fatalf("descriptor %+v", tbl)
	}
	mark := tx.Savepoint()
	create(t, tx, simple("u"))
	must(t, tx.DropTable(tbl.OID))
	if _, ok := tx.TableByOID(tbl.OID); ok {
		t.Fatal("dropped table is visible")
	}
	must(t, tx.DropSchema(ns.OID))
	must(t, tx.RollbackTo(mark))
	if _, ok := tx.TableByName(store.PublicOID, "u"); ok {
		t.Fatal("rolled back table is visible")
	}
	wantErr(t, tx.DropSchema(ns.OID), store.ErrSchemaNotEmpty)
	_, err = tx.CreateTable(&rel.Table{Schema: ns.OID, Name: "t"})
	wantErr(t, err, store.ErrExists)
	_, err = tx.CreateSchema("s")
	wantErr(t, err, store.ErrExists)
	commit(t, tx)
	if _, ok := reader.SchemaByName("s"); ok {
		t.Fatal("a reader sees a later schema")
	}
	must(t, reader.Rollback())
	tx = begin(c)
	if got, ok := tx.TableByName(ns.OID, "t"); !ok || got.Version != tbl.Version {
		t.Fatal("committed table is not visible")
	}
	// A long name, and a swap of names in one transaction.
	long := create(t, tx, simple(strings.Repeat("n", 200)))
	a, b := tbl.Clone(), long.Clone()
	b.Schema = ns.OID
	a.Name = "tmp"
	a, err = tx.PutTable(a)
	must(t, err)
	b.Name = "t"
	_, err = tx.PutTable(b)
	must(t, err)
	a = a.Clone()
	a.Name = long.Name
	_, err = tx.PutTable(a)
	must(t, err)
	commit(t, tx)
	tx = begin(c)
	var names []string
	for tbl := range tx.Tables(ns.OID) {
		names = append(names, fmt.Sprint(tbl.OID))
	}
	equal(t, names, []string{fmt.Sprint(tbl.OID), fmt.Sprint(long.OID)})
	must(t, tx.Rollback())
}

func TestDDLConflicts(t *testing.T) {
	for name, c := range map[string]struct {
		first, second func(t *testing.T, tx *store.Txn, tbl *rel.Table) error
		want          error
	}{
		"same name": {createX, createX, store.ErrUnique},
		"insert, then dropped by another": {
			func(_ *testing.T, tx *store.Txn, tbl *rel.Table) error { return tx.DropTable(tbl.OID) },
			insertX, store.ErrSerialization,
		},
		"insert, then altered by another":   {renameX, insertX, store.ErrSerialization},
		"insert, then truncated by another": {truncateX, insertX, store.ErrSerialization},
		"truncate after an insert":          {insertX, truncateX, nil},
		"alter after an insert":             {insertX, renameX, nil},
		"index after an insert":             {insertX, indexX, store.ErrSerialization},
		"two alters":                        {renameX, renameX, store.ErrSerialization},
		"inserts":                           {insertX, insertX, nil},
	} {
		t.Run(name, func(t *testing.T) {
			cat := openMem(t)
			tx := begin(cat)
			tbl := create(t, tx, simple("t"))
			commit(t, tx)
			tx1, tx2 := begin(cat), begin(cat)
			must(t, tx1.EnsureSnapshot())
			must(t, tx2.EnsureSnapshot())
			must(t, c.first(t, tx1, tbl))
			must(t, c.second(t, tx2, tbl))
			commit(t, tx1)
			err := tx2.Commit(context.Background())
			if c.want == nil {
				must(t, err)
				return
			}
			wantErr(t, err, c.want)
			if s := err.Error(); !strings.Contains(s, "concurrent") && !strings.Contains(s, "unique") {
				t.Fatalf("a client would not retry %q", s)
			}
		})
	}
}

func createX(_ *testing.T, tx *store.Txn, _ *rel.Table) error {
	_, err := tx.CreateTable(simple("x"))
	return err
}

func insertX(_ *testing.T, tx *store.Txn, tbl *rel.Table) error {
	_, err := tx.Insert(tbl, tuple(1, "x"))
	return err
}

func renameX(_ *testing.T, tx *store.Txn, tbl *rel.Table) error {
	tbl = tbl.Clone()
	tbl.Name = "y"
	_, err := tx.PutTable(tbl)
	return err
}

func truncateX(_ *testing.T, tx *store.Txn, tbl *rel.Table) error {
	_, err := tx.TruncateTable(tbl.OID)
	return err
}

func indexX(_ *testing.T, tx *store.Txn, tbl *rel.Table) error {
	_, err := tx.CreateIndex(tbl.OID, rel.Index{Name: "i", Columns: []int16{1}, Unique: true})
	return err
}

func TestIndexes(t *testing.T) {
	c := openMem(t)
	tx := begin(c)
	tbl := create(t, tx, simple("t"))
	for i := range 3 {
		_, err := tx.Insert(tbl, tuple(3-i, "v"))
		must(t, err)
	}
	commit(t, tx)
	tx = begin(c)
	_, err := tx.CreateIndex(tbl.OID, rel.Index{Name: "twice", Columns: []int16{2}, Unique: true})
	wantErr(t, err, store.ErrUnique)
	if got, _ := tx.TableByOID(tbl.OID); len(got.Indexes) != 0 {
		t.Fatal("a failed index stays")
	}
	tbl, err = tx.CreateIndex(tbl.OID, rel.Index{Name: "i", Columns: []int16{1}, Unique: true})
	must(t, err)
	equal(t, rows(t, tx, tbl, store.Access{Index: &tbl.Indexes[0]}), []string{"1 v", "2 v", "3 v"})
	_, err = tx.CreateTable(simple("i"))
	wantErr(t, err, store.ErrExists)
	commit(t, tx)
	tx = begin(c)
	_, err = tx.Insert(tbl, tuple(2, "w"))
	wantErr(t, err, store.ErrUnique)
	var v *store.UniqueViolation
	if !errors.As(err, &v) || v.Index != "i" || v.Names[0] != "a" || v.RowID != 1 || !v.Visible {
		t.Fatalf("violation %+v", v)
	}
	dropped, err := tx.DropIndex(tbl.OID, tbl.Indexes[0].OID)
	must(t, err)
	_, err = tx.Insert(dropped, tuple(2, "w"))
	must(t, err)
	commit(t, tx)
	tx = begin(c)
	_, err = tx.CreateIndex(tbl.OID, rel.Index{Name: "i", Columns: []int16{1}})
	must(t, err)
	tbl, _ = tx.TableByOID(tbl.OID)
	equal(t, rows(t, tx, tbl, store.Access{Index: &tbl.Indexes[0], Eq: [][]byte{int8bin(2)}}), []string{"2 v", "2 w"})
	must(t, tx.Rollback())
}

func TestAddColumnAndTruncate(t *testing.T) {
	c := openMem(t)
	tx := begin(c)
	tbl := create(t, tx, simple("t"))
	_, err := tx.Insert(tbl, tuple(1, "x"))
	must(t, err)
	tbl = tbl.Clone()
	tbl.Columns = append(tbl.Columns, rel.Column{Num: 3, Name: "c", Type: int8OID, Mod: -1, HasMissing: true, Missing: int8bin(7)},
		rel.Column{Num: 4, Name: "d", Type: int8OID, Mod: -1})
	tbl, err = tx.PutTable(tbl)
	must(t, err)
	equal(t, rows(t, tx, tbl, store.Access{}), []string{"1 x 7 ~"})
	tbl, err = tx.CreateIndex(tbl.OID, rel.Index{Name: "c", Columns: []int16{3}})
	must(t, err)
	equal(t, rows(t, tx, tbl, store.Access{Index: &tbl.Indexes[0], Eq: [][]byte{int8bin(7)}}), []string{"1 x 7 ~"})
	commit(t, tx)
	tx = begin(c)
	mark := tx.Savepoint()
	empty, err := tx.TruncateTable(tbl.OID)
	must(t, err)
	equal(t, rows(t, tx, empty, store.Access{}), []string{})
	_, err = tx.Insert(empty, tuple(2, "y", 1, nil))
	must(t, err)
	must(t, tx.RollbackTo(mark))
	tbl = mustTable(t, tx, "t")
	equal(t, rows(t, tx, tbl, store.Access{}), []string{"1 x 7 ~"})
	empty, err = tx.TruncateTable(tbl.OID)
	must(t, err)
	_, err = tx.Insert(empty, tuple(2, "y", 1, nil))
	must(t, err)
	commit(t, tx)
	tx = begin(c)
	equal(t, rows(t, tx, mustTable(t, tx, "t"), store.Access{}), []string{"2 y 1 ~"})
	equal(t, rows(t, tx, tbl, store.Access{}), []string{}) // the old storage is empty
	must(t, tx.Rollback())
}

func TestTempTables(t *testing.T) {
	c := openMem(t)
	ts := store.NewTempSpace(42)
	temp := func() *store.Txn { return c.Begin(store.TxnOptions{Temp: ts}) }
	tx := temp()
	keep := simple("t")
	keep.Temp = true
	keep.Indexes = []rel.Index{{Name: "pk", Columns: []int16{1}, Unique: true}}
	keep = create(t, tx, keep)
	gone := simple("gone")
	gone.Temp, gone.OnCommit = true, "drop"
	create(t, tx, gone)
	emptied := simple("emptied")
	emptied.Temp, emptied.OnCommit = true, "delete"
	emptied = create(t, tx, emptied)
	for _, tbl := range []*rel.Table{keep, emptied} {
		_, err := tx.Insert(tbl, tuple(1, "x"))
		must(t, err)
	}
	if tx.HasWrites() {
		t.Fatal("temporary tables count as writes")
	}
	seq := c.Seq()
	commit(t, tx)
	if c.Seq() != seq {
		t.Fatal("a commit of temporary tables took a number")
	}
	tx = temp()
	if _, ok := tx.TempTableByName("gone"); ok {
		t.Fatal("ON COMMIT DROP did not")
	}
	keep, ok := tx.TempTableByName("t")
	if !ok {
		t.Fatal("temporary table is gone")
	}
	equal(t, rows(t, tx, keep, store.Access{}), []string{"1 x"})
	emptied, _ = tx.TempTableByName("emptied")
	equal(t, rows(t, tx, emptied, store.Access{}), []string{})
	_, err := tx.Insert(keep, tuple(1, "y"))
	wantErr(t, err, store.ErrUnique)
	must(t, tx.Update(keep, 0, tuple(1, "x"), tuple(2, "z")))
	wantErr(t, tx.Delete(keep, 0, tuple(1, "x")), store.ErrRowChanged)
	must(t, tx.Rollback())
	tx = temp()
	equal(t, rows(t, tx, keep, store.Access{Index: &keep.Indexes[0]}), []string{"1 x"})
	if tbl, ok := tx.TableByName(tx.TempSchema().OID, "t"); !ok || tbl.OID != keep.OID {
		t.Fatal("not found by schema")
	}
	must(t, tx.DropTable(keep.OID))
	commit(t, tx)
	ts.Reset()
	tx = temp()
	for range tx.TempTables() {
		t.Fatal("a table after Reset")
	}
	must(t, tx.Rollback())
	tx = begin(c)
	_, err = tx.CreateTable(gone)
	wantErr(t, err, store.ErrNoTemp)
	must(t, tx.Rollback())
}

func TestGhosts(t *testing.T) {
	ctx := context.Background()
	s, err := store.Open(ctx, memkv.New(), store.Options{MaxGhosts: 2})
	must(t, err)
	defer func() { must(t, s.Close()) }()
	must(t, s.CreateCatalog(ctx, "lake"))
	c, err := s.Catalog("lake")
	must(t, err)
	ghosts := func() (names []string) {
		tx := begin(c)
		defer func() { must(t, tx.Rollback()) }()
		for i := range 4 {
			if g, ok := tx.GhostTable(store.PublicOID, fmt.Sprint("ducklake_inlined_data_1_", i)); ok {
				names = append(names, g.Name[len(g.Name)-1:])
				equal(t, rows(t, tx, g, store.Access{}), []string{})
			}
		}
		return names
	}
	for i := range 4 {
		tx := begin(c)
		create(t, tx, simple(fmt.Sprint("ducklake_inlined_data_1_", i)))
		create(t, tx, simple(fmt.Sprint("other", i)))
		commit(t, tx)
	}
	for i := range 3 {
		tx := begin(c)
		for _, name := range []string{"ducklake_inlined_data_1_", "other"} {
			must(t, tx.DropTable(mustTable(t, tx, fmt.Sprint(name, i)).OID))
		}
		commit(t, tx)
	}
	equal(t, ghosts(), []string{"1", "2"})
	tx := begin(c)
	create(t, tx, simple("ducklake_inlined_data_1_1"))
	commit(t, tx)
	equal(t, ghosts(), []string{"2"})
}

func TestExportedSnapshot(t *testing.T) {
	c := openMem(t)
	tx := begin(c)
	tbl := create(t, tx, simple("t"))
	_, err := tx.Insert(tbl, tuple(1, "x"))
	must(t, err)
	commit(t, tx)
	a := begin(c)
	id, err := a.ExportSnapshot()
	must(t, err)
	tx = begin(c)
	_, err = tx.Insert(tbl, tuple(2, "y"))
	must(t, err)
	commit(t, tx)
	b := begin(c)
	must(t, b.SetSnapshot(id))
	equal(t, rows(t, b, tbl, store.Access{}), []string{"1 x"})
	wantErr(t, b.SetSnapshot(id), store.ErrSnapshotInUse)
	must(t, a.Rollback())
	equal(t, rows(t, b, tbl, store.Access{}), []string{"1 x"})
	must(t, b.Rollback())
	wantErr(t, begin(c).SetSnapshot(id), store.ErrNoSnapshot)
}

func TestCatalogs(t *testing.T) {
	ctx := context.Background()
	e := memkv.New()
	s, err := store.Open(ctx, e, store.Options{MaxTxnBytes: 10_000})
	must(t, err)
	defer func() { must(t, s.Close()) }()
	for _, name := range []string{"b", "a"} {
		must(t, s.CreateCatalog(ctx, name))
	}
	wantErr(t, s.CreateCatalog(ctx, "a"), store.ErrExists)
	must(t, s.RenameCatalog(ctx, "b", "c"))
	_, err = s.Catalog("b")
	wantErr(t, err, store.ErrNoCatalog)
	equal(t, s.Catalogs(), []store.CatalogInfo{{Name: "a", OID: 16385}, {Name: "c", OID: 16384}})
	c, err := s.Catalog("a")
	must(t, err)
	tx := begin(c)
	tbl := create(t, tx, simple("t"))
	for i := 0; ; i++ {
		if _, err = tx.Insert(tbl, tuple(i, "some text")); err != nil {
			break
		}
	}
	wantErr(t, err, store.ErrTxnTooLarge)
	must(t, tx.Rollback())
	tx = begin(c)
	tbl = create(t, tx, simple("t"))
	_, err = tx.Insert(tbl, tuple(1, "x"))
	must(t, err)
	must(t, s.DropCatalog(ctx, "a"))
	wantErr(t, tx.Commit(ctx), store.ErrNoCatalog)
	wantErr(t, begin(c).EnsureSnapshot(), store.ErrNoCatalog)
	wantErr(t, s.DropCatalog(ctx, "a"), store.ErrNoCatalog)
}

// A store opened again has everything, and gives out new ids only.
func TestReopenStore(t *testing.T) {
	ctx := context.Background()
	e := memkv.New()
	s1, err := store.Open(ctx, e, store.Options{})
	must(t, err)
	must(t, s1.CreateCatalog(ctx, "lake"))
	c, err := s1.Catalog("lake")
	must(t, err)
	tx := begin(c)
	tbl := create(t, tx, simple("ducklake_inlined_data_1_1"))
	_, err = tx.Insert(tbl, tuple(1, "x"))
	must(t, err)
	gone := create(t, tx, simple("ducklake_inlined_data_1_2"))
	commit(t, tx)
	tx = begin(c)
	must(t, tx.DropTable(gone.OID))
	commit(t, tx)
	// The engine stays open: a second store over it reads what a new process would.
	s2, err := store.Open(ctx, e, store.Options{})
	must(t, err)
	defer func() { must(t, s2.Close()) }()
	c, err = s2.Catalog("lake")
	must(t, err)
	tx = begin(c)
	tbl = mustTable(t, tx, "ducklake_inlined_data_1_1")
	equal(t, rows(t, tx, tbl, store.Access{}), []string{"1 x"})
	if _, ok := tx.GhostTable(store.PublicOID, "ducklake_inlined_data_1_2"); !ok {
		t.Fatal("ghost is not kept")
	}
	if oid := tx.NewOID(); oid <= gone.OID {
		t.Fatalf("oid %d given out twice", oid)
	}
	if st := tx.NewStorage(); st <= gone.Storage {
		t.Fatalf("storage %d given out twice", st)
	}
	must(t, tx.Rollback())
}
