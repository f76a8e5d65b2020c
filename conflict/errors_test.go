package conflict_test

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/eiderdb/eider/conflict"
	"github.com/eiderdb/eider/lake/retry"
)

// constructors are all functions that make a Violation. TestEveryConstructor keeps the
// list complete.
var constructors = map[string]any{
	"BadSpan":               conflict.BadSpan,
	"BaseExpired":           conflict.BaseExpired,
	"ChangesRemoved":        conflict.ChangesRemoved,
	"FileDeleted":           conflict.FileDeleted,
	"FileGone":              conflict.FileGone,
	"OrphanScan":            conflict.OrphanScan,
	"OrphanScanFolder":      conflict.OrphanScanFolder,
	"OrphanScanOld":         conflict.OrphanScanOld,
	"ScheduleEarly":         conflict.ScheduleEarly,
	"SnapshotsPinned":       conflict.SnapshotsPinned,
	"SnapshotsSpared":       conflict.SnapshotsSpared,
	"SnapshotsTagged":       conflict.SnapshotsTagged,
	"TaggedSpared":          conflict.TaggedSpared,
	"BeginsLater":           conflict.BeginsLater,
	"ChangesUndone":         conflict.ChangesUndone,
	"ChangesUnreadable":     conflict.ChangesUnreadable,
	"ChangesUnsaid":         conflict.ChangesUnsaid,
	"ColumnGone":            conflict.ColumnGone,
	"CommittedAlready":      conflict.CommittedAlready,
	"CounterBack":           conflict.CounterBack,
	"CounterSpent":          conflict.CounterSpent,
	"DeadReference":         conflict.DeadReference,
	"DeleteCountBeyond":     conflict.DeleteCountBeyond,
	"DeleteOfEndedFile":     conflict.DeleteOfEndedFile,
	"DeleteOfForeignFile":   conflict.DeleteOfForeignFile,
	"DeletePosition":        conflict.DeletePosition,
	"DeleteRace":            conflict.DeleteRace,
	"DeletedTwice":          conflict.DeletedTwice,
	"DeletesDropped":        conflict.DeletesDropped,
	"FileScheduled":         conflict.FileScheduled,
	"FormatRefused":         conflict.FormatRefused,
	"FormatTooNew":          conflict.FormatTooNew,
	"FormatUnsaved":         conflict.FormatUnsaved,
	"HeadRemoved":           conflict.HeadRemoved,
	"IDBeyondCounter":       conflict.IDBeyondCounter,
	"IDReused":              conflict.IDReused,
	"InlinedDeletesDropped": conflict.InlinedDeletesDropped,
	"InlinedTwice":          conflict.InlinedTwice,
	"InlinedShape":          conflict.InlinedShape,
	"MergeOfDeletedRows":    conflict.MergeOfDeletedRows,
	"NameTaken":             conflict.NameTaken,
	"NegativeCount":         conflict.NegativeCount,
	"NextRowIDBack":         conflict.NextRowIDBack,
	"NextRowIDMoved":        conflict.NextRowIDMoved,
	"RecordCountMoved":      conflict.RecordCountMoved,
	"RowIDsUnread":          conflict.RowIDsUnread,
	"NullID":                conflict.NullID,
	"PathTaken":             conflict.PathTaken,
	"RegistryDangling":      conflict.RegistryDangling,
	"RegistryTwice":         conflict.RegistryTwice,
	"RewriteOfOtherDeletes": conflict.RewriteOfOtherDeletes,
	"RowCount":              conflict.RowCount,
	"CompactionDated":       conflict.CompactionDated,
	"RowIDColumn":           conflict.RowIDColumn,
	"RowIDShape":            conflict.RowIDShape,
	"RowIDsChange":          conflict.RowIDsChange,
	"RowIDsLost":            conflict.RowIDsLost,
	"RowIDsShared":          conflict.RowIDsShared,
	"RowsDropped":           conflict.RowsDropped,
	"ScheduledLive":         conflict.ScheduledLive,
	"SchemaNotEmpty":        conflict.SchemaNotEmpty,
	"SecondDeleteFile":      conflict.SecondDeleteFile,
	"SnapshotNotNext":       conflict.SnapshotNotNext,
	"SnapshotRowMissing":    conflict.SnapshotRowMissing,
	"SnapshotTime":          conflict.SnapshotTime,
	"SnapshotTimeMoved":     conflict.SnapshotTimeMoved,
	"SourceGone":            conflict.SourceGone,
	"TableDropped":          conflict.TableDropped,
	"TableEmptied":          conflict.TableEmptied,
	"TableGone":             conflict.TableGone,
	"TableTwice":            conflict.TableTwice,
	"TableWithoutColumns":   conflict.TableWithoutColumns,
	"TextSortFlush":         conflict.TextSortFlush,
	"TwoLive":               conflict.TwoLive,
	"Unverified":            conflict.Unverified,
	"ViewGone":              conflict.ViewGone,
}

