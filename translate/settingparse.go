package translate

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/eiderdb/eider/translate/pgerr"
)

// validate checks a value written for d and returns it in canonical form (base units).
func (d *settingDef) validate(v string) (string, error) {
	switch d.kind {
	case kindBool:
		b, ok := parseBool(v)
		if !ok {
			return "", pgerr.New(pgerr.InvalidParameterValue, "parameter %q requires a Boolean value", d.name)
		}
		if b {
			return "on", nil
		}
		return "off", nil
	case kindEnum:
		for _, e := range d.values {
			if strings.EqualFold(e, v) {
				return e, nil
			}
		}
		if alias, ok := d.enumAlias(v); ok {
			return alias, nil
		}
		return "", badValue(d.name, v).WithHint("Available values: %s.", strings.Join(d.values, ", "))
	case kindInt, kindReal:
		return d.validateNumber(v)
	}
	return d.validateString(v)
}

// enumAlias maps spellings that PostgreSQL accepts but does not list.
func (d *settingDef) enumAlias(v string) (string, bool) {
	switch d.key {
	case "synchronous_commit", "constraint_exclusion", "backslash_quote", "compute_query_id", "force_parallel_mode", "wal_compression":
		if b, ok := parseBool(v); ok {
			if b {
				return "on", true
			}
			return "off", true
		}
	}
	return "", false
}

func badValue(name, v string) *pgerr.Error {
	return pgerr.New(pgerr.InvalidParameterValue, "invalid value for parameter %q: %q", name, v)
}

// parseBool accepts unique prefixes of true, false, yes, no, and on, off, 1, 0.
func parseBool(v string) (val, ok bool) {
	v = strings.ToLower(strings.TrimSpace(v))
	if v == "" {
		return false, false
	}
	switch {
	case strings.HasPrefix("true", v), strings.HasPrefix("yes", v), v == "on", v == "1":
		return true, true
	case strings.HasPrefix("false", v), strings.HasPrefix("no", v), v == "of", v == "off", v == "0":
		return false, true
	}
	return false, false
}

func (d *settingDef) validateNumber(v string) (string, error) {
	num, unit := splitUnit(v)
	var f float64
	var err error
	if n, perr := strconv.ParseInt(num, 0, 64); perr == nil {
		f = float64(n)
	} else if f, err = strconv.ParseFloat(num, 64); err != nil || math.IsNaN(f) || math.IsInf(f, 0) || strings.ContainsAny(num, "xXpP_") {
		return "", badValue(d.name, v)
	}
	if unit != "" {
		family, size := d.base()
		factor := 0.0
		for _, u := range family {
			if u.name == unit {
				factor = u.size
			}
		}
		if factor == 0 {
			e := badValue(d.name, v)
			if family != nil && family[0].name == "TB" {
				return "", e.WithHint("Valid units for this parameter are \"B\", \"kB\", \"MB\", \"GB\", and \"TB\".")
			}
			if family != nil {
				return "", e.WithHint("Valid units for this parameter are \"us\", \"ms\", \"s\", \"min\", \"h\", and \"d\".")
			}
			return "", e
		}
		f = f * factor / size
	}
	if d.kind == kindInt {
		f = math.RoundToEven(f)
		if math.Abs(f) > math.MaxInt32 {
			return "", badValue(d.name, v).WithHint("Value exceeds integer range.")
		}
	}
	if f < d.min || f > d.max {
		u := ""
		if d.unit != "" {
			u = " " + d.unit
		}
		return "", pgerr.New(pgerr.InvalidParameterValue, "%s%s is outside the valid range for parameter %q (%s .. %s)",
			formatNumber(f), u, d.name, d.minText, d.maxText)
	}
	return formatNumber(f), nil
}

func formatNumber(f float64) string {
	if f == math.Trunc(f) && math.Abs(f) < 1e15 {
		return strconv.FormatInt(int64(f), 10)
	}
	return strconv.FormatFloat(f, 'g', -1, 64)
}

// splitUnit separates "1.5 min" into its number and unit.
func splitUnit(v string) (num, unit string) {
	v = strings.TrimSpace(v)
	if strings.HasPrefix(v, "0x") || strings.HasPrefix(v, "0X") {
		return v, ""
	}
	i := len(v)
	for i > 0 && (v[i-1] >= 'a' && v[i-1] <= 'z' || v[i-1] >= 'A' && v[i-1] <= 'Z') {
		i--
	}
	return strings.TrimSpace(v[:i]), v[i:]
}

