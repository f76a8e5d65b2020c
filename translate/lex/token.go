package lex

// Kind says what a token is.
type Kind uint8

// The token kinds. Single-character tokens that the grammar knows have their own kind;
// Op is any other operator, Other any other character.
const (
	EOF Kind = iota
	Invalid
	Word   // unquoted identifier or keyword
	Quoted // "identifier" or U&"identifier"
	Integer
	Numeric
	String // '..', E'..', U&'..', $$..$$
	Bit    // B'..'
	Hex    // X'..'
	Param  // $1
	Op
	Comma
	LParen
	RParen
	LBracket
	RBracket
	Dot
	Semicolon
	Colon
	Plus
	Minus
	Star
	Slash
	Percent
	Caret
	Less
	Greater
	Equal
	LessEqual
	GreaterEqual
	NotEqual
	TypeCast    // ::
	DotDot      // ..
	ColonEquals // :=
	Arrow       // =>
	Other
)

// Form says how the value of a token is written.
type Form uint8

// The forms of Quoted and String tokens. A plain token's value is the text between its
// quotes; the others need unescaping.
const (
	Plain Form = iota
	Doubled
	Continued // several '..' parts across lines
	Escape    // E'..'
	Unicode   // U&'..' or U&".."
	Dollar    // $tag$..$tag$
)

// Token is one token of a text: no copies, only offsets.
type Token struct {
	Kind  Kind
	Form  Form
	Kw    Keyword // of a Word that is a keyword
	Start int32
	End   int32
}

// Class is a keyword's class: where it may still be used as a name.
type Class uint8

// The keyword classes of PostgreSQL's grammar.
const (
	Unreserved Class = iota // any name
	ColName                 // column and table names, not functions or types
	TypeFunc                // function and type names, not columns
	Reserved                // only after AS or quoted
)

// Class returns the class of a keyword.
func (k Keyword) Class() Class { return keywordInfo[k].class }

// BareLabel reports whether the keyword may be a column label without AS.
func (k Keyword) BareLabel() bool { return keywordInfo[k].bare }

// String returns the keyword in lower case.
func (k Keyword) String() string { return keywordInfo[k].word }

// kwBuckets is a power of two well above the number of keywords.
const kwBuckets = 2048

// kwIndex is an open-addressing hash table over keywordInfo, filled once and only read.
var kwIndex = buildKeywordIndex()

func buildKeywordIndex() *[kwBuckets]Keyword {
	t := new([kwBuckets]Keyword)
	for k := NoKeyword + 1; k < numKeywords; k++ {
		h := uint32(0)
		for _, c := range []byte(keywordInfo[k].word) {
			h = h*hashMul + uint32(c)
		}
		i := hashSlot(h)
		for t[i] != NoKeyword {
			i = (i + 1) & (kwBuckets - 1)
		}
		t[i] = k
	}
	return t
}

const hashMul = 0x01000193

func hashSlot(h uint32) uint32 { return (h ^ h>>11 ^ h>>22) & (kwBuckets - 1) }

// maxKeyword is the length of the longest keyword (current_timestamp).
const maxKeyword = 17

// lookupKeyword finds word, whose folded bytes hash to h, among the keywords.
func lookupKeyword(word string, h uint32) Keyword {
	if len(word) > maxKeyword || len(word) < 2 {
		return NoKeyword
	}
	for i := hashSlot(h); ; i = (i + 1) & (kwBuckets - 1) {
		k := kwIndex[i]
		if k == NoKeyword || equalFold(keywordInfo[k].word, word) {
			return k
		}
	}
}

// LookupKeyword finds a word in any case among the keywords.
func LookupKeyword(word string) Keyword {
	h := uint32(0)
	for i := 0; i < len(word); i++ {
		h = h*hashMul + uint32(lower(word[i]))
	}
	return lookupKeyword(word, h)
}

// equalFold compares a lower-case ASCII word with a word in any ASCII case.
func equalFold(low, word string) bool {
	if len(low) != len(word) {
		return false
	}
	for i := 0; i < len(low); i++ {
		if low[i] != lower(word[i]) {
			return false
		}
	}
	return true
}

func lower(c byte) byte {
	if c-'A' < 26 {
		return c + 'a' - 'A'
	}
	return c
}

// Valid reports whether k is a keyword.
func (k Keyword) Valid() bool { return k > NoKeyword && k < numKeywords }
