package duration

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// The units of durations, longest first. A day is 24 hours: no calendar is asked.
var units = []struct {
	name string
	size time.Duration
}{
	{"w", 7 * 24 * time.Hour},
	{"d", 24 * time.Hour},
	{"h", time.Hour},
	{"m", time.Minute},
	{"s", time.Second},
	{"ms", time.Millisecond},
}

// Parse reads a duration: numbers with units w, d, h, m, s and ms, one after the other with
// or without blanks, such as "30d", "1w 12h" or "90m".
func Parse(s string) (time.Duration, error) {
	rest := strings.TrimSpace(s)
	if rest == "" {
		return 0, errors.New("write a number and a unit: 30d, 12h, 15m")
	}
	var sum time.Duration
	for rest != "" {
		i := 0
		for i < len(rest) && rest[i] >= '0' && rest[i] <= '9' {
			i++
		}
		n, err := strconv.ParseInt(rest[:i], 10, 64)
		if err != nil {
			return 0, errors.New("write a number and a unit: 30d, 12h, 15m")
		}
		rest = rest[i:]
		j := 0
		for j < len(rest) && rest[j] >= 'a' && rest[j] <= 'z' {
			j++
		}
		var size time.Duration
		for _, u := range units {
			if u.name == rest[:j] {
				size = u.size
			}
		}
		switch {
		case size == 0:
			return 0, errors.New("units are w, d, h, m, s")
		case n > int64((math.MaxInt64-sum)/size):
			return 0, errors.New("out of range")
		}
		sum += time.Duration(n) * size
		rest = strings.TrimLeft(rest[j:], " ")
	}
	return sum, nil
}

// Format writes a duration as Parse reads it, to the millisecond.
func Format(d time.Duration) string {
	if d < time.Millisecond {
		return "0s"
	}
	var b strings.Builder
	for _, u := range units[1:] { // weeks are for people to write
		if n := d / u.size; n > 0 {
			fmt.Fprintf(&b, "%d%s", n, u.name)
			d -= n * u.size
		}
	}
	return b.String()
}
