package lake

import "strings"

// FoldName spells a name as clients compare names: without regard to the case of ASCII
// letters, and of no others.
func FoldName(s string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}, s)
}
