package ast

// Stmt is any statement node.
type Stmt interface{ stmt() }

type stmtNode struct{}

func (stmtNode) stmt() {}

// Parsed is one statement with the extent of its text.
type Parsed struct {
	Stmt       Stmt
	Start, End int // byte offsets in the batch, End excludes the semicolon
	Params     int // highest $n
	Slots      int // number of literal slots
	// Fixed are the slots of literals that became part of the statement's structure
	// instead of a Literal: type modifiers, interval precisions, option values.
	Fixed []int
}

// Select is a query expression: WITH, set operations, VALUES, ORDER BY, LIMIT.
// Exactly one of Core, SetOp, Values is set.
type Select struct {
	stmtNode
	Pos      int
	With     *With
	Core     *SelectCore
	SetOp    *SetOp
	Values   [][]Expr
	OrderBy  []OrderItem
	Limit    Expr // nil: none (also LIMIT ALL)
	HasLimit bool // LIMIT or FETCH was written, LIMIT ALL included
	Offset   Expr
	WithTies bool   // FETCH FIRST n ROWS WITH TIES
	Lock     string // "", "update", "share", ... (FOR UPDATE)
	LockWait string // "", "nowait", "skip locked"
	Locks    []LockClause
}

// SelectCore is one SELECT … FROM … WHERE … GROUP BY … HAVING.
type SelectCore struct {
	Pos           int
	Distinct      bool
	DistinctOn    []Expr
	Targets       []Target
	From          []TableExpr
	Where         Expr
	GroupBy       []GroupItem
	GroupDistinct bool
	Having        Expr
	Windows       []NamedWindow
	Into          *Name // SELECT INTO
}

// NamedWindow is an entry of the WINDOW clause.
type NamedWindow struct {
	Name   string
	Window Window
}

// GroupItem is one GROUP BY element: a plain expression, or grouping sets.
type GroupItem struct {
	Expr Expr        // plain
	Kind string      // "", "rollup", "cube", "sets", "empty"
	Sets []GroupItem // members of rollup/cube/sets; a member that is a list has Kind "list"
}

// Target is one select-list or RETURNING entry.
type Target struct {
	Expr  Expr
	Alias string // "" when absent
}

// SetOp is left UNION|INTERSECT|EXCEPT [ALL] right.
type SetOp struct {
	Op          string // "union", "intersect", "except"
	All         bool
	Left, Right *Select
}

// OrderItem is one ORDER BY key.
type OrderItem struct {
	Expr       Expr
	Desc       bool
	NullsFirst *bool // nil: PostgreSQL's default (last when ascending, first when descending)
	Using      string
}

// With is a WITH clause.
type With struct {
	Recursive bool
	CTEs      []CTE
}

// CTE is one WITH entry; Stmt is *Select, *Insert, *Update or *Delete.
type CTE struct {
	Pos          int
	Name         string
	Columns      []string
	Stmt         Stmt
	Materialized *bool // nil: not said
}

// TableExpr is a FROM item.
type TableExpr interface{ tableExpr() }

type tableNode struct{}

func (tableNode) tableExpr() {}

// Alias is [AS] name [(c1, …)]; ColDefs for function column definition lists.
type Alias struct {
	Name    string
	Columns []string
	ColDefs []ColumnDef
}

// TableRef names a table, view or CTE.
type TableRef struct {
	tableNode
	Name   Name
	Only   bool
	Alias  Alias
	Sample string // TABLESAMPLE method, "" when absent
	// SampleArgs are the method's arguments.
	SampleArgs []Expr
}

// LockClause is one FOR UPDATE|SHARE… [OF names].
type LockClause struct {
	Strength string
	Of       []Name
}

// SubqueryRef is [LATERAL] (query) AS alias.
type SubqueryRef struct {
	tableNode
	Pos     int
	Lateral bool
	Query   *Select
	Alias   Alias
}

