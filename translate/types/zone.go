package types

import (
	"strconv"
	"strings"
	"time"

	_ "time/tzdata" // zones work without the system's files

	"github.com/eiderdb/eider/translate/pgerr"
)

// LoadZone finds a time zone by name (any case), by abbreviation, or by a POSIX
// specification such as UTC+3, whose sign counts west.
func LoadZone(name string) (*time.Location, bool) {
	if name == "" || len(name) > 64 {
		return nil, false
	}
	lower := strings.ToLower(name)
	switch lower {
	case "utc", "gmt", "zulu", "z", "uct", "etc/utc", "universal":
		if lower == "utc" || lower == "z" || lower == "zulu" {
			return time.UTC, true
		}
	case "local", "localtime", "posixrules", "factory":
		return nil, false
	}
	if strings.Contains(name, "..") || name[0] == '/' || strings.Contains(name, `\`) {
		return nil, false
	}
	for _, try := range []string{name, titleZone(lower), strings.ToUpper(name)} {
		if loc, err := time.LoadLocation(try); err == nil && try != "Local" {
			return loc, true
		}
	}
	if off, ok := zoneAbbrevs[lower]; ok {
		return time.FixedZone(strings.ToUpper(name), off), true
	}
	return posixZone(name)
}

// titleZone guesses a zone file's capitals: America/New_York, Etc/GMT+3, Africa/Porto-Novo.
func titleZone(lower string) string {
	b := []byte(lower)
	up := true
	for i, c := range b {
		if up && isAlpha(c) {
			b[i] = c &^ 0x20
		}
		up = c == '/' || c == '_' || c == '-'
	}
	s := string(b)
	for _, fix := range [...][2]string{{"Etc/Gmt", "Etc/GMT"}, {"Etc/Utc", "Etc/UTC"}, {"Etc/Uct", "Etc/UCT"}, {"_Es_", "_es_"}, {"_Of_", "_of_"}, {"-Au-", "-au-"}, {"Us/", "US/"}} {
		s = strings.Replace(s, fix[0], fix[1], 1)
	}
	return s
}

// posixZone reads NAME±hh[:mm[:ss]] and <NAME>±hh; the displacement counts west.
func posixZone(name string) (*time.Location, bool) {
	i := 0
	abbrev := ""
	if name[0] == '<' {
		end := strings.IndexByte(name, '>')
		if end < 0 {
			return nil, false
		}
		abbrev, i = name[1:end], end+1
	} else {
		for i < len(name) && isAlpha(name[i]) {
			i++
		}
		abbrev = name[:i]
	}
	rest := name[i:]
	if rest == "" {
		return nil, false
	}
	if isDigit(rest[0]) {
		rest = "+" + rest
	}
	parts := strings.Split(rest[1:], ":")
	if rest[0] != '+' && rest[0] != '-' || len(parts) > 3 {
		return nil, false
	}
	total, unit := 0, 3600
	for j, p := range parts {
		v, err := strconv.ParseUint(p, 10, 16)
		if err != nil || j == 0 && v > 167 || j > 0 && v > 59 {
			return nil, false
		}
		total += int(v) * unit
		unit /= 60
	}
	if rest[0] == '+' {
		total = -total
	}
	if abbrev != "" {
		abbrev = strings.ToUpper(abbrev)
	}
	return time.FixedZone(abbrev, total), true
}

// ParseTimeZoneSetting reads a value of SET TIME ZONE: a zone name, or a number of hours
// east of UTC such as -7 or 5.5. The second result is what SHOW then prints.
func ParseTimeZoneSetting(value string) (*time.Location, string, error) {
	if hours, err := strconv.ParseFloat(strings.TrimSpace(value), 64); err == nil && hours > -168 && hours < 168 {
		return FixedZone(int(hours * 3600))
	}
	loc, ok := LoadZone(value)
	if !ok {
		return nil, "", pgerr.New(pgerr.InvalidParameterValue, `invalid value for parameter "TimeZone": "%s"`, value)
	}
	name := loc.String()
	if name == "" {
		name = value
	}
	return loc, name, nil
}

// FixedZone is a zone at a constant displacement, with the name PostgreSQL shows for it.
func FixedZone(east int) (*time.Location, string, error) {
	name := string(appendOffset(nil, east))
	return time.FixedZone(name, east), "<" + name + ">" + string(appendOffset(nil, -east)), nil
}
