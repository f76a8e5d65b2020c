package store

import (
	"encoding/binary"

	"github.com/eiderdb/eider/kv/rel"
)

// The key space of an engine. Numbers are big-endian; golden tests pin the bytes.
//
//	01 'F'                          store format, one byte
//	01 'N'                          next catalog id, uint32
//	01 'C' id4                      catalog record
//	02 id4 'd' 's' oid4             schema descriptor
//	02 id4 'd' 't' oid4             table descriptor
//	02 id4 'g' n8                   descriptor of a dropped inlined table
//	02 id4 'm' 's'                  commit sequence number, uint64
//	02 id4 'm' 'o'                  oids below this may be in use, uint32
//	02 id4 'm' 'i'                  storage and version numbers below this may be in use, uint64
//	02 id4 't' …                    rows and indexes, see package rel
const (
	storeFormat = 1

	nsStore   = 0x01
	nsCatalog = 0x02

	kindDescriptor = 'd'
	kindGhost      = 'g'
	kindMeta       = 'm'
	kindRows       = 't'

	descSchema = 's'
	descTable  = 't'

	metaSeq = 's'
	metaOID = 'o'
	metaID  = 'i'
)

var (
	keyFormat      = []byte{nsStore, 'F'}
	keyNextCatalog = []byte{nsStore, 'N'}
	keyCatalogs    = []byte{nsStore, 'C'}
)

func catalogRecordKey(id uint32) []byte {
	return binary.BigEndian.AppendUint32([]byte{nsStore, 'C'}, id)
}

func catalogPrefix(id uint32) []byte {
	return binary.BigEndian.AppendUint32([]byte{nsCatalog}, id)
}

func join(prefix []byte, tail ...byte) []byte {
	return append(append(make([]byte, 0, len(prefix)+len(tail)+8), prefix...), tail...)
}

func schemaKey(prefix []byte, oid uint32) []byte {
	return binary.BigEndian.AppendUint32(join(prefix, kindDescriptor, descSchema), oid)
}

func tableKey(prefix []byte, oid uint32) []byte {
	return binary.BigEndian.AppendUint32(join(prefix, kindDescriptor, descTable), oid)
}

func ghostKey(prefix []byte, n uint64) []byte {
	return binary.BigEndian.AppendUint64(join(prefix, kindGhost), n)
}

func storageRange(rowPrefix []byte, storage uint64) (lo, hi []byte) {
	lo = rel.AppendStorage(join(rowPrefix), storage)
	hi = rel.AppendStorage(join(rowPrefix), storage+1)
	return lo, hi
}