// FuncRef is [LATERAL] f(args) [WITH ORDINALITY] AS alias, or ROWS FROM (f(args), …) in its place.
type FuncRef struct {
	tableNode
	Pos        int
	Lateral    bool
	Func       Expr       // *FuncCall; nil for ROWS FROM
	Rows       []RowsFunc // of ROWS FROM
	Ordinality bool
	Alias      Alias
}

// RowsFunc is f(args) [AS (columns)] in ROWS FROM.
type RowsFunc struct {
	Func    Expr
	ColDefs []ColumnDef
}

// Join is left [kind] JOIN right [ON|USING|NATURAL].
type Join struct {
	tableNode
	Pos         int
	Kind        string // "inner", "left", "right", "full", "cross"
	Left, Right TableExpr
	On          Expr
	Using       []string
	UsingAlias  string
	Natural     bool
	Alias       Alias // (a JOIN b) AS alias
}

// Insert is INSERT INTO.
type Insert struct {
	stmtNode
	Pos        int
	With       *With
	Table      Name
	Alias      string
	Columns    []string
	ColumnPos  []int   // where each of Columns stands
	Overriding string  // "", "system", "user"
	Query      *Select // nil for DEFAULT VALUES
	OnConflict *OnConflict
	Returning  []Target
}

// OnConflict is ON CONFLICT … DO NOTHING | DO UPDATE.
type OnConflict struct {
	Pos         int // of the column list's parenthesis
	Columns     []Expr
	Constraint  string
	Where       Expr
	DoUpdate    []Assignment // nil: DO NOTHING
	UpdateWhere Expr
}

// Assignment is SET col = expr, or (c1, c2) = (row or subquery).
type Assignment struct {
	Pos     int
	Columns []string
	Multi   bool // (c1, …) = was written: Expr is a row or a subquery
	Expr    Expr
}

// Update is UPDATE … SET … FROM … WHERE.
type Update struct {
	stmtNode
	Pos       int
	With      *With
	Table     Name
	Only      bool
	Alias     string
	Set       []Assignment
	From      []TableExpr
	Where     Expr
	Returning []Target
}

// Delete is DELETE FROM … USING … WHERE.
type Delete struct {
	stmtNode
	Pos       int
	With      *With
	Table     Name
	Only      bool
	Alias     string
	Using     []TableExpr
	Where     Expr
	Returning []Target
}

// Truncate is TRUNCATE TABLE.
type Truncate struct {
	stmtNode
	Tables          []Name
	RestartIdentity bool
	Cascade         bool
}

// Copy is COPY … TO STDOUT or FROM STDIN. Exactly one of Table, Query is set.
type Copy struct {
	stmtNode
	Pos        int
	Table      *Name
	Columns    []string
	Query      Stmt   // *Select or DML with RETURNING
	From       bool   // FROM STDIN
	ServerFile bool   // a file or program was named, which the server refuses
	File       string // its name
	Program    bool
	Options    []Option
	Where      Expr
}

// Option is a name with an optional value, as in COPY or WITH (...) lists.
type Option struct {
	Pos   int
	Name  string   // lower case
	Value string   // "" when absent
	Set   bool     // a value was written
	List  []string // (col, col) or (*) values
}

// CreateTable is CREATE [TEMP] TABLE.
type CreateTable struct {
	stmtNode
	Pos         int
	Name        Name
	IfNotExists bool
	Temp        bool
	Unlogged    bool
	OnCommit    string // "", "preserve", "delete", "drop"
	Columns     []ColumnDef
	Constraints []Constraint
	Like        []LikeClause
	As          *Select // CREATE TABLE AS
	AsColumns   []string
	WithNoData  bool
	Options     []Option
	Unsupported string // a feature that parses but is not done: "PARTITION BY", "INHERITS", …
}

// LikeClause is LIKE table [INCLUDING …].
type LikeClause struct {
	Table   Name
	Options []string
}

