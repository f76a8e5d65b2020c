package bytesize

import (
	"errors"
	"strconv"
	"strings"
)

// Errors of this package.
var (
	// ErrForm is returned for what is no number with a unit.
	ErrForm = errors.New("write a number and a unit")
	// ErrRange is returned for sizes below 0 or above what an int64 holds.
	ErrRange = errors.New("out of range")
)

// Unit is a unit of sizes.
type Unit struct {
	Name  string // "" for none
	Bytes int64
}

// units are from the largest to the smallest, those of 1024 first.
var units = [...]Unit{
	{"TiB", 1 << 40},
	{"GiB", 1 << 30},
	{"MiB", 1 << 20},
	{"KiB", 1 << 10},
	{"TB", 1e12},
	{"GB", 1e9},
	{"MB", 1e6},
	{"kB", 1e3},
	{"B", 1},
}

// binary is how many of them are of 1024.
const binary = 4

// Cut takes a text apart into what stands before the unit, without blanks around it, and the
// unit. The case of the unit's letters is ignored.
func Cut(s string) (number string, u Unit) {
	s = strings.TrimSpace(s)
	for _, u := range units {
		if n := len(s) - len(u.Name); n > 0 && strings.EqualFold(s[n:], u.Name) {
			return strings.TrimSpace(s[:n]), u
		}
	}
	return s, Unit{Bytes: 1}
}

// Parse reads a whole or decimal number with or without a unit: 64MiB, 1.5 GB, 4096. Parts of
// a byte are cut off.
func Parse(s string) (int64, error) {
	number, u := Cut(s)
	n, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return 0, ErrForm
	}
	n *= float64(u.Bytes)
	if !(n >= 0 && n < 1<<63) {
		return 0, ErrRange
	}
	return int64(n), nil
}

// Exact writes a size so that Parse gives it back: in the largest unit of 1024 that divides
// it, otherwise as a number alone.
func Exact(n int64) string {
	for _, u := range units[:binary] {
		if n != 0 && n%u.Bytes == 0 {
			return strconv.FormatInt(n/u.Bytes, 10) + u.Name
		}
	}
	return strconv.FormatInt(n, 10)
}

// Short writes a size for people, in the largest unit of 1024 that it fills, with one decimal
// if it does not fill it a whole number of times.
func Short(n int64) string {
	for _, u := range units[:binary] {
		switch {
		case n < u.Bytes:
		case n%u.Bytes == 0:
			return strconv.FormatInt(n/u.Bytes, 10) + u.Name
		default:
			return strconv.FormatFloat(float64(n)/float64(u.Bytes), 'f', 1, 64) + u.Name
		}
	}
	return strconv.FormatInt(n, 10) + "B"
}
