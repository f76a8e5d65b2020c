package nearest

import (
	"slices"
	"strings"
)

// Of returns the known name that is most like a mistaken one, in any case of letters and with _
// for -; "" when none is like it. Of several the first in the alphabet.
func Of(name string, known []string) string {
	known = slices.Sorted(slices.Values(known))
	best, least := "", max(2, len(name)/3)+1
	for _, k := range known {
		if d := Distance(fold(name), fold(k)); d < least {
			best, least = k, d
		}
	}
	return best
}

func fold(s string) string { return strings.ReplaceAll(strings.ToLower(s), "_", "-") }

// Distance is the number of bytes to insert, delete or replace.
func Distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}
