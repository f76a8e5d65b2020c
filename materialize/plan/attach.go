package plan

import (
	"regexp"
	"strings"
)

// Attach is an ATTACH of a lake by its name.
type Attach struct {
	// Lake is the name.
	Lake string
	// Alias is what the catalog is called; the name, if the statement does not say.
	Alias string
	// IfNotExists is set for ATTACH IF NOT EXISTS.
	IfNotExists bool
	// Options is what stands in the parentheses, "" for nothing.
	Options string
}

var attachForm = regexp.MustCompile(`(?is)^\s*attach\s+(?:database\s+)?(or\s+replace\s+)?(if\s+not\s+exists\s+)?'(ducklake(?:://(?:[^']|'')*)?)'(?:\s+as\s+("(?:[^"]|"")+"|[\p{L}_][\p{L}\p{N}_$]*))?(?:\s*\((.*)\))?\s*;?\s*$`)

// ParseAttach reads an ATTACH of a lake by its name: 'ducklake://NAME', or 'ducklake' for the
// lake main. Other statements, other ATTACHes among them, are passed on as they are.
func ParseAttach(sql string) (a Attach, ok bool) {
	m := attachForm.FindStringSubmatch(sql)
	if m == nil || m[1] != "" {
		return Attach{}, false
	}
	a.Lake = "main"
	if name, ok := strings.CutPrefix(strings.ReplaceAll(m[3], "''", "'"), m[3][:len("ducklake")]+"://"); ok {
		a.Lake = strings.TrimRight(name, "/")
	}
	if a.Lake == "" || strings.Contains(a.Lake, "/") {
		return Attach{}, false
	}
	a.IfNotExists = m[2] != ""
	a.Alias = a.Lake
	if m[4] != "" {
		a.Alias = m[4]
		if a.Alias[0] == '"' {
			a.Alias = strings.ReplaceAll(a.Alias[1:len(a.Alias)-1], `""`, `"`)
		}
	}
	a.Options = strings.TrimSpace(m[5])
	return a, true
}