func TestEveryConstructor(t *testing.T) {
	t.Parallel()
	found := map[string]bool{}
	for _, f := range sources(t, ".") {
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Recv != nil || !fn.Name.IsExported() || fn.Type.Results == nil || len(fn.Type.Results.List) != 1 {
				continue
			}
			if id, ok := fn.Type.Results.List[0].Type.(*ast.Ident); ok && id.Name == "Violation" {
				found[fn.Name.Name] = true
				if constructors[fn.Name.Name] == nil {
					t.Errorf("%s is not in the list of constructors", fn.Name.Name)
				}
			}
		}
	}
	for name := range constructors {
		if !found[name] {
			t.Errorf("%s was not found", name)
		}
	}
}

// hostile draws texts that look like the words of the client's retry rule.
func hostile() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.SampledFrom([]string{
			"unique_x", "conflict", "Primary Key", `"UNIQUE"`, "CONCURRENTLY", "primary key", "conflictunique", "ünïqueunique",
			"\u2060unique", "%s", "%!d(conflict)", `a"b`, "", "\x00", "İconflict", "primary\tkey", "x.Conflict.Primary Key",
		}),
		rapid.StringOf(rapid.SampledFrom([]rune(`uniqecofltrapmyk "'ſK`))),
		rapid.String(),
		rapid.Custom(func(t *rapid.T) string {
			w := rapid.SampledFrom(retry.Words()).Draw(t, "word")
			return rapid.String().Draw(t, "before") + strings.ToUpper(w[:3]) + w[3:] + rapid.String().Draw(t, "after")
		}),
	)
}

func drawArg(t *rapid.T, typ reflect.Type) reflect.Value {
	switch typ {
	case reflect.TypeFor[string]():
		return reflect.ValueOf(hostile().Draw(t, "text"))
	case reflect.TypeFor[int64]():
		return reflect.ValueOf(rapid.Int64().Draw(t, "number"))
	case reflect.TypeFor[int]():
		return reflect.ValueOf(rapid.Int().Draw(t, "number"))
	case reflect.TypeFor[[]int64]():
		return reflect.ValueOf(rapid.SliceOfN(rapid.Int64(), 0, 9).Draw(t, "numbers"))
	case reflect.TypeFor[[]string]():
		return reflect.ValueOf(rapid.SliceOfN(hostile(), 0, 4).Draw(t, "texts"))
	case reflect.TypeFor[error]():
		return reflect.ValueOf(errors.New(hostile().Draw(t, "error")))
	case reflect.TypeFor[conflict.TableRef]():
		return reflect.ValueOf(conflict.TableRef{
			ID: rapid.Int64().Draw(t, "id"), Schema: hostile().Draw(t, "schema"), Name: hostile().Draw(t, "name"),
		})
	case reflect.TypeFor[conflict.Change]():
		return reflect.ValueOf(conflict.Change{
			Kind: rapid.SampledFrom(conflict.ChangeKinds()).Draw(t, "kind"), ID: 1, Schema: hostile().Draw(t, "schema"), Name: hostile().Draw(t, "name"),
		})
	}
	t.Fatalf("no generator for %v", typ)
	return reflect.Value{}
}

