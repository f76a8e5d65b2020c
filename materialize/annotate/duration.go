package annotate

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// ErrDuration is returned by ParseDuration for what is no duration.
var ErrDuration = errors.New("no duration; write a number and a unit, such as 30s, 5m, 2h, 1d or 1h30m")

// units are those of durations, in lower case and without a plural s.
var units = map[string]time.Duration{
	"ms": time.Millisecond, "millisecond": time.Millisecond,
	"s": time.Second, "sec": time.Second, "second": time.Second,
	"m": time.Minute, "min": time.Minute, "minute": time.Minute,
	"h": time.Hour, "hr": time.Hour, "hour": time.Hour,
	"d": 24 * time.Hour, "day": 24 * time.Hour,
	"w": 7 * 24 * time.Hour, "week": 7 * 24 * time.Hour,
}

// ParseDuration reads a duration of a header: numbers with units, as 30s, 1h30m, 2 hours.
// A day is 24 hours. Numbers are whole or decimal, and not negative.
func ParseDuration(text string) (time.Duration, error) {
	fail := func() (time.Duration, error) { return 0, fmt.Errorf("%q is %w", text, ErrDuration) }
	rest := strings.ToLower(strings.TrimSpace(text))
	if rest == "" {
		return fail()
	}
	total := 0.0
	for rest != "" {
		digits := leading(rest, "0123456789.")
		n, err := strconv.ParseFloat(digits, 64)
		if err != nil {
			return fail()
		}
		rest = strings.TrimLeft(rest[len(digits):], " \t")
		name := leading(rest, "abcdefghijklmnopqrstuvwxyz")
		unit, ok := units[name]
		if base := strings.TrimSuffix(name, "s"); !ok && len(base) > 1 && base != "ms" { // abbreviations to one letter have no plural
			unit, ok = units[base]
		}
		if !ok {
			return fail()
		}
		total += n * float64(unit)
		rest = strings.TrimLeft(rest[len(name):], " \t")
	}
	if total >= math.MaxInt64 {
		return fail()
	}
	return time.Duration(total), nil
}

// leading is the part of s up to the first character that is not one of chars.
func leading(s, chars string) string {
	return s[:len(s)-len(strings.TrimLeft(s, chars))]
}
