package hold

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"math/bits"
	"slices"
)

// Deletion vectors: Roaring bitmaps of 64-bit positions in the form of the blob type
// "deletion-vector-v1". DuckLake writes one such blob as the whole file; a real Puffin
// file, with magic words and a footer in JSON that lists its blobs, is read too.

var (
	puffinMagic = []byte("PFA1")
	vectorMagic = []byte{0xD1, 0xD3, 0x39, 0x64}
)

const vectorType = "deletion-vector-v1"

// readVectors returns the positions of all deletion vectors of a file, at most limit.
func readVectors(b []byte, limit int64) ([]int64, error) {
	if !bytes.HasPrefix(b, puffinMagic) {
		return readVector(nil, b, limit)
	}
	blobs, err := puffinBlobs(b)
	if err != nil {
		return nil, err
	}
	var out []int64
	for _, blob := range blobs {
		if out, err = readVector(out, blob, limit); err != nil {
			return nil, err
		}
	}
	slices.Sort(out)
	return out, nil
}

// puffinBlobs cuts the deletion vectors out of a Puffin file: magic, blobs, magic, footer,
// its length, flags, magic.
func puffinBlobs(b []byte) ([][]byte, error) {
	const end = 12 // length, flags, magic
	if len(b) < 2*len(puffinMagic)+end || !bytes.HasSuffix(b, puffinMagic) {
		return nil, fmt.Errorf("%w: a Puffin file without its end", ErrDamaged)
	}
	tail := b[len(b)-end:]
	size := int64(binary.LittleEndian.Uint32(tail))
	if tail[4]&1 != 0 {
		return nil, fmt.Errorf("%w: a Puffin footer that is compressed", ErrDamaged)
	}
	from := int64(len(b)) - end - size
	if from < int64(2*len(puffinMagic)) || !bytes.Equal(b[from-4:from], puffinMagic) {
		return nil, fmt.Errorf("%w: a Puffin footer of %d bytes", ErrDamaged, size)
	}
	var foot struct {
		Blobs []struct {
			Type        string `json:"type"`
			Offset      int64  `json:"offset"`
			Length      int64  `json:"length"`
			Compression string `json:"compression-codec"`
		} `json:"blobs"`
	}
	if err := json.Unmarshal(b[from:int64(len(b))-end], &foot); err != nil {
		return nil, fmt.Errorf("%w: the Puffin footer: %w", ErrDamaged, err)
	}
	var out [][]byte
	for _, f := range foot.Blobs {
		if f.Type != vectorType {
			continue
		}
		if f.Compression != "" || f.Offset < 0 || f.Length < 0 || f.Offset > from || f.Length > from-f.Offset {
			return nil, fmt.Errorf("%w: a blob of %d bytes at %d", ErrDamaged, f.Length, f.Offset)
		}
		out = append(out, b[f.Offset:f.Offset+f.Length])
	}
	return out, nil
}

// readVector reads one blob: length and magic, a number of 32-bit bitmaps each under the
// upper half of its positions, and a checksum.
func readVector(out []int64, b []byte, limit int64) ([]int64, error) {
	if len(b) < 20 {
		return nil, fmt.Errorf("%w: a deletion vector of %d bytes", ErrDamaged, len(b))
	}
	size := int64(binary.BigEndian.Uint32(b))
	if size != int64(len(b))-8 || !bytes.Equal(b[4:8], vectorMagic) {
		return nil, fmt.Errorf("%w: not a deletion vector", ErrDamaged)
	}
	body := b[4 : 4+size]
	if crc32.ChecksumIEEE(body) != binary.BigEndian.Uint32(b[4+size:]) {
		return nil, fmt.Errorf("%w: the checksum of a deletion vector", ErrDamaged)
	}
	in := input{b: body[4:]}
	for n := in.u64(); n > 0; n-- {
		high := int64(in.u32()) << 32
		if high < 0 {
			return nil, fmt.Errorf("%w: a negative position", ErrDamaged)
		}
		var err error
		if out, err = readRoaring(out, &in, high, limit); err != nil {
			return nil, err
		}
	}
	if in.short || len(in.b) > 0 {
		return nil, fmt.Errorf("%w: the length of a deletion vector", ErrDamaged)
	}
	return out, nil
}

// Roaring's portable format, https://github.com/RoaringBitmap/RoaringFormatSpec.
const (
	roaringPlain = 12346
	roaringRuns  = 12347
	noOffsets    = 4    // fewer containers than this have no offsets when there are runs
	arrayMost    = 4096 // more values than this are a bitmap
)

func readRoaring(out []int64, in *input, high, limit int64) ([]int64, error) {
	cookie := in.u32()
	var n int
	var runs []byte
	switch {
	case cookie == roaringPlain:
		n = int(in.u32())
	case cookie&0xFFFF == roaringRuns:
		n = int(cookie>>16) + 1
		runs = in.take((n + 7) / 8)
	default:
		return nil, fmt.Errorf("%w: the cookie of a bitmap", ErrDamaged)
	}
	if n > 1<<16 {
		return nil, fmt.Errorf("%w: a bitmap of %d containers", ErrDamaged, n)
	}
	heads := in.take(4 * n)
	if runs == nil || n >= noOffsets {
		in.take(4 * n)
	}
	for i := 0; i < n && !in.short; i++ {
		base := high | int64(binary.LittleEndian.Uint16(heads[4*i:]))<<16
		count := int(binary.LittleEndian.Uint16(heads[4*i+2:])) + 1
		if runs == nil || runs[i/8]>>(i%8)&1 == 0 {
			if int64(len(out)+count) > limit {
				return nil, ErrBudget
			}
		}
		switch {
		case runs != nil && runs[i/8]>>(i%8)&1 != 0:
			for r := in.u16(); r > 0 && !in.short; r-- {
				from := int64(in.u16())
				size := int64(in.u16()) + 1
				if from+size > 1<<16 {
					return nil, fmt.Errorf("%w: a run that leaves its container", ErrDamaged)
				}
				if int64(len(out))+size > limit {
					return nil, ErrBudget
				}
				for p := from; p < from+size; p++ {
					out = append(out, base|p)
				}
			}
		case count <= arrayMost:
			vals := in.take(2 * count)
			for ; len(vals) > 0; vals = vals[2:] {
				out = append(out, base|int64(binary.LittleEndian.Uint16(vals)))
			}
		default:
			for w, words := int64(0), in.take(8192); len(words) > 0; w, words = w+1, words[8:] {
				for x := binary.LittleEndian.Uint64(words); x != 0; x &= x - 1 {
					out = append(out, base|w<<6|int64(bits.TrailingZeros64(x)))
				}
			}
		}
	}
	if in.short {
		return nil, fmt.Errorf("%w: a bitmap that ends early", ErrDamaged)
	}
	return out, nil
}

// input hands out bytes; after the end it hands out nothing and is short.
type input struct {
	b     []byte
	short bool
}

func (in *input) take(n int) []byte {
	if in.short || n < 0 || n > len(in.b) {
		in.short = true
		return nil
	}
	out := in.b[:n]
	in.b = in.b[n:]
	return out
}

func (in *input) u16() uint64 {
	if b := in.take(2); b != nil {
		return uint64(binary.LittleEndian.Uint16(b))
	}
	return 0
}

func (in *input) u32() uint64 {
	if b := in.take(4); b != nil {
		return uint64(binary.LittleEndian.Uint32(b))
	}
	return 0
}

func (in *input) u64() uint64 {
	if b := in.take(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}
