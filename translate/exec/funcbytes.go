package exec

import (
	"bytes"
	"crypto/md5" // md5() is part of SQL
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strings"
	"unicode"

	"github.com/eiderdb/eider/translate/pgerr"
	"github.com/eiderdb/eider/translate/types"
)

func bytesFuncs() []Func {
	sum := func(name string, f func([]byte) []byte) Func {
		return fn(name, tBytea, func(c *Call) (types.Datum, error) { return Bytes(f(c.Args[0].B)), nil }, tBytea)
	}
	md := func(c *Call) (types.Datum, error) {
		h := md5.Sum(c.Args[0].B)
		return Str(hex.EncodeToString(h[:])), nil
	}
	byteLen := func(c *Call) (types.Datum, error) { return Int(int64(len(c.Args[0].B))), nil }
	sub := func(c *Call) (types.Datum, error) {
		b := c.Args[0].B
		from := c.Args[1].I - 1
		to := int64(len(b))
		if len(c.Args) > 2 {
			if c.Args[2].I < 0 {
				return types.Null, pgerr.New(pgerr.SubstringError, "negative substring length not allowed")
			}
			to = min(to, from+c.Args[2].I)
		}
		from = max(0, from)
		if from >= to {
			return Bytes(nil), nil
		}
		return Bytes(b[from:to]), nil
	}
	encode := func(c *Call) (types.Datum, error) {
		b := c.Args[0].B
		switch strings.ToLower(c.str(1)) {
		case "hex":
			return Str(hex.EncodeToString(b)), nil
		case "base64":
			s := base64.StdEncoding.EncodeToString(b)
			var out strings.Builder
			for len(s) > 76 {
				out.WriteString(s[:76] + "\n")
				s = s[76:]
			}
			return Str(out.String() + s), nil
		case "escape":
			var out []byte
			for _, x := range b {
				switch {
				case x == '\\':
					out = append(out, '\\', '\\')
				case x == 0 || x >= 0x80:
					out = append(out, '\\', '0'+x>>6, '0'+x>>3&7, '0'+x&7)
				default:
					out = append(out, x)
				}
			}
			return Bytes(out), nil
		}
		return types.Null, pgerr.New(pgerr.InvalidParameterValue, "unrecognized encoding: %q", c.str(1))
	}
	decode := func(c *Call) (types.Datum, error) {
		s := c.str(0)
		switch strings.ToLower(c.str(1)) {
		case "hex":
			s = strings.Map(func(r rune) rune {
				if unicode.IsSpace(r) {
					return -1
				}
				return r
			}, s)
			for _, r := range s {
				if !strings.ContainsRune("0123456789abcdefABCDEF", r) {
					return types.Null, pgerr.New(pgerr.InvalidParameterValue, "invalid hexadecimal digit: %q", string(r))
				}
			}
			b, err := hex.DecodeString(s)
			if err != nil {
				return types.Null, pgerr.New(pgerr.InvalidParameterValue, "invalid hexadecimal data: odd number of digits")
			}
			return Bytes(b), nil
		case "base64":
			s = strings.Map(func(r rune) rune {
				if unicode.IsSpace(r) {
					return -1
				}
				return r
			}, s)
			b, err := base64.StdEncoding.DecodeString(s)
			if err != nil {
				return types.Null, pgerr.New(pgerr.InvalidParameterValue, "invalid base64 end sequence").
					WithHint("Input data is missing padding, is truncated, or is otherwise corrupted.")
			}
			return Bytes(b), nil
		case "escape":
			return types.Input(c.Env, types.T{OID: tBytea, Mod: -1}, c.Args[0].B)
		}
		return types.Null, pgerr.New(pgerr.InvalidParameterValue, "unrecognized encoding: %q", c.str(1))
	}
	overlay := func(c *Call) (types.Datum, error) {
		s, p := c.Args[0].B, c.Args[1].B
		start, n, err := c.overlaid(len(p))
		if err != nil {
			return types.Null, err
		}
		size := int64(len(s))
		head, tail := s[:min(size, start-1)], s[min(size, max(0, start+n-1)):]
		return Bytes(slices.Concat(head, p, tail)), nil
	}
	return []Func{
		fn("md5", tText, md, tText), fn("md5", tText, md, tBytea),
		sum("sha224", func(b []byte) []byte { h := sha256.Sum224(b); return h[:] }),
		sum("sha256", func(b []byte) []byte { h := sha256.Sum256(b); return h[:] }),
		sum("sha384", func(b []byte) []byte { h := sha512.Sum384(b); return h[:] }),
		sum("sha512", func(b []byte) []byte { h := sha512.Sum512(b); return h[:] }),
		fn("length", tInt4, byteLen, tBytea), fn("octet_length", tInt4, byteLen, tBytea),
		fn("substr", tBytea, sub, tBytea, tInt4), fn("substr", tBytea, sub, tBytea, tInt4, tInt4),
		fn("substring", tBytea, sub, tBytea, tInt4), fn("substring", tBytea, sub, tBytea, tInt4, tInt4),
		fn("overlay", tBytea, overlay, tBytea, tBytea, tInt4), fn("overlay", tBytea, overlay, tBytea, tBytea, tInt4, tInt4),
		fn("position", tInt4, func(c *Call) (types.Datum, error) {
			return Int(int64(bytes.Index(c.Args[0].B, c.Args[1].B) + 1)), nil
		}, tBytea, tBytea),
		fn("set_byte", tBytea, func(c *Call) (types.Datum, error) {
			b, n := bytes.Clone(c.Args[0].B), c.Args[1].I
			if n < 0 || n >= int64(len(b)) {
				return types.Null, pgerr.New(pgerr.ArraySubscriptError, "index %d out of valid range, 0..%d", n, len(b)-1)
			}
			b[n] = byte(c.Args[2].I)
			return types.Datum{B: b, Valid: true}, nil
		}, tBytea, tInt4, tInt4),
		fn("get_byte", tInt4, func(c *Call) (types.Datum, error) {
			n := c.Args[1].I
			if n < 0 || n >= int64(len(c.Args[0].B)) {
				return types.Null, pgerr.New(pgerr.ArraySubscriptError, "index %d out of valid range, 0..%d", n, len(c.Args[0].B)-1)
			}
			return Int(int64(c.Args[0].B[n])), nil
		}, tBytea, tInt4),
		fn("encode", tText, encode, tBytea, tText), fn("decode", tBytea, decode, tText, tText),
		fn("convert_from", tText, func(c *Call) (types.Datum, error) {
			if err := types.CheckUTF8(c.Args[0].B); err != nil {
				return types.Null, err
			}
			return c.Args[0], nil
		}, tBytea, tName),
		fn("convert_to", tBytea, func(c *Call) (types.Datum, error) { return c.Args[0], nil }, tText, tName),
	}
}