// ColumnDef is a column of CREATE TABLE or ADD COLUMN.
type ColumnDef struct {
	Pos         int
	Name        string
	Type        TypeName
	Collation   string
	Constraints []Constraint
}

// Constraint is a column or table constraint.
type Constraint struct {
	Pos              int
	Name             string
	Kind             string // "not null", "null", "default", "primary key", "unique", "check", "references", "generated", "identity", "exclude"
	Columns          []string
	Expr             Expr   // default, check, generated
	Text             string // source text of Expr
	Ref              *Name
	RefColumns       []string
	Include          []string // INCLUDE (columns) of a key
	NullsNotDistinct bool
	Always           bool
}

// CreateIndex is CREATE [UNIQUE] INDEX.
type CreateIndex struct {
	stmtNode
	Pos          int
	Unique       bool
	Concurrently bool
	IfNotExists  bool
	Name         string
	Table        Name
	Method       string
	Columns      []IndexColumn
	Include      []string
	Where        Expr

	NullsNotDistinct bool
}

// IndexColumn is an index key.
type IndexColumn struct {
	Expr       Expr // *ColumnRef for a plain column
	Desc       bool
	NullsFirst *bool
	Collation  string
	OpClass    string
}

// CreateView is CREATE [OR REPLACE] [TEMP] VIEW.
type CreateView struct {
	stmtNode
	Pos          int
	Name         Name
	Replace      bool
	Temp         bool
	Columns      []string
	Query        *Select
	QueryText    string
	Materialized bool
	IfNotExists  bool // materialized views only
}

// CreateSchema is CREATE SCHEMA.
type CreateSchema struct {
	stmtNode
	Pos           int
	Name          string
	IfNotExists   bool
	Authorization string
}

// CreateDatabase is CREATE DATABASE.
type CreateDatabase struct {
	stmtNode
	Pos     int
	Name    string
	Options []Option
}

// DropDatabase is DROP DATABASE.
type DropDatabase struct {
	stmtNode
	Pos      int
	Name     string
	IfExists bool
	Force    bool
}

// Drop is DROP TABLE|VIEW|SCHEMA|INDEX|SEQUENCE|TYPE|MATERIALIZED VIEW.
type Drop struct {
	stmtNode
	Pos          int
	Kind         string // "table", "view", "schema", "index", "sequence", "type", "materialized view"
	Names        []Name // a schema is in Name.Name
	IfExists     bool
	Cascade      bool
	Concurrently bool
}

// AlterTable is ALTER TABLE|VIEW|INDEX with its actions.
type AlterTable struct {
	stmtNode
	Pos      int
	Kind     string // "table", "view", "index"
	Name     Name
	IfExists bool
	Only     bool
	Actions  []AlterAction
}

// AlterAction is one ALTER TABLE action.
type AlterAction struct {
	Pos         int
	Kind        string // "add column", "drop column", "rename column", "rename to", "set schema", "set default", "drop default", "set not null", "drop not null", "set type", "add constraint", "drop constraint", "rename constraint", "owner to"
	Column      string
	NewName     string
	IfExists    bool
	IfNotExists bool
	Cascade     bool
	Def         *ColumnDef
	Type        *TypeName
	Collation   string // SET DATA TYPE … COLLATE
	Using       Expr
	Expr        Expr
	Text        string
	Constraint  *Constraint
}

// AlterSchema is ALTER SCHEMA … RENAME TO.
type AlterSchema struct {
	stmtNode
	Pos           int
	Name, NewName string
	Owner         string
}

// AlterDatabase is ALTER DATABASE name RENAME TO | SET | RESET.
type AlterDatabase struct {
	stmtNode
	Pos           int
	Name, NewName string
	Set           *Set   // SET name = value
	Reset         *Reset // RESET name | ALL
}

// Comment is COMMENT ON kind name IS text.
type Comment struct {
	stmtNode
	Pos    int
	Kind   string // "table", "column", "view", "schema", "database", "index"
	Name   Name
	Column string
	Text   *string // nil: NULL
}

