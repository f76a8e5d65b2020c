package lineage

import "slices"

// Functions that are written like a column.
var bareFunctions = set("current_catalog", "current_date", "current_role", "current_schema", "current_time", "current_timestamp",
	"current_user", "localtime", "localtimestamp", "session_user", "user")

// Functions that take a lambda. In the arguments of all others x -> y is JSON's arrow.
var lambdaFunctions = set("apply", "array_apply", "array_filter", "array_reduce", "array_transform", "filter",
	"list_apply", "list_filter", "list_reduce", "list_transform", "reduce")

// Table functions that read the files that their first argument names.
var fileFunctions = set("delta_scan", "iceberg_scan", "parquet_scan", "read_avro", "read_blob", "read_csv", "read_csv_auto", "read_json",
	"read_json_auto", "read_json_objects", "read_json_objects_auto", "read_ndjson", "read_ndjson_auto", "read_ndjson_objects",
	"read_parquet", "read_text", "read_xlsx", "st_read")

// Functions whose value is another on another run though nothing that they are given has
// changed: those that duckdb_functions() of DuckDB 1.5.5 calls VOLATILE or
// CONSISTENT_WITHIN_QUERY, those that are written like a column, and those that read what is
// in the session.
var unstable = set(
	"current_connection_id", "current_query", "current_query_id", "current_transaction_id", "currval", "error", "gen_random_uuid",
	"nextval", "random", "setseed", "sleep_ms", "stats", "uuid", "uuidv4", "uuidv7", "write_log",
	"current_database", "current_date", "current_schema", "current_schemas", "get_current_time", "get_current_timestamp",
	"in_search_path", "now", "today", "transaction_timestamp", "txid_current",
	"current_catalog", "current_role", "current_time", "current_timestamp", "current_user", "localtime", "localtimestamp",
	"session_user", "user",
	"current_setting", "getenv", "getvariable", "query", "query_table",
)

func set(names ...string) map[string]bool {
	m := map[string]bool{}
	for _, n := range names {
		m[n] = true
	}
	return m
}

// Unstable gives those of the functions that make a SELECT's result another one though its
// tables have not changed, such as random and now. A table function that queries text
// (query, query_table) is among them: what it reads is not in the tree. Names are as in
// Read.Functions. Macros and functions of extensions are not known.
func Unstable(functions []string) []string {
	var out []string
	for _, f := range functions {
		if unstable[f] && !slices.Contains(out, f) {
			out = append(out, f)
		}
	}
	return out
}
