package ast

// Expr is any expression node.
type Expr interface {
	// Position is the byte offset where the expression starts.
	Position() int
	expr()
}

// Pos is embedded by every expression and gives its byte offset.
type Pos int

// Position returns the byte offset.
func (p Pos) Position() int { return int(p) }
func (Pos) expr()           {}

// Name is a possibly qualified object name: [catalog.]schema.name.
type Name struct {
	Pos     int
	Catalog string // "" when absent
	Schema  string // "" when absent
	Name    string
}

// TypeName is a type as written: numeric(10,2), timestamp with time zone, int4[].
type TypeName struct {
	Pos    int
	Schema string  // "pg_catalog" or "" or a user schema
	Name   string  // canonical lower-case name: int4, int8, numeric, timestamptz, bpchar, varchar, ...
	Mods   []int64 // type modifiers as written, e.g. {10,2}
	Fields string  // interval fields ("year to month"), "" when absent
	Dims   int     // number of [] suffixes
	SetOf  bool    // SETOF was written (functions only)
	Serial bool    // serial/bigserial/smallserial: int type with a default sequence
}

// LiteralKind says what token a Literal was.
type LiteralKind uint8

// The literal kinds.
const (
	LitNull    LiteralKind = iota
	LitTrue                // TRUE
	LitFalse               // FALSE
	LitInteger             // digits that fit int8; type int4 or int8 by size, numeric beyond
	LitNumeric             // decimal point or exponent, or an integer beyond int8
	LitString              // quoted string, type unknown until the context decides
	LitBit                 // B'..' or X'..'
)

// Literal is a constant as written.
type Literal struct {
	Pos
	Kind LiteralKind
	Text string // digits as written, or the unescaped string
	Slot int    // ordinal of the literal token in the statement; -1 if it has none (NULL, TRUE, FALSE)
}

// Param is $n, 1-based.
type Param struct {
	Pos
	Index int
}

// ColumnRef is a name that may be qualified: {"t","c"}, {"s","t","c"}.
type ColumnRef struct {
	Pos
	Parts []string
}

// Star is * or t.* (Table set) in a target list, or count(*)'s argument.
type Star struct {
	Pos
	Table []string
}

// Unary is a prefix (or postfix) operator application: -x, +x, NOT x, ~x, @x.
type Unary struct {
	Pos
	Op   string // operator symbol, or "not"
	Expr Expr
}

// Binary is an infix operator application; Op is the symbol ("+", "=", "<>", "||",
// "~", "->>", ...) or one of "and", "or", "is distinct from", "is not distinct from".
// != is normalised to <>. OPERATOR(pg_catalog.~) becomes its symbol.
//
// Pos is where the left operand starts, OpPos where the operator stands: PostgreSQL
// reports an operator that does not exist at the latter. Chains of more than 64 ANDs or
// ORs come as balanced trees, other operators always lean left.
type Binary struct {
	Pos
	Op          string
	OpPos       int
	Left, Right Expr
}

// IsTest is x IS [NOT] NULL | TRUE | FALSE | UNKNOWN.
type IsTest struct {
	Pos
	Expr Expr
	Test string // "null", "true", "false", "unknown"
	Not  bool
}

// Like is x [NOT] LIKE|ILIKE|SIMILAR TO pattern [ESCAPE e].
type Like struct {
	Pos
	Kind          string // "like", "ilike", "similar"
	OpPos         int    // of LIKE, or of NOT before it
	Not           bool
	Expr, Pattern Expr
	Escape        Expr // nil when absent
}

// Between is x [NOT] BETWEEN [SYMMETRIC] lo AND hi.
type Between struct {
	Pos
	Expr, Lo, Hi Expr
	OpPos        int // of BETWEEN, or of NOT before it
	Not          bool
	Symmetric    bool
}

// In is x [NOT] IN (list) or x [NOT] IN (query). Exactly one of List, Query is set.
type In struct {
	Pos
	Expr  Expr
	OpPos int // of IN, or of NOT before it
	Not   bool
	List  []Expr
	Query *Select
}

