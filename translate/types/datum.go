package types

// OID is a PostgreSQL type object id.
type OID = uint32

// T is a type with its modifier. Mod is -1 when there is none.
type T struct {
	OID OID
	Mod int32
}

// Datum is one SQL value of a type known from its context. The zero Datum is NULL.
//
// What the fields hold, by type:
//
//	bool                               I 0 or 1
//	int2, int4, int8, oid, xid, cid,
//	regclass and the other reg types   I
//	float4, float8                     I = math.Float64bits (float4 widened)
//	date                               I = days since 2000-01-01
//	time                               I = µs since midnight
//	timestamp, timestamptz             I = µs since 2000-01-01 (UTC); int64 max/min = ±infinity
//	timetz                             I = µs since midnight, J = zone in seconds west of UTC
//	interval                           I = µs, J = days, K = months
//	tid                                I = block<<16 | offset
//	uuid                               B, 16 bytes
//	text, varchar, bpchar, name, json,
//	"char", unknown, cstring, bytea    B, the raw bytes (may hold NUL)
//	jsonb                              B, PostgreSQL's normalised text
//	numeric                            B, PostgreSQL's binary numeric (canonical: no leading
//	                                   or trailing zero digit groups, dscale kept)
//	arrays                             B, PostgreSQL's binary array
//	record                             R, and in B the type OID of each field, 4 bytes each
//
// B may alias a page, message or batch buffer: who keeps a Datum past the call that
// produced it copies it (Clone).
type Datum struct {
	B     []byte
	R     []Datum
	I     int64
	J, K  int32
	Valid bool // false: NULL
}

// Null is the NULL datum.
var Null = Datum{}
