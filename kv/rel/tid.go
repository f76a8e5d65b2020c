package rel

// A ctid is a block and a 1-based offset. Row ids are numbered through the blocks:
// 32,767 offsets each, block numbers up to 2³²−1, hence 46 to 47 bits.
const (
	offsetsPerBlock = 32767
	// MaxRowID is the largest row id: it fits 46 bits.
	MaxRowID = 1<<46 - 1
)

// TID returns the ctid of a row id.
func TID(rowid uint64) (block uint32, off uint16) {
	return uint32(rowid / offsetsPerBlock), uint16(rowid%offsetsPerBlock) + 1
}

// RowID returns the row id of a ctid; ok is false for a ctid that no row can have.
func RowID(block uint32, off uint16) (rowid uint64, ok bool) {
	if off == 0 || off > offsetsPerBlock {
		return 0, false
	}
	rowid = uint64(block)*offsetsPerBlock + uint64(off-1)
	return rowid, rowid <= MaxRowID
}