// Transaction is BEGIN, COMMIT, ROLLBACK, SAVEPOINT, RELEASE, ROLLBACK TO, and
// SET TRANSACTION.
type Transaction struct {
	stmtNode
	Pos        int
	Kind       string // "begin", "start", "commit", "rollback", "savepoint", "release", "rollback to", "set", "set session", "prepare", "commit prepared", "rollback prepared"
	Name       string // savepoint or gid
	Isolation  string // "", "read uncommitted", "read committed", "repeatable read", "serializable"
	ReadOnly   *bool
	Deferrable *bool
	Snapshot   string // SET TRANSACTION SNAPSHOT 'id'
	Chain      bool
	ViaEnd     bool // END was written
}

// Set is SET [SESSION|LOCAL] name = value | TO DEFAULT.
type Set struct {
	stmtNode
	Pos     int
	Name    string // lower case, dotted for custom variables
	Local   bool
	Values  []string
	Default bool
	Special string // "time zone", "session authorization", "role", "names", "constraints"
}

// Reset is RESET name | ALL.
type Reset struct {
	stmtNode
	Name string
	All  bool
}

// Show is SHOW name | ALL.
type Show struct {
	stmtNode
	Pos  int
	Name string
	All  bool
}

// Discard is DISCARD ALL|PLANS|SEQUENCES|TEMP.
type Discard struct {
	stmtNode
	What string
}

// Prepare is PREPARE name [(types)] AS stmt.
type Prepare struct {
	stmtNode
	Pos    int
	Name   string
	Types  []TypeName
	Stmt   Stmt
	Text   string
	Params int
}

// Execute is EXECUTE name [(args)].
type Execute struct {
	stmtNode
	Pos  int
	Name string
	Args []Expr
}

// Deallocate is DEALLOCATE name | ALL.
type Deallocate struct {
	stmtNode
	Name string
	All  bool
}

// Declare is DECLARE name CURSOR FOR query.
type Declare struct {
	stmtNode
	Pos    int
	Name   string
	Binary bool
	Hold   bool
	Scroll *bool
	Query  *Select
}

// Fetch is FETCH or MOVE.
type Fetch struct {
	stmtNode
	Pos       int
	Move      bool
	Direction string // "forward", "backward", "absolute", "relative", "first", "last", "next", "prior"
	Count     int64
	All       bool
	Cursor    string
}

// CloseCursor is CLOSE name | ALL.
type CloseCursor struct {
	stmtNode
	Name string
	All  bool
}

// Explain is EXPLAIN [options] stmt.
type Explain struct {
	stmtNode
	Pos     int
	Options []Option
	Analyze bool
	Stmt    Stmt
}

// Listen, Notify and Unlisten.
type Listen struct {
	stmtNode
	Channel string
}

// Notify is NOTIFY channel [, payload].
type Notify struct {
	stmtNode
	Channel, Payload string
}

// Unlisten is UNLISTEN channel | *.
type Unlisten struct {
	stmtNode
	Channel string
	All     bool
}

// Maintenance is VACUUM, ANALYZE, CHECKPOINT, REINDEX, CLUSTER: accepted, mostly without effect.
type Maintenance struct {
	stmtNode
	Pos    int
	Kind   string // "vacuum", "analyze", "checkpoint", "reindex", "cluster"
	Tables []Name
	// Options are those of the (name value, …) form.
	Options []Option
}

// Lock is LOCK TABLE.
type Lock struct {
	stmtNode
	Pos    int
	Tables []Name
	Mode   string
	NoWait bool
}

// Call is CALL proc(args); Do is DO block.
type Call struct {
	stmtNode
	Pos  int
	Func *FuncCall
}

// Unsupported is a statement whose head was recognised but that Eider does not do;
// executing it answers 0A000 and names Feature.
type Unsupported struct {
	stmtNode
	Pos     int
	Feature string
}
