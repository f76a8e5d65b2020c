package guard_test

import (
	"strings"
	"testing"
	"time"

	"github.com/eiderdb/eider/conflict"
)

const makeTags = "create schema eider; create table eider.tags (lake text, tag text, snapshot_id bigint, created_at timestamptz, note text)"

// expiryWithFile is a commit that removes snapshot 0 and registers a file, for which the guard
// looks when all else is done.
var expiryWithFile = append(expire("0"), next("4", "inserted_into_table:1"),
	"insert into ducklake_data_file values (35, 1, 4, null, null, 'f4', true, 'parquet', 10, 1000, 10, null, null, null, null, null)")

// TestTaggedMeanwhile: a tag that is set after the look at a commit counts, also the first one
// of a catalog. Tags of others do not hold the commit up, and what was found is not looked
// for again.
func TestTaggedMeanwhile(t *testing.T) {
	const refused = "55006: snapshot 0 cannot be removed: tags protect it"
	for _, tc := range []struct{ name, before, meanwhile, want string }{
		{"the first", "", makeTags + "; insert into eider.tags values ('public', 'v1', 0)", refused},
		{"another", makeTags, "insert into eider.tags values ('public', 'v1', 0)", refused},
		{"of a new table", makeTags, "drop table eider.tags; create table eider.tags (lake text, snapshot_id int); insert into eider.tags values ('public', 0)", refused},
		{"of another lake", makeTags, "insert into eider.tags values ('other', 'v1', 0)", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := serve(t, conflict.Enforce, lakeSQL+";"+schedules)
			more(s)
			if tc.before != "" {
				s.want("", tc.before)
			}
			s.run("writer", "begin transaction isolation level repeatable read")
			s.run("writer", "select * from ducklake_data_file")
			s.run("searcher", orphans)
			s.now = s.now.Add(time.Second)
			looks := 0
			s.looked = func(string) {
				if looks++; looks > 1 {
					return
				}
				if _, err := s.send("tagger", tc.meanwhile); err != nil {
					t.Errorf("%s: %v", tc.meanwhile, err)
				}
			}
			s.want(tc.want, expiryWithFile...)
			if looks != 1 {
				t.Errorf("looked for the file %d times", looks)
			}
		})
	}
}

// TestTagsOfOthers: tags are read from whatever has the columns; what cannot be read protects
// every snapshot, and is named once.
func TestTagsOfOthers(t *testing.T) {
	const everything = "0 1 2 3"
	for _, tc := range []struct{ name, sql, left, log string }{
		{"int", "create table eider.tags (lake text, snapshot_id int); insert into eider.tags values ('public', 1)", "1 3", ""},
		{"smallint, every lake", "create table eider.tags (lake varchar(9), snapshot_id smallint); insert into eider.tags values (null, 1)", "1 3", ""},
		{"text", "create table eider.tags (lake text, snapshot_id text)", everything, "snapshot_id"},
		{"no lake", "create table eider.tags (snapshot_id bigint)", everything, "lake"},
		{"a view", "create view eider.tags as select 'public' as lake, 1 as snapshot_id", everything, "it is not a table"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := serve(t, conflict.Enforce, lakeSQL)
			more(s)
			s.want("", "create schema eider; "+tc.sql)
			s.want("", expire("0, 1, 2")...)
			s.want("", expire("0, 1, 2")...)
			s.is(leftSnapshots, tc.left)
			const said = "eider.tags is not the server's table"
			if n := strings.Count(s.log.String(), said); (n == 1) != (tc.log != "") || n > 1 || !strings.Contains(s.log.String(), tc.log) {
				t.Errorf("logged: %s", s.log.String())
			}
		})
	}
}
