package classify

import (
	"strings"

	"github.com/eiderdb/eider/lake"
)

// placeholder stands for the value of the partition.
const placeholder = "{partition}"

// HasPartition tells whether SubstitutePartition would change the SQL.
func HasPartition(sql string) bool {
	found := false
	eachPlaceholder(sql, func(token) { found = true }, func(string) {})
	return found
}

// SubstitutePartition puts the value of a partition in the place of each {partition} that
// is not in a comment. What is around decides how:
//
//   - {partition} by itself becomes a string, 'value';
//   - in a string, '{partition}' or 's3://b/{partition}/x.parquet', the value is put into
//     it, and the text around is kept;
//   - a dollar-quoted string becomes a plain one, since the value might hold its end;
//   - in a quoted name, "t_{partition}", the value is put into the name.
//
// The value is escaped for the place, so that it stays in it whatever it is: the statement
// has the same tokens for each value.
func SubstitutePartition(sql, value string) string {
	var out strings.Builder
	eachPlaceholder(sql, func(t token) {
		text := sql[t.start:t.end]
		switch t.kind {
		case tokPunct:
			out.WriteString(apart(sql, t, lake.QuoteText(value)))
		case tokEscape:
			v := strings.ReplaceAll(value, `\`, `\\`)
			out.WriteString(strings.ReplaceAll(text, placeholder, strings.ReplaceAll(v, "'", "''")))
		case tokDollar:
			tag := dollarTag(text)
			body := strings.TrimPrefix(text, tag)
			if !t.open {
				body = strings.TrimSuffix(body, tag)
			}
			out.WriteString(apart(sql, t, lake.QuoteText(strings.ReplaceAll(body, placeholder, value))))
		case tokName:
			out.WriteString(strings.ReplaceAll(text, placeholder, strings.ReplaceAll(value, `"`, `""`)))
		default:
			out.WriteString(strings.ReplaceAll(text, placeholder, strings.ReplaceAll(value, "'", "''")))
		}
	}, func(text string) { out.WriteString(text) })
	return out.String()
}

// apart is a string that comes in the place of another token, with spaces where it would
// run into its neighbours: two strings side by side are one with a quote in it, and E'…' is
// another kind of string.
func apart(sql string, t token, s string) string {
	if n := t.start; n > 0 && (isLetter(sql[n-1]) || isDigit(sql[n-1]) || strings.IndexByte("$'", sql[n-1]) >= 0) {
		s = " " + s
	}
	if strings.HasPrefix(sql[t.end:], "'") {
		s += " "
	}
	return s
}

// eachPlaceholder walks through SQL: found is called with each token that has a
// placeholder, or is one (kind tokPunct), other with the text between.
func eachPlaceholder(sql string, found func(token), other func(text string)) {
	if !strings.Contains(sql, placeholder) {
		other(sql)
		return
	}
	for s := newScanner(sql); ; {
		t, ok := s.next()
		if !ok {
			return
		}
		text := sql[t.start:t.end]
		switch {
		case t.kind == tokPunct && strings.HasPrefix(sql[t.start:], placeholder):
			t.end = t.start + len(placeholder)
			s.pos = t.end
			found(t)
		case t.kind != tokComment && strings.Contains(text, placeholder):
			found(t)
		default:
			other(text)
		}
	}
}
