// Package types holds PostgreSQL's types as Eider needs them: values, text and binary
// input and output, comparison, casts, and numeric, date and interval arithmetic.
package types
