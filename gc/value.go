package gc

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/eiderdb/eider/internal/bytesize"
	"github.com/eiderdb/eider/internal/duration"
)

// parser reads a value's text, which has no blanks around it.
type parser = func(string) (any, error)

// unset is the value "none".
type unset struct{}

func orNone(p parser) parser {
	return func(s string) (any, error) {
		if s == none {
			return unset{}, nil
		}
		return p(s)
	}
}

func oneOf(words ...string) parser {
	return func(s string) (any, error) {
		for _, w := range words {
			if s == w {
				return s == "on", nil
			}
		}
		return nil, errors.New("say " + strings.Join(words, " or "))
	}
}

func parseMode(s string) (any, error) {
	switch m := Mode(s); m {
	case ModeOn, ModeOff, ModeDryRun:
		return m, nil
	}
	return nil, errors.New("say on, off or dry-run")
}

func parseDuration(s string) (any, error) { return ParseDuration(s) }

func atLeast(p parser, low time.Duration) parser {
	return func(s string) (any, error) {
		v, err := p(s)
		if d, ok := v.(time.Duration); ok && err == nil && d < low {
			return nil, fmt.Errorf("at least %s", FormatDuration(low))
		}
		return v, err
	}
}

// ParseDuration reads a duration as policies write it: numbers with units w, d, h, m, s and
// ms, one after the other with or without blanks, such as "30d", "1w 12h" or "90m".
func ParseDuration(s string) (time.Duration, error) { return duration.Parse(s) }

// FormatDuration writes a duration as ParseDuration reads it, to the millisecond.
func FormatDuration(d time.Duration) string { return duration.Format(d) }

func parseCount(s string) (any, error) {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 1 {
		return nil, errors.New("a whole number from 1 on")
	}
	return n, nil
}

func atLeastCount(low int64) parser {
	return func(s string) (any, error) {
		v, err := parseCount(s)
		if n, ok := v.(int64); ok && n < low {
			return nil, fmt.Errorf("at least %d", low)
		}
		return v, err
	}
}

// parsePart reads a part of a whole.
func parsePart(s string) (any, error) {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || !(f > 0 && f <= 1) {
		return nil, errors.New("a number above 0 and at most 1")
	}
	return f, nil
}

// parseBytes takes whole numbers only, and units as they are written.
func parseBytes(s string) (any, error) {
	number, u := bytesize.Cut(s)
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n < 1 || n > math.MaxInt64/u.Bytes || !strings.HasSuffix(s, u.Name) {
		return nil, errors.New("a whole number and a unit: 500MiB, 10GB")
	}
	return n * u.Bytes, nil
}

func parseZone(s string) (any, error) {
	if s == "" || s == "Local" { // the server's own is nobody's intention
		return nil, errors.New("a name such as Europe/Berlin or UTC")
	}
	loc, err := time.LoadLocation(s)
	if err != nil {
		return nil, errors.New("no time zone of that name is known here")
	}
	return loc, nil
}
