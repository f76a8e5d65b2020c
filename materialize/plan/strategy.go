package plan

import (
	"fmt"
	"strings"

	"github.com/eiderdb/eider/lake"
	"github.com/eiderdb/eider/materialize/annotate"
)

// strategy adds the statements that write.
func (p *Plan) strategy() {
	if schema, _ := SplitTable(p.Asset.Table()); schema != DefaultSchema {
		p.add(p.bootstrap(Create, IfSchemaMissing, "CREATE SCHEMA IF NOT EXISTS "+Target+"."+lake.QuoteName(schema)))
	}
	switch p.Strategy {
	case annotate.History:
		p.history()
	case annotate.Append:
		p.create()
		p.transact(p.fixed(nil))
	case annotate.Merge:
		p.create()
		p.transact(p.fixed([]Statement{{Role: Delete, SQL: p.deleteKeys()}}))
	default:
		if p.partitioned() {
			p.create()
			p.transact(p.fixed([]Statement{{Role: Delete, SQL: "DELETE FROM " + p.target + " WHERE " + p.slice()}}))
			return
		}
		write := []Statement{{Role: Write, SQL: "CREATE OR REPLACE TABLE " + p.target + " AS SELECT * FROM " + p.from()}}
		if p.in.Snapshot == nil {
			p.add(write...) // a statement is a transaction
			return
		}
		p.transact(write)
	}
}

func (p *Plan) bootstrap(role Role, when When, sql string) Statement {
	return Statement{Role: role, When: when, SQL: sql, Bootstrap: true}
}

// from is the script's query as something to select from. When the columns are known to be the
// table's in another order, they are put into the table's: what is inserted goes by position.
func (p *Plan) from() string {
	q := "(" + p.Query + "\n) AS " + lake.QuoteName(query)
	if p.in.Probe == nil || p.in.Probe.Table == nil || p.Drift != nil {
		return q
	}
	owned, out := p.owned(), p.in.Probe.Output
	same := len(owned) == len(out)
	var columns []string
	for i := range owned {
		j := find(out, owned[i].Name)
		if j < 0 {
			return q
		}
		same = same && i == j
		columns = append(columns, out[j].Name)
	}
	if same || p.Strategy == annotate.Replace && !p.partitioned() {
		return q
	}
	return "(SELECT " + idents("", columns) + " FROM " + q + ") AS " + lake.QuoteName(query)
}

// create adds the statements that make the table without rows. They are a transaction of their
// own where snapshots say something, and each by itself where not.
func (p *Plan) create() {
	columns := "*"
	if p.partitioned() {
		columns += ", CAST(NULL AS VARCHAR) AS " + lake.QuoteName(PartitionColumn)
	}
	p.bootstraps(columns)
}

func (p *Plan) bootstraps(columns string) {
	list := []Statement{p.bootstrap(Create, IfMissing, "CREATE TABLE IF NOT EXISTS "+p.target+" AS SELECT "+columns+" FROM "+p.from()+" WHERE false")}
	if p.partitioned() {
		list = append(list, p.bootstrap(Partition, IfUnpartitioned, "ALTER TABLE "+p.target+" SET PARTITIONED BY ("+lake.QuoteName(PartitionColumn)+")"))
	}
	p.add(list...)
}

// transact adds statements in a transaction.
func (p *Plan) transact(list []Statement) {
	p.add(Statement{Role: Begin, SQL: "BEGIN TRANSACTION"})
	if s := p.in.Snapshot; s != nil {
		p.add(Statement{Role: Describe, SQL: s.Call()})
	}
	p.add(list...)
	p.add(Statement{Role: Commit, SQL: "COMMIT"})
}

// Call is the statement that gives the transaction's snapshot an author and a message.
func (s *Snapshot) Call() string {
	sql := "CALL " + Target + ".set_commit_message(" + lake.QuoteText(s.Author) + ", " + lake.QuoteText(s.Message)
	if s.Extra != "" {
		sql += ", extra_info => " + lake.QuoteText(s.Extra)
	}
	return sql + ")"
}

// fixed are the statements of a write into a table whose columns stay: what deletes, then the
// insert, and around them what the header says about columns that changed.
func (p *Plan) fixed(deletes []Statement) []Statement {
	var list []Statement
	insert := "INSERT INTO " + p.target + " "
	switch p.in.Header.Materialize.OnSchemaChange {
	case annotate.SchemaFail:
		list = append(list, Statement{Role: Guard, SQL: p.guard()})
	case annotate.SchemaSync:
		list = append(list, p.alters()...)
		insert += "BY NAME "
	}
	columns := "*"
	if p.partitioned() {
		columns += ", " + p.value() + " AS " + lake.QuoteName(PartitionColumn)
	}
	list = append(list, deletes...)
	return append(list, Statement{Role: Insert, SQL: insert + "SELECT " + columns + " FROM " + p.from()})
}

// deleteKeys deletes the rows that the query has under the same key. IN leaves keys with NULL
// alone, of which each run would then add one more copy, so these are looked for as well.
func (p *Plan) deleteKeys() string {
	keys := p.in.Header.Materialize.KeyColumns()
	where := ""
	if p.partitioned() {
		where = p.slice() + " AND "
	}
	if len(keys) == 1 {
		k := lake.QuoteName(keys[0])
		where += fmt.Sprintf("(%[1]s IN (SELECT %[1]s FROM %[2]s) OR %[1]s IS NULL AND EXISTS (SELECT 1 FROM %[2]s WHERE %[1]s IS NULL))", k, p.from())
		return "DELETE FROM " + p.target + " WHERE " + where
	}
	return "DELETE FROM " + p.target + " AS t WHERE " + where + "EXISTS (SELECT 1 FROM " + p.from() + " WHERE " + sameKeys(lake.QuoteName(query), "t", keys) + ")"
}

