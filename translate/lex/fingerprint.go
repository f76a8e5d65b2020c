package lex

import (
	"encoding/binary"
	"math/bits"
)

// Class of a literal in the normal form. Literals of one class have one type, so that
// statements of equal normal form bind alike as far as types go.
type SlotKind byte

// The slot kinds.
const (
	SlotInt4    SlotKind = 'i'
	SlotInt8    SlotKind = 'I'
	SlotNumeric SlotKind = 'n'
	SlotString  SlotKind = 's'
	SlotBit     SlotKind = 'b'
)

// Slot is a literal of a fingerprinted statement.
type Slot struct {
	Kind SlotKind
	tok  Token
}

// Pos is the byte offset of the literal.
func (s Slot) Pos() int { return int(s.tok.Start) }

// End is the byte offset behind the literal.
func (s Slot) End() int { return int(s.tok.End) }

// Limits of what is worth caching. A statement beyond them has Cacheable false.
const (
	maxSlots = 256
	maxNorm  = 8 << 10
)

// FP is the fingerprint of one statement. It is reused from call to call; what it holds
// refers to the text of the last one.
type FP struct {
	// Hash is a hash of Norm.
	Hash uint64
	// Norm is the normal form: the statement's tokens with every literal replaced by its
	// class. Two statements have equal Norm exactly if their token streams are equal up to
	// the values of literals, so a cache compares Norm, not Hash alone.
	Norm []byte
	// Slots are the literals, in order: the ordinals are ast.Literal.Slot.
	Slots []Slot
	// Start and End are the statement's extent without the semicolon, Next the offset
	// behind the semicolon, or the length of the text.
	Start, End, Next int
	// Empty says that no statement was left.
	Empty bool
	// Cacheable is false for statements that are too long, have errors or names or strings
	// with escapes that may be wrong. Then only Start is set besides.
	Cacheable bool

	src string
}

// Text returns the value of slot i as ast.Literal.Text has it. It allocates only for
// literals with quotes or escapes in them.
func (fp *FP) Text(i int) string {
	l := Lexer{Src: fp.src}
	return l.Value(&fp.Slots[i].tok)
}

// Fingerprint scans the statement at or after the offset start. The text must have
// passed Check. A text without a further statement gives Empty.
func Fingerprint(sql string, start int, fp *FP) {
	fp.Norm, fp.Slots = fp.Norm[:0], fp.Slots[:0]
	fp.Hash, fp.Empty, fp.Cacheable, fp.src = 0, false, false, sql
	fp.Start, fp.End, fp.Next = start, start, len(sql)
	l := Lexer{Src: sql, Pos: start}
	var t Token
	for {
		l.Next(&t)
		if t.Kind != Semicolon {
			break
		}
	}
	fp.Start = int(t.Start)
	if t.Kind == EOF {
		fp.Empty, fp.End = true, fp.Start
		return
	}
	norm := fp.Norm
	for {
		switch t.Kind {
		case Word:
			if t.Kw == KwNchar && t.End-t.Start == 1 {
				// N'..': the word n could also name a type.
				norm = append(norm, "nchar "...)
				break
			}
			norm = appendFolded(norm, sql[t.Start:t.End])
			norm = append(norm, ' ')
		case Integer, Numeric, String, Bit, Hex:
			if t.Form >= Escape && t.Form != Dollar {
				// Its value may be wrong; only the parser says so.
				fp.Norm = norm
				return
			}
			k := slotKind(&t, sql)
			fp.Slots = append(fp.Slots, Slot{Kind: k, tok: t})
			norm = append(norm, 1, byte(k))
		case Quoted:
			if t.Form == Unicode {
				fp.Norm = norm
				return
			}
			norm = append(norm, sql[t.Start:t.End]...)
			norm = append(norm, ' ')
		case Semicolon, EOF:
			fp.Norm, fp.Next = norm, int(t.End)
			fp.Cacheable = true
			fp.Hash = hashBytes(norm)
			return
		case Invalid:
			fp.Norm = norm
			return
		case Comma:
			norm = append(norm, ',')
		case LParen:
			norm = append(norm, '(')
		case RParen:
			norm = append(norm, ')')
		default:
			if sql[t.Start] == 1 {
				// The byte that marks slots: as a token of its own it is no valid SQL, but the
				// normal form would read like one with a slot.
				fp.Norm = norm
				return
			}
			norm = append(norm, sql[t.Start:t.End]...)
			norm = append(norm, ' ')
		}
		if len(norm) > maxNorm || len(fp.Slots) > maxSlots {
			fp.Norm = norm
			return
		}
		fp.End = int(t.End)
		l.Next(&t)
	}
}

func appendFolded(dst []byte, word string) []byte {
	n := len(dst)
	dst = append(dst, word...)
	for i := n; i < len(dst); i++ {
		dst[i] = lower(dst[i])
	}
	return dst
}

// slotKind classes a literal as PostgreSQL types it: int4 or int8 if it fits, else
// numeric.
func slotKind(t *Token, sql string) SlotKind {
	switch t.Kind {
	case Integer:
		return integerKind(sql[t.Start:t.End])
	case Numeric:
		return SlotNumeric
	case String:
		return SlotString
	}
	return SlotBit
}

func integerKind(digits string) SlotKind {
	for len(digits) > 1 && digits[0] == '0' {
		digits = digits[1:]
	}
	const max4, max8 = "2147483647", "9223372036854775807"
	switch n := len(digits); {
	case n < len(max4) || (n == len(max4) && digits <= max4):
		return SlotInt4
	case n < len(max8) || (n == len(max8) && digits <= max8):
		return SlotInt8
	}
	return SlotNumeric
}

// hashBytes mixes eight bytes at a time by folded multiplication.
func hashBytes(b []byte) uint64 {
	const k0, k1 = 0x9e3779b97f4a7c15, 0xd6e8feb86659fd93
	h := uint64(len(b)) ^ k0
	for len(b) >= 8 {
		hi, lo := bits.Mul64(binary.LittleEndian.Uint64(b)^h, k1)
		h = hi ^ lo
		b = b[8:]
	}
	var last [8]byte
	copy(last[:], b)
	hi, lo := bits.Mul64(binary.LittleEndian.Uint64(last[:])^h, k0)
	return hi ^ lo
}
