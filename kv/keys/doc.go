// Package keys encodes values so that comparing the encodings as bytes orders them as
// the values. Every encoding is self-delimiting (no encoding is a prefix of another of
// the same kind), so encodings can be concatenated and the order is lexicographic.
//
//	uvarint    v ≤ 0xF7: one byte v; else 0xF7+n and n big-endian bytes (n = 1…8)
//	NULL       0x02            (after every value: NULLS LAST)
//	NOT NULL   0x01, then the value:
//	bool       0x00 | 0x01
//	int64      8 bytes big-endian, sign bit flipped
//	int128     16 bytes big-endian, sign bit flipped
//	float64    8 bytes big-endian of the IEEE bits; sign bit flipped when positive, all
//	           bits flipped when negative; -0 is 0; NaN is one value above +Inf
//	uuid       16 bytes
//	bytes/text 0x00 → 0x00 0xFF; terminator 0x00 0x01
//	numeric    sign class, weight, base-10000 digits; see numeric.go
//
// Encoding twice the same value gives the same bytes, and equal values (1.0 and 1.00,
// 0 and -0) have equal encodings, so the encodings serve unique indexes too.
// Nothing here may change without a new store format: golden tests pin every form.
package keys