func (d *settingDef) validateString(v string) (string, error) {
	switch d.key {
	case "client_encoding":
		switch normalEncoding(v) {
		case "utf8", "unicode":
			return "UTF8", nil
		case "sqlascii":
			return "SQL_ASCII", nil
		}
		return "", badValue(d.name, v).WithDetail("Only UTF8 is supported.")
	case "datestyle":
		return validDateStyle("ISO, MDY", v)
	case "timezone":
		return validTimeZone(v)
	case "application_name":
		return printable(v), nil
	case "search_path":
		if _, err := splitIdentifiers(v); err != nil {
			return "", badValue(d.name, v).WithDetail("List syntax is invalid.")
		}
	}
	return v, nil
}

// printable replaces what is not printable ASCII by question marks, as PostgreSQL does.
func printable(v string) string {
	b := []byte(v)
	for i, c := range b {
		if c < 32 || c > 126 {
			b[i] = '?'
		}
	}
	return string(b)
}

func normalEncoding(v string) string {
	var b strings.Builder
	for _, c := range strings.ToLower(v) {
		if c >= 'a' && c <= 'z' || c >= '0' && c <= '9' {
			b.WriteRune(c)
		}
	}
	return b.String()
}

// validDateStyle merges the words of v into the current "<style>, <order>".
func validDateStyle(current, v string) (string, error) {
	style, order, _ := strings.Cut(current, ", ")
	seenStyle, seenOrder := "", ""
	for word := range strings.SplitSeq(v, ",") {
		word = strings.TrimSpace(word)
		newStyle, newOrder := "", ""
		switch u := strings.ToUpper(word); {
		case u == "ISO":
			newStyle = "ISO"
		case u == "SQL":
			newStyle = "SQL"
		case strings.HasPrefix(u, "POSTGRES"):
			newStyle = "Postgres"
		case u == "GERMAN":
			newStyle, order = "German", "DMY"
		case u == "YMD":
			newOrder = "YMD"
		case u == "DMY" || strings.HasPrefix(u, "EURO"):
			newOrder = "DMY"
		case u == "MDY" || u == "US" || strings.HasPrefix(u, "NONEURO"):
			newOrder = "MDY"
		case u == "DEFAULT":
			newStyle, newOrder = "ISO", "MDY"
		default:
			return "", badValue("DateStyle", v).WithDetail("Unrecognized key word: %q.", word)
		}
		if newStyle != "" && seenStyle != "" && seenStyle != newStyle || newOrder != "" && seenOrder != "" && seenOrder != newOrder {
			return "", badValue("DateStyle", v).WithDetail("The \"datestyle\" specifications contradict each other.")
		}
		if newStyle != "" {
			style, seenStyle = newStyle, newStyle
		}
		if newOrder != "" {
			order, seenOrder = newOrder, newOrder
		}
	}
	return style + ", " + order, nil
}

// validTimeZone accepts zone names of the time zone database, UTC offsets in hours and
// POSIX-like "UTC+3" spellings.
func validTimeZone(v string) (string, error) {
	if _, name, ok := loadZone(v); ok {
		return name, nil
	}
	return "", badValue("TimeZone", v)
}

// loadZone finds the location a TimeZone value names and its canonical spelling.
func loadZone(v string) (*time.Location, string, bool) {
	t := strings.TrimSpace(v)
	switch strings.ToUpper(t) {
	case "UTC", "GMT", "ETC/UTC", "ETC/GMT", "ZULU", "UCT":
		return time.UTC, t, true
	case "LOCAL", "DEFAULT":
		return time.UTC, "UTC", true
	case "":
		return nil, "", false
	}
	if h, err := strconv.ParseFloat(t, 64); err == nil {
		// A bare number is hours east of Greenwich; it is shown in POSIX form, west positive.
		if math.Abs(h) > 167 {
			return nil, "", false
		}
		sec := int(math.Round(h * 3600))
		return time.FixedZone(offsetName(sec), sec), posixZone(sec), true
	}
	if loc, ok := parsePosixZone(t); ok {
		return loc, t, true
	}
	if strings.ContainsAny(t, "<>\\") {
		return nil, "", false
	}
	if loc, err := time.LoadLocation(t); err == nil && !strings.EqualFold(t, "local") {
		return loc, t, true
	}
	if canon := canonicalZone(t); canon != "" {
		if loc, err := time.LoadLocation(canon); err == nil {
			return loc, canon, true
		}
	}
	return nil, "", false
}

// canonicalZone spells a zone name with the capital letters the database uses.
func canonicalZone(v string) string {
	parts := strings.Split(strings.ToLower(v), "/")
	for i, p := range parts {
		words := strings.FieldsFunc(p, func(r rune) bool { return r == '_' })
		for j, w := range words {
			if w != "" {
				words[j] = strings.ToUpper(w[:1]) + w[1:]
			}
		}
		parts[i] = strings.Join(words, "_")
	}
	return strings.Join(parts, "/")
}

