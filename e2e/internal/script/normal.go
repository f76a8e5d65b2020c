package script

import (
	"regexp"
	"strings"
	"time"
)

// normaliser replaces in results what cannot be the same on two servers or in two runs.
type normaliser struct {
	data, dsn, db string
	now           time.Time
}

var (
	fileName  = regexp.MustCompile(`ducklake-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	uuid7     = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}`)
	tempTable = regexp.MustCompile(`update_data_[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	timestamp = regexp.MustCompile(`\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d(:\d\d)?)?`)
	port      = regexp.MustCompile(`port=\d+|port \d{4,5}`)
	anyUUID   = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	hints     = regexp.MustCompile(`\n(Did you mean|Candidate bindings: )[^\n]*`)
	position  = regexp.MustCompile(`(?m)^LINE \d+:.*$`)
)

func (n *normaliser) text(s string) string {
	s = strings.ReplaceAll(s, n.data, "$$DATA")
	s = strings.ReplaceAll(s, "$$DATA", "$DATA")
	s = strings.ReplaceAll(s, n.dsn, "$DSN")
	s = strings.ReplaceAll(s, n.db, "$DB")
	if strings.Contains(s, "-") {
		s = fileName.ReplaceAllString(s, "ducklake-#")
		s = tempTable.ReplaceAllString(s, "update_data_#")
		s = uuid7.ReplaceAllString(s, "#uuid")
		s = timestamp.ReplaceAllStringFunc(s, n.recent)
	}
	return s
}

func (n *normaliser) recent(s string) string {
	t, err := time.Parse("2006-01-02", s[:10])
	if err != nil {
		return s
	}
	if d := n.now.Sub(t); d > -48*time.Hour && d < 72*time.Hour {
		return "#now"
	}
	return s
}

// error reduces an error text to what does not depend on the run: without ports, without the lines that point into the statement, and without
// DuckDB's suggestions, which it makes up from all the names it has seen.
func (n *normaliser) error(s string) string {
	s = n.text(s)
	s = hints.ReplaceAllString(s, "")
	s = port.ReplaceAllString(s, "port")
	s = strings.ReplaceAll(s, "user=postgres", "user")
	s = strings.ReplaceAll(s, "user=eider", "user")
	if i := strings.Index(s, "\n\nLINE "); i >= 0 {
		s = s[:i]
	}
	s = position.ReplaceAllString(s, "")
	return strings.TrimSpace(strings.ReplaceAll(s, "\n", `\n`))
}

func (n *normaliser) lines(in []string) []string {
	out := make([]string, len(in))
	for i, l := range in {
		out[i] = strings.TrimRight(n.text(l), " ")
	}
	return out
}
