// Package annotate reads the header of a script: the comments before its first line of
// code, which say what table the script makes, how, when, and what must hold of it.
//
//	-- materialize ducklake://analytics/orders key=order_id
//	-- partitioned daily tz=Europe/Berlin
//	-- on ducklake://raw/orders debounce=30s
//	-- data_test not_null order_id
//	SELECT …
//
// [Parse] never fails. A line that it cannot read is left out, and says so in
// [Header.Diagnostics]; it never changes what the other lines say. Comments are prose, too:
// a line whose first word happens to be a keyword, and that reads like a sentence, is no
// complaint. A [Diagnostic] of severity [SeverityError] means that a run would do something
// other than what the line asks for; [Header.Err] is those.
//
// # Grammar
//
// Lines count that begin, after white space, with //, -- or #; empty lines are skipped, and
// the first other line ends the header. A SQL script can only have -- and //, since to
// DuckDB # is no comment. After the prefix comes a keyword, a whole word in lower case:
//
//	pipeline                                   the script is part of a pipeline
//	materialize [manual|scd2] ASSET [append] [key=COL] [history] [track=C1,C2]
//	    [deletes=close] [on_schema_change=warn|ignore|fail|sync]
//	partitioned daily|hourly|weekly|monthly [tz=ZONE] [format=STRFTIME] [start=DATE]
//	partitioned dynamic key=PATH
//	freshness DURATION                         the table is stale after that time
//	on ASSET [debounce=DURATION]               run when the asset changes
//	on schedule [cron="MIN HOUR DAY MONTH WEEKDAY"] [tz=ZONE]
//	on webhook|email|kafka|mqtt|nats|postgres|sqs|gcp|data_upload
//	trigger any|all                            any trigger is enough (default), or all
//	debounce DURATION                          wait for quiet before a run
//	tag WORD                                   at most 50 bytes
//	retry COUNT [DURATION]                     again after a failure
//	data_test unique|not_null COL
//	data_test accepted_values COL = V1,V2
//	data_test relationships COL -> ASSET.COL
//	data_test SCRIPT                           rows that the script returns are violations
//	column COL <- ASSET.COL[, ASSET.COL]       where a column comes from
//	mute all|ASSET                             do not run for changes of the asset
//	macros                                     the script holds macros for others
//	use FOLDER/SCRIPT                          macros of another script
//	measure NAME = EXPR [where CONDITION]
//	dimension NAME = EXPR
//
// The options cron and tz of schedule are an addition of Eider's. `on schedule "…"`, with
// the cron expression as a bare text, is malformed in the grammar that this one follows, and
// options that a reader does not know are ignored there: so a header with cron=… means a
// schedule to both.
//
// ASSET is one of ducklake://LAKE/TABLE, datatable://…, s3://…, res://… (or $res:…) and
// volume://…; see [ParseAsset]. DURATION is kept as text; [ParseDuration] reads it. Options
// are KEY=VALUE without spaces around the =; a value with spaces is quoted with " or ', which
// cannot be escaped inside. Of an option that comes twice the later value counts.
//
// Of lines that say one thing (materialize, partitioned, freshness, debounce, tag, retry)
// the first well-formed one counts, of trigger the last; the others add up.
package annotate
