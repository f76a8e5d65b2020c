// Package types holds PostgreSQL's types as Eider needs them: values, text and binary
// input and output, comparison, casts, and numeric, date and interval arithmetic.
//
// PostgreSQL 15 is the model, down to messages and SQLSTATEs: testdata/pg15_golden.txt
// holds its answers and TestGolden compares. What differs on purpose:
//
//   - text may hold NUL bytes, and name is not cut to 63 bytes;
//   - text orders by bytes, whatever the collation;
//   - names of relations, functions, schemas and roles in the reg types are looked up by
//     the caller, only numbers (and type names for regtype) are read here;
//   - DuckDB's type names are understood (Resolve); hugeint and uhugeint are
//     numeric(39,0), ubigint is numeric(20,0), which hold every value exactly;
//   - an error that quotes input quotes all of it.
//
// A Datum does not know its type: every function takes it beside the value. Functions
// that append return the extended slice and do not allocate when it has room.
package types