// The client decides by the text alone, so the text must say what the violation says,
// whatever names it quotes.
func TestTextsAndRetry(t *testing.T) {
	t.Parallel()
	for name, fn := range constructors {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				f := reflect.ValueOf(fn)
				var args []reflect.Value
				for i := range f.Type().NumIn() {
					args = append(args, drawArg(t, f.Type().In(i)))
				}
				v := f.Call(args)[0].Interface().(conflict.Violation)
				if v.Code == "" || len(v.SQLState) != 5 || v.Text == "" {
					t.Fatalf("incomplete: %+v", v)
				}
				if v.Retry != (v.SQLState == "40001") {
					t.Fatalf("retry %v with SQLSTATE %s", v.Retry, v.SQLState)
				}
				if v.Retry {
					if !retry.Is(v.Text) {
						t.Fatalf("a client would not retry: %q", v.Text)
					}
					return
				}
				for _, s := range []string{v.Text, v.Detail, v.Hint, v.Text + "\nDETAIL:  " + v.Detail + "\nHINT:  " + v.Hint, v.String()} {
					if retry.Is(s) {
						t.Fatalf("a client would retry: %q", s)
					}
				}
			})
		})
	}
}

// Every text of a refusal is made by a constructor, so that the property above is about
// all of them: nobody else fills a Violation in or changes one.
func TestOnlyConstructorsMakeViolations(t *testing.T) {
	t.Parallel()
	for _, dir := range []string{".", "hold", "../translate", "../translate/guard"} {
		for path, f := range sources(t, dir) {
			if dir == "." && strings.HasPrefix(filepath.Base(path), "errors") {
				continue
			}
			ast.Inspect(f, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.CompositeLit:
					for _, e := range n.Elts {
						if kv, ok := e.(*ast.KeyValueExpr); ok && (isIdent(kv.Key, "SQLState") || isIdent(kv.Key, "Text") && isViolation(n.Type)) {
							t.Errorf("%s makes a Violation by hand", path)
						}
					}
				case *ast.AssignStmt:
					for _, l := range n.Lhs {
						if sel, ok := l.(*ast.SelectorExpr); ok && (sel.Sel.Name == "SQLState" || sel.Sel.Name == "Text") && isIdent(sel.X, "v") {
							t.Errorf("%s changes a Violation", path)
						}
					}
				}
				return true
			})
		}
	}
}

// Package guard has one place that turns a refusal into an error of the wire; all other
// errors of its own would be texts that nobody checks.
func TestGuardRefusesInOnePlace(t *testing.T) {
	t.Parallel()
	made := map[string][]string{}
	for path, f := range sources(t, "../translate/guard") {
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			ast.Inspect(fn, func(n ast.Node) bool {
				if sel, ok := n.(*ast.SelectorExpr); ok && isIdent(sel.X, "pgerr") && (sel.Sel.Name == "New" || sel.Sel.Name == "Wrap" || sel.Sel.Name == "Error") {
					made[fn.Name.Name] = append(made[fn.Name.Name], path)
				}
				return true
			})
		}
	}
	for name, where := range made {
		if name != "refusal" {
			t.Errorf("%s in %v makes an error of the wire", name, where)
		}
	}
	if len(made) == 0 {
		t.Error("nothing was found: the test looks in the wrong place")
	}
}

func isIdent(e ast.Expr, name string) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == name
}

func isViolation(e ast.Expr) bool {
	if sel, ok := e.(*ast.SelectorExpr); ok {
		return sel.Sel.Name == "Violation"
	}
	return isIdent(e, "Violation")
}

// sources parses the Go files of a folder without its tests.
func sources(t *testing.T, dir string) map[string]*ast.File {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]*ast.File{}
	for _, p := range paths {
		if strings.HasSuffix(p, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), p, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		out[p] = f
	}
	return out
}
