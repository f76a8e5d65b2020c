package row

import "encoding/binary"

// Integer reads the binary form of a smallint, integer or bigint; ok is false for bytes of
// another length, NULL among them.
func Integer(v []byte) (n int64, ok bool) {
	switch len(v) {
	case 8:
		return int64(binary.BigEndian.Uint64(v)), true
	case 4:
		return int64(int32(binary.BigEndian.Uint32(v))), true
	case 2:
		return int64(int16(binary.BigEndian.Uint16(v))), true
	}
	return 0, false
}
