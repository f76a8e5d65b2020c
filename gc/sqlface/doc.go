// Package sqlface is maintenance as SQL sees it: the functions of the schema eider, which a
// client calls in FROM, through DuckDB's postgres_query as well:
//
//	SELECT * FROM eider.gc_run('public', 'expire', '{"retain-age": "7d", "wait": true}')
//
// They act at once and by themselves: they are no part of the transaction that they are
// called in, whose end takes nothing back.
package sqlface