func offsetName(sec int) string {
	sign := '+'
	if sec < 0 {
		sign, sec = '-', -sec
	}
	b := []byte{byte(sign)}
	b = append(b, byte('0'+sec/36000), byte('0'+sec/3600%10))
	if sec%3600 != 0 {
		b = append(b, ':', byte('0'+sec/600%6), byte('0'+sec/60%10))
	}
	return string(b)
}

// posixZone is how PostgreSQL shows a fixed offset: <+02>-02.
func posixZone(sec int) string { return "<" + offsetName(sec) + ">" + offsetName(-sec) }

// parsePosixZone reads <abbrev>±hh[:mm] and ABC±hh[:mm] without daylight saving rules.
func parsePosixZone(t string) (*time.Location, bool) {
	rest := ""
	if strings.HasPrefix(t, "<") {
		end := strings.IndexByte(t, '>')
		if end < 0 {
			return nil, false
		}
		rest = t[end+1:]
	} else {
		i := 0
		for i < len(t) && (t[i] >= 'a' && t[i] <= 'z' || t[i] >= 'A' && t[i] <= 'Z') {
			i++
		}
		if i < 3 && i != 0 {
			return nil, false
		}
		rest = t[i:]
	}
	if rest == "" {
		return nil, false
	}
	neg := false
	switch rest[0] {
	case '+':
		rest = rest[1:]
	case '-':
		rest, neg = rest[1:], true
	}
	hh, mm, _ := strings.Cut(rest, ":")
	h, err := strconv.Atoi(hh)
	if err != nil || h > 24 {
		return nil, false
	}
	m := 0
	if mm != "" {
		if m, err = strconv.Atoi(mm); err != nil || m > 59 {
			return nil, false
		}
	}
	sec := h*3600 + m*60
	if !neg {
		sec = -sec // POSIX offsets count westwards
	}
	return time.FixedZone(offsetName(sec), sec), true
}

// splitIdentifiers splits a comma-separated list of identifiers as search_path holds it:
// unquoted ones fold to lower case.
func splitIdentifiers(v string) ([]string, error) {
	var out []string
	i := 0
	skip := func() {
		for i < len(v) && (v[i] == ' ' || v[i] == '\t' || v[i] == '\n') {
			i++
		}
	}
	skip()
	if i == len(v) {
		return nil, nil
	}
	for {
		skip()
		var name string
		if i < len(v) && v[i] == '"' {
			var b strings.Builder
			i++
			for {
				if i >= len(v) {
					return nil, errListSyntax
				}
				if v[i] == '"' {
					if i+1 < len(v) && v[i+1] == '"' {
						b.WriteByte('"')
						i += 2
						continue
					}
					i++
					break
				}
				b.WriteByte(v[i])
				i++
			}
			name = b.String()
		} else {
			start := i
			for i < len(v) && v[i] != ',' && v[i] != ' ' && v[i] != '\t' && v[i] != '\n' && v[i] != '"' {
				i++
			}
			if start == i {
				return nil, errListSyntax
			}
			name = strings.ToLower(v[start:i])
		}
		out = append(out, name)
		skip()
		if i == len(v) {
			return out, nil
		}
		if v[i] != ',' {
			return nil, errListSyntax
		}
		i++
	}
}

var errListSyntax = pgerr.New(pgerr.InvalidParameterValue, "invalid list syntax")

// quoteIdent quotes an identifier where it needs quotes.
func quoteIdent(name string) string {
	plain := name != ""
	for i := 0; i < len(name); i++ {
		c := name[i]
		if !(c >= 'a' && c <= 'z' || c == '_' || i > 0 && (c >= '0' && c <= '9' || c == '$')) {
			plain = false
			break
		}
	}
	if plain && !reservedWords[name] {
		return name
	}
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
}

// reservedWords are the words that quote_identifier quotes although they look plain.
var reservedWords = func() map[string]bool {
	m := make(map[string]bool)
	for w := range strings.FieldsSeq(`all analyse analyze and any array as asc asymmetric authorization between bigint binary bit
		boolean both case cast char character check coalesce collate collation column concurrently constraint create cross
		current_catalog current_date current_role current_schema current_time current_timestamp current_user dec decimal default
		deferrable desc distinct do else end except exists extract false fetch float for foreign freeze from full grant greatest
		group grouping having ilike in initially inner inout int integer intersect interval into is isnull join lateral leading
		least left like limit localtime localtimestamp national natural nchar none normalize not notnull null nullif numeric
		offset on only or order out outer overlaps overlay placing position precision primary real references returning right
		row select session_user setof similar smallint some substring symmetric table tablesample then time timestamp to trailing
		treat trim true union unique user using values varchar variadic verbose when where window with xmlattributes xmlconcat
		xmlelement xmlexists xmlforest xmlnamespaces xmlparse xmlpi xmlroot xmlserialize xmltable`) {
		m[w] = true
	}
	return m
}()
