package translate

import (
	"regexp"
	"slices"
	"strings"

	"github.com/eiderdb/eider/translate/ast"
	"github.com/eiderdb/eider/translate/pgerr"
)

// copyFormat is a COPY data format.
type copyFormat uint8

const (
	copyText copyFormat = iota
	copyCSV
	copyBinary
)

// copyOptions are COPY's options, checked and with defaults filled in.
type copyOptions struct {
	format       copyFormat
	null         string
	delim        byte
	quote        byte
	escape       byte
	header       bool
	headerMatch  bool
	forceAll     bool
	forceQuote   []string
	forceNotNull []string
	forceNull    []string
}

// otherEncoding matches the names of encodings that PostgreSQL has and this server has not.
var otherEncoding = regexp.MustCompile(`(?i)^(latin|iso|win|koi8|euc|sjis|shift|big5|gb|uhc|johab|mule|abc|alt|tcvn|vscii)`)

// parseCopyOptions checks the options by PostgreSQL's rules.
func parseCopyOptions(sql string, list []ast.Option, from bool) (*copyOptions, error) {
	o := &copyOptions{}
	seen := map[string]bool{}
	var delim, null, quote, escape string
	for i := range list {
		opt := &list[i]
		name := opt.Name
		if seen[name] {
			return nil, pgerr.New(pgerr.SyntaxError, "conflicting or redundant options").At(sql, opt.Pos)
		}
		seen[name] = true
		needs := func() error {
			if !opt.Set && len(opt.List) == 0 {
				return pgerr.New(pgerr.SyntaxError, "%s requires a parameter", name)
			}
			return nil
		}
		switch name {
		case "format":
			switch strings.ToLower(opt.Value) {
			case "text":
				o.format = copyText
			case "csv":
				o.format = copyCSV
			case "binary":
				o.format = copyBinary
			default:
				return nil, pgerr.New(pgerr.InvalidParameterValue, "COPY format %q not recognized", opt.Value).At(sql, opt.Pos)
			}
		case "delimiter":
			if err := needs(); err != nil {
				return nil, err
			}
			delim = opt.Value
		case "null":
			if err := needs(); err != nil {
				return nil, err
			}
			null = opt.Value
		case "quote":
			if err := needs(); err != nil {
				return nil, err
			}
			quote = opt.Value
		case "escape":
			if err := needs(); err != nil {
				return nil, err
			}
			escape = opt.Value
		case "header":
			b, ok := true, true
			if opt.Set {
				b, ok = parseBool(opt.Value)
			}
			if !ok && strings.EqualFold(opt.Value, "match") {
				if !from {
					return nil, pgerr.New(pgerr.FeatureNotSupported, "cannot use \"match\" with HEADER in COPY TO")
				}
				b, ok, o.headerMatch = true, true, true
			}
			if !ok {
				return nil, pgerr.New(pgerr.SyntaxError, "header requires a Boolean value or \"match\"")
			}
			o.header = b
		case "force_quote":
			o.forceQuote = optionList(opt)
			o.forceAll = slices.Contains(o.forceQuote, "*")
		case "force_not_null", "force_null":
			cols := optionList(opt)
			if slices.Contains(cols, "*") {
				return nil, pgerr.New(pgerr.InvalidParameterValue, "argument to option %q must be a list of column names", name).At(sql, opt.Pos)
			}
			if name == "force_null" {
				o.forceNull = cols
			} else {
				o.forceNotNull = cols
			}
		case "encoding":
			switch normalEncoding(opt.Value) {
			case "utf8", "unicode", "sqlascii":
			default:
				if otherEncoding.MatchString(opt.Value) {
					return nil, errFeature("COPY with an encoding other than UTF8 is not supported")
				}
				return nil, pgerr.New(pgerr.InvalidParameterValue, "argument to option %q must be a valid encoding name", name).At(sql, opt.Pos)
			}
		case "freeze": // has no meaning here
			if _, ok := parseBool(opt.Value); opt.Set && !ok {
				return nil, pgerr.New(pgerr.SyntaxError, "freeze requires a Boolean value")
			}
		default:
			return nil, pgerr.New(pgerr.SyntaxError, "option %q not recognized", name).At(sql, opt.Pos)
		}
	}
	return o, o.finish(seen, delim, null, quote, escape, from)
}

func optionList(o *ast.Option) []string {
	if len(o.List) > 0 {
		return o.List
	}
	if o.Set {
		return []string{o.Value}
	}
	return nil
}

// finish fills in defaults and checks what the options mean together.
func (o *copyOptions) finish(seen map[string]bool, delim, null, quote, escape string, from bool) error {
	if o.format == copyBinary {
		for _, name := range [...]string{"delimiter", "null"} {
			if seen[name] {
				return pgerr.New(pgerr.SyntaxError, "cannot specify %s in BINARY mode", upper(name))
			}
		}
		if o.header {
			return errFeature("cannot specify HEADER in BINARY mode")
		}
	}
	csv := o.format == copyCSV
	o.delim, o.null = '\t', `\N`
	if csv {
		o.delim, o.null, o.quote = ',', "", '"'
	}
	if seen["delimiter"] {
		if len(delim) != 1 {
			return errFeature("COPY delimiter must be a single one-byte character")
		}
		o.delim = delim[0]
		if o.delim == '\n' || o.delim == '\r' {
			return pgerr.New(pgerr.InvalidParameterValue, "COPY delimiter cannot be newline or carriage return")
		}
		if !csv && strings.IndexByte(`\.abcdefghijklmnopqrstuvwxyz0123456789`, o.delim) >= 0 {
			return pgerr.New(pgerr.InvalidParameterValue, "COPY delimiter cannot be %q", delim)
		}
	}
	if seen["null"] {
		o.null = null
		if strings.ContainsAny(null, "\r\n") {
			return pgerr.New(pgerr.InvalidParameterValue, "COPY null representation cannot use newline or carriage return")
		}
	}
	for _, name := range [...]string{"quote", "escape", "force_quote", "force_not_null", "force_null"} {
		if seen[name] && !csv {
			return errFeature("COPY %s available only in CSV mode", strings.ReplaceAll(name, "_", " "))
		}
	}
	if seen["force_quote"] && from {
		return errFeature("COPY force quote only available using COPY TO")
	}
	if seen["force_not_null"] && !from {
		return errFeature("COPY force not null only available using COPY FROM")
	}
	if seen["force_null"] && !from {
		return errFeature("COPY force null only available using COPY FROM")
	}
	if !csv {
		if o.format == copyText && strings.IndexByte(o.null, o.delim) >= 0 {
			return pgerr.New(pgerr.InvalidParameterValue, "COPY delimiter must not appear in the NULL specification")
		}
		return nil
	}
	if seen["quote"] {
		if len(quote) != 1 {
			return errFeature("COPY quote must be a single one-byte character")
		}
		o.quote = quote[0]
	}
	if o.delim == o.quote {
		return pgerr.New(pgerr.InvalidParameterValue, "COPY delimiter and quote must be different")
	}
	o.escape = o.quote
	if seen["escape"] {
		if len(escape) != 1 {
			return errFeature("COPY escape must be a single one-byte character")
		}
		o.escape = escape[0]
	}
	if strings.IndexByte(o.null, o.delim) >= 0 {
		return pgerr.New(pgerr.InvalidParameterValue, "COPY delimiter must not appear in the NULL specification")
	}
	if strings.IndexByte(o.null, o.quote) >= 0 {
		return errFeature("CSV quote character must not appear in the NULL specification")
	}
	return nil
}
