package exec

import (
	"bytes"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/eiderdb/eider/translate/pgerr"
	"github.com/eiderdb/eider/translate/types"
)

// addMatchOps adds LIKE, regular expressions and ^@.
func addMatchOps(add func(name string, l, r, ret types.OID, fn OpFunc)) {
	like := func(ci, not, wide bool) OpFunc {
		return func(c *Ctx, a, b types.Datum) (types.Datum, error) {
			s, p := a.B, b.B
			if ci {
				s, p = []byte(strings.ToLower(string(s))), []byte(strings.ToLower(string(p)))
			}
			ok, err := likeMatch(c, s, p, wide)
			return Bool(ok != not), err
		}
	}
	regex := func(ci, not bool) OpFunc {
		return func(c *Ctx, a, b types.Datum) (types.Datum, error) {
			flags := ""
			if ci {
				flags = "i"
			}
			re, err := c.regex(string(b.B), flags)
			if err != nil {
				return types.Null, err
			}
			return Bool(re.Match(a.B) != not), nil
		}
	}
	for _, t := range []types.OID{types.NameOID, types.TextOID, types.BpcharOID} {
		add("~~", t, types.TextOID, types.BoolOID, like(false, false, true))
		add("!~~", t, types.TextOID, types.BoolOID, like(false, true, true))
		add("~~*", t, types.TextOID, types.BoolOID, like(true, false, true))
		add("!~~*", t, types.TextOID, types.BoolOID, like(true, true, true))
		add("~", t, types.TextOID, types.BoolOID, regex(false, false))
		add("!~", t, types.TextOID, types.BoolOID, regex(false, true))
		add("~*", t, types.TextOID, types.BoolOID, regex(true, false))
		add("!~*", t, types.TextOID, types.BoolOID, regex(true, true))
	}
	add("~~", types.ByteaOID, types.ByteaOID, types.BoolOID, like(false, false, false))
	add("!~~", types.ByteaOID, types.ByteaOID, types.BoolOID, like(false, true, false))
	add("^@", types.TextOID, types.TextOID, types.BoolOID, func(_ *Ctx, a, b types.Datum) (types.Datum, error) {
		return Bool(strings.HasPrefix(string(a.B), string(b.B))), nil
	})
}

// likeMatch matches a LIKE pattern: % any run, _ one character (a byte without wide),
// backslash escapes. A % that was passed need not take more once a later one was reached:
// what lies between the two was found as early as it can be. So there is one place to go
// back to, and the time is bounded by the product of the lengths.
func likeMatch(c *Ctx, s, p []byte, wide bool) (bool, error) {
	char := func(s []byte) int {
		if !wide || s[0] < utf8.RuneSelf {
			return 1
		}
		_, n := utf8.DecodeRune(s)
		return n
	}
	var backS, backP []byte // after the last %: where it may end at the earliest, what follows it
	back := false
	for {
		matched := false
		switch {
		case len(p) == 0:
			if len(s) == 0 {
				return true, nil
			}
		case p[0] == '%':
			if len(p) == 1 {
				return true, nil
			}
			back, backS, backP = true, s, p[1:]
			p, matched = p[1:], true
		case len(s) == 0:
		case p[0] == '_':
			s, p, matched = s[char(s):], p[1:], true
		default:
			lit := p
			if p[0] == '\\' {
				if lit = p[1:]; len(lit) == 0 {
					return false, errLikeEscape()
				}
			}
			if s[0] == lit[0] {
				s, p, matched = s[1:], lit[1:], true
			}
		}
		if matched {
			continue
		}
		// With the text used up, a later start leaves even less.
		if !back || len(s) == 0 {
			return false, nil
		}
		if err := c.Check(); err != nil {
			return false, err
		}
		backS = backS[char(backS):]
		if len(backP) > 0 && backP[0] != '%' && backP[0] != '_' && backP[0] != '\\' {
			i := bytes.IndexByte(backS, backP[0])
			if i < 0 {
				return false, nil
			}
			backS = backS[i:]
		}
		s, p = backS, backP
	}
}

func errLikeEscape() error {
	return pgerr.New(pgerr.InvalidEscapeSequence, "LIKE pattern must not end with escape character")
}

// likeEscape rewrites a pattern with an escape character of its own to backslashes.
func likeEscape(p, esc string) (string, error) {
	if utf8.RuneCountInString(esc) > 1 {
		return "", pgerr.New(pgerr.InvalidEscapeSequence, "invalid escape string").WithHint("Escape string must be empty or one character.")
	}
	if esc == "\\" {
		return p, nil
	}
	var b strings.Builder
	after := false
	for _, r := range p {
		switch {
		case esc != "" && string(r) == esc && !after:
			b.WriteByte('\\')
			after = true
			continue
		case r == '\\' && !after:
			b.WriteByte('\\')
		}
		b.WriteRune(r)
		after = false
	}
	return b.String(), nil
}

// maxRegexCache is how many compiled expressions one execution keeps.
const maxRegexCache = 256

type regexCache struct{ m map[string]*pattern }

