package server

import (
	"testing"
)

func TestSimple(t *testing.T) {
	t.Parallel()
	s := start(t, Options{})
	c := s.connect(t)
	for _, tc := range []struct{ sql, want string }{
		{"SELECT 1", "T D:1 C:SELECT_1 Z:I"},
		{"SELECT 1;", "T D:1 C:SELECT_1 Z:I"},
		{"", "I Z:I"},
		{" ; ;", "I Z:I"},
		{"BEGIN; SELECT 7", "C:BEGIN T D:7 C:SELECT_1 Z:T"},
		{"FAIL", "E:42P01 Z:E"},
		{"SELECT 1", "E:25P02 Z:E"},
		{"ROLLBACK", "C:ROLLBACK Z:I"},
		{"DISCARD ALL", "C:DISCARD_ALL Z:I"},
		{"SELECT 1; FAIL; SELECT 2", "T D:1 C:SELECT_1 E:42P01 Z:I"},
		{"NOTICE", "N:42P07 C:NOTICE Z:I"},
		{"ODD", "E:XX000 Z:I"},
		{"ROWS 2", "T D:row_0 D:row_1 C:SELECT_2 Z:I"},
		{"COPYOUT 3", "H d:20000 d:20000 d:20000 c C:COPY_3 Z:I"},
		{"\xff", "E:22021 Z:I"},
		{"NOTIFY me", "C:NOTIFY A:me Z:I"},
		{"BEGIN; NOTIFY me", "C:BEGIN C:NOTIFY Z:T"},
		{"COMMIT", "C:COMMIT A:me Z:I"},
	} {
		c.query(tc.sql)
		c.expect(tc.want)
	}
}