// Quantified is x op ANY|ALL (array or query); SOME is normalised to ANY.
type Quantified struct {
	Pos
	Left  Expr
	Op    string
	OpPos int
	All   bool
	Array Expr // nil when Query is set
	Query *Select
}

// Exists is EXISTS (query).
type Exists struct {
	Pos
	Query *Select
}

// Subquery is a scalar subquery, or ARRAY(query) when Array is set.
type Subquery struct {
	Pos
	Query *Select
	Array bool
}

// Case is CASE [operand] WHEN .. THEN .. [ELSE ..] END.
type Case struct {
	Pos
	Operand Expr // nil for searched CASE
	Whens   []When
	Else    Expr // nil when absent
}

// When is one WHEN arm.
type When struct{ Cond, Then Expr }

// Cast is CAST(x AS t), x::t, or the typed literal t 'text'.
type Cast struct {
	Pos
	Expr  Expr
	Type  TypeName
	OpPos int // of the ::, or of the whole for CAST and typed literals
}

// Collate is x COLLATE name.
type Collate struct {
	Pos
	Expr      Expr
	Collation Name
	OpPos     int // of COLLATE
}

// AtTimeZone is x AT TIME ZONE z.
type AtTimeZone struct {
	Pos
	Expr, Zone Expr
	OpPos      int // of AT
}

// FuncCall is a function, aggregate or window call. Special syntax forms are
// normalised to calls of the function PostgreSQL maps them to: EXTRACT(f FROM x)
// to extract('f', x), SUBSTRING(x FROM a FOR b) to substring(x,a,b), POSITION(a IN b)
// to position(b,a)… as pg_catalog functions; COALESCE, NULLIF, GREATEST, LEAST and
// CURRENT_DATE, CURRENT_TIMESTAMP, CURRENT_USER … keep their lower-case names.
type FuncCall struct {
	Pos
	Name        Name
	Args        []Expr
	ArgNames    []string // parallel to Args when named notation is used, else nil
	Star        bool     // f(*)
	Distinct    bool
	Variadic    bool
	OrderBy     []OrderItem // aggregate ORDER BY
	WithinGroup []OrderItem // WITHIN GROUP (ORDER BY ..)
	Filter      Expr        // FILTER (WHERE ..), nil when absent
	Over        *Window     // nil when not a window call
	Special     bool        // written by keyword syntax, e.g. CURRENT_DATE without parentheses
}

// Window is OVER (...) or OVER name, or a WINDOW clause entry.
type Window struct {
	Pos         int    // of the name after OVER, or of the parenthesis
	Name        string // reference (OVER w) or existing window name to extend
	Ref         bool   // OVER w, without parentheses
	PartitionBy []Expr
	OrderBy     []OrderItem
	Frame       *Frame
}

// Frame is a window frame clause.
type Frame struct {
	Mode       string // "rows", "range", "groups"
	Start, End FrameBound
	Exclude    string // "", "current row", "group", "ties"
}

// FrameBound is one end of a frame.
type FrameBound struct {
	Kind string // "unbounded preceding", "preceding", "current row", "following", "unbounded following"
	Expr Expr   // offset for preceding/following
}

// RowExpr is ROW(a, b) or (a, b).
type RowExpr struct {
	Pos
	Items    []Expr
	Explicit bool // ROW was written
}

// ArrayExpr is ARRAY[a, b]; nested brackets give nested ArrayExpr items.
type ArrayExpr struct {
	Pos
	Items []Expr
}

// Index is x[i] or x[lo:hi].
type Index struct {
	Pos
	Expr   Expr
	Lo, Hi Expr // plain subscript: Lo set, Slice false
	Slice  bool
}

// FieldSelect is (x).field or (x).*; Field is "*" for the latter.
type FieldSelect struct {
	Pos
	Expr  Expr
	Field string
}

// Default is the DEFAULT keyword in VALUES or SET.
type Default struct{ Pos }