// regex compiles an advanced regular expression of PostgreSQL's as far as Go's can say it.
func (c *Ctx) regex(text, flags string) (*pattern, error) {
	cache := stateOf[regexCache](c, regexKey{})
	key := flags + "/" + text
	if re, ok := cache.m[key]; ok {
		return re, nil
	}
	compiled, err := compileRegex(text, flags)
	if err != nil {
		return nil, err
	}
	re := newPattern(compiled)
	if cache.m == nil || len(cache.m) >= maxRegexCache {
		cache.m = make(map[string]*pattern)
	}
	cache.m[key] = re
	return re, nil
}

type regexKey struct{}

func compileRegex(p, flags string) (*regexp.Regexp, error) {
	opts := "s"
	quote := false
	// Embedded options lead the pattern; ***= makes it a literal string.
	switch {
	case strings.HasPrefix(p, "***="):
		p, quote = p[4:], true
	case strings.HasPrefix(p, "***:"):
		p = p[4:]
	}
	if strings.HasPrefix(p, "(?") && !quote {
		if end := strings.IndexByte(p, ')'); end > 2 && strings.Trim(p[2:end], "bceimnpqstwx") == "" {
			flags += p[2:end]
			p = p[end+1:]
		}
	}
	expanded := false
	for _, f := range flags {
		switch f {
		case 'i':
			opts += "i"
		case 'c':
			opts = strings.ReplaceAll(opts, "i", "")
		case 'n', 'm':
			opts = strings.ReplaceAll(opts, "s", "") + "m"
		case 'p':
			opts = strings.ReplaceAll(opts, "s", "")
		case 'w':
			opts += "m"
		case 's':
			opts += "s"
		case 'x':
			expanded = true
		case 'q':
			quote = true
		case 'g', 'e', 't', 'b':
		default:
			return nil, pgerr.New(pgerr.InvalidParameterValue, "invalid regular expression option: %q", string(f))
		}
	}
	if quote {
		p = regexp.QuoteMeta(p)
	} else {
		p = translateARE(p, expanded)
	}
	if opts != "" {
		p = "(?" + opts + ")" + p
	}
	re, err := regexp.Compile(p)
	if err != nil {
		msg := err.Error()
		if i := strings.LastIndex(msg, "parsing regexp: "); i >= 0 {
			msg = msg[i+len("parsing regexp: "):]
		}
		return nil, pgerr.New(pgerr.InvalidRegularExpression, "invalid regular expression: %s", innocent(msg))
	}
	if quote || !hasReluctant(p) {
		// Without reluctant quantifiers the longest match wins, also between alternatives.
		re.Longest()
	}
	return re, nil
}

// hasReluctant says whether an expression has *?, +?, ?? or {…}?.
func hasReluctant(p string) bool {
	class := false
	for i := 0; i < len(p); i++ {
		switch ch := p[i]; {
		case ch == '\\':
			i++
		case class:
			class = ch != ']'
		case ch == '[':
			class = true
		case strings.IndexByte("*+?}", ch) >= 0 && i+1 < len(p) && p[i+1] == '?':
			return true
		}
	}
	return false
}

// translateARE rewrites what PostgreSQL's expressions spell differently from Go's.
func translateARE(p string, expanded bool) string {
	var b strings.Builder
	class := false
	for i := 0; i < len(p); i++ {
		ch := p[i]
		if ch == '\\' && i+1 < len(p) {
			i++
			switch p[i] {
			case 'm', '<':
				b.WriteString(`\b`)
			case 'M', '>':
				b.WriteString(`\b`)
			case 'y':
				b.WriteString(`\b`)
			case 'Y':
				b.WriteString(`\B`)
			case 'Z':
				b.WriteString(`\z`)
			case 'e':
				b.WriteString(`\x1b`)
			case 'B':
				b.WriteString(`\\`)
			case 'u':
				if i+4 < len(p) {
					b.WriteString(`\x{` + p[i+1:i+5] + `}`)
					i += 4
				}
			default:
				b.WriteByte('\\')
				b.WriteByte(p[i])
			}
			continue
		}
		if class {
			if ch == '[' && i+1 < len(p) && (p[i+1] == ':' || p[i+1] == '=' || p[i+1] == '.') {
				if end := strings.Index(p[i+2:], string(p[i+1])+"]"); end >= 0 {
					inner := p[i+2 : i+2+end]
					if p[i+1] == ':' {
						b.WriteString("[:" + inner + ":]")
					} else {
						b.WriteString(regexp.QuoteMeta(inner))
					}
					i += end + 3
					continue
				}
			}
			if ch == '[' {
				b.WriteString(`\[`)
				continue
			}
			b.WriteByte(ch)
			if ch == ']' {
				class = false
			}
			continue
		}
		switch {
		case ch == '[':
			switch {
			case strings.HasPrefix(p[i:], "[[:<:]]"):
				b.WriteString(`\b`)
				i += 6
				continue
			case strings.HasPrefix(p[i:], "[[:>:]]"):
				b.WriteString(`\b`)
				i += 6
				continue
			}
			class = true
			b.WriteByte(ch)
			if i+1 < len(p) && p[i+1] == '^' {
				i++
				b.WriteByte('^')
			}
			if i+1 < len(p) && p[i+1] == ']' {
				i++
				b.WriteString(`\]`)
			}
		case expanded && unicode.IsSpace(rune(ch)):
		case expanded && ch == '#':
			for i < len(p) && p[i] != '\n' {
				i++
			}
		default:
			b.WriteByte(ch)
		}
	}
	return b.String()
}