// sameKeys says that two rows have the same key, NULL being a value like others.
func sameKeys(a, b string, keys []string) string {
	list := make([]string, len(keys))
	for i, k := range keys {
		list[i] = fmt.Sprintf("%s.%s IS NOT DISTINCT FROM %s.%[2]s", a, lake.QuoteName(k), b)
	}
	return strings.Join(list, " AND ")
}

// guard fails when the names of the query's columns are not those of the table's.
func (p *Plan) guard() string {
	not := ""
	if p.partitioned() {
		not = " WHERE column_name <> " + lake.QuoteText(PartitionColumn)
	}
	return "SELECT CASE WHEN len(added) + len(removed) > 0 THEN error('the columns have changed: new in the SELECT: ' || list_aggregate(added, 'string_agg', ', ') || '; only in the table: ' || list_aggregate(removed, 'string_agg', ', ')) END FROM (" +
		"WITH q AS (SELECT lower(column_name) AS c FROM (DESCRIBE SELECT * FROM " + p.from() + ")), t AS (SELECT lower(column_name) AS c FROM (DESCRIBE " + p.target + ")" + not + ") " +
		"SELECT coalesce((SELECT list(c) FROM (FROM q EXCEPT FROM t)), []) AS added, coalesce((SELECT list(c) FROM (FROM t EXCEPT FROM q)), []) AS removed)"
}

// alters make the table's columns those of the query, by name.
func (p *Plan) alters() []Statement {
	if p.Drift == nil {
		return nil
	}
	var list []Statement
	for _, name := range p.Drift.Added {
		c := p.in.Probe.Output[find(p.in.Probe.Output, name)]
		list = append(list, Statement{Role: Alter, SQL: "ALTER TABLE " + p.target + " ADD COLUMN " + lake.QuoteName(c.Name) + " " + c.Type})
	}
	for _, name := range p.Drift.Removed {
		list = append(list, Statement{Role: Alter, SQL: "ALTER TABLE " + p.target + " DROP COLUMN " + lake.QuoteName(name)})
	}
	return list
}

// now is the time of the transaction in UTC, whatever the time zone of the session is.
const now = "make_timestamp(epoch_us(now()))"

// history closes the versions that have changed and opens new ones.
func (p *Plan) history() {
	m := p.in.Header.Materialize
	keys := m.KeyColumns()
	p.bootstraps("*, CAST(NULL AS TIMESTAMP) AS " + validFrom + ", CAST(NULL AS TIMESTAMP) AS " + validTo + ", CAST(NULL AS BOOLEAN) AS " + isCurrent)

	// Both sets are kept before the transaction, because closing changes what is current.
	left, right := "*", "* EXCLUDE ("+validFrom+", "+validTo+", "+isCurrent+")"
	if len(m.Track) > 0 {
		left = idents("", union(keys, m.Track))
		right = left
	}
	p.add(Statement{Role: Capture, SQL: "CREATE OR REPLACE TEMP TABLE " + changed + " AS SELECT DISTINCT " + idents("", keys) + " FROM (SELECT " + left + " FROM " + p.from() +
		" EXCEPT SELECT " + right + " FROM " + p.target + " WHERE " + isCurrent + ")"})
	if m.CloseDeleted {
		p.add(Statement{Role: Capture, SQL: "CREATE OR REPLACE TEMP TABLE " + deleted + " AS SELECT " + idents("", keys) + " FROM " + p.target + " WHERE " + isCurrent +
			" EXCEPT SELECT " + idents("", keys) + " FROM " + p.from()})
	}
	list := []Statement{{Role: Close, SQL: p.closeVersions(changed, keys)}}
	if m.CloseDeleted {
		list = append(list, Statement{Role: Close, SQL: p.closeVersions(deleted, keys)})
	}
	list = append(list, Statement{Role: Insert, SQL: "INSERT INTO " + p.target + " SELECT " + lake.QuoteName(query) + ".*, " + now + ", CAST(NULL AS TIMESTAMP), true FROM " + p.from() +
		" WHERE EXISTS (SELECT 1 FROM " + changed + " AS c WHERE " + sameKeys("c", lake.QuoteName(query), keys) + ")"})
	// Made once: made again it would be a change, and a run without changes would be a snapshot.
	view := tableName(Target, p.Asset.Table()+"_current")
	list = append(list, Statement{Role: View, SQL: "CREATE VIEW IF NOT EXISTS " + view + " AS SELECT * FROM " + p.target + " WHERE " + isCurrent})
	p.transact(list)
}

func (p *Plan) closeVersions(of string, keys []string) string {
	return "UPDATE " + p.target + " AS t SET " + validTo + " = " + now + ", " + isCurrent + " = false WHERE t." + isCurrent +
		" AND EXISTS (SELECT 1 FROM " + of + " AS c WHERE " + sameKeys("c", "t", keys) + ")"
}

// union is a list with what another one has besides.
func union(a, b []string) []string {
	out := a[:len(a):len(a)]
	for _, s := range b {
		has := false
		for _, o := range out {
			has = has || strings.EqualFold(o, s)
		}
		if !has {
			out = append(out, s)
		}
	}
	return out
}
