package hold

import (
	"context"
	"encoding/binary"
	"errors"
)

// Inspection is what a file says of itself.
type Inspection struct {
	// Size is the file's length in bytes.
	Size int64
	// Footer is the length of a Parquet file's footer in bytes, as its end has it.
	Footer int64
	// Rows is the number of rows of a Parquet file.
	Rows int64
	// RowIDs says that the ids of a data file's rows are inside.
	RowIDs bool
	// Encrypted says that the footer is encrypted. It was read with the key of File.
	Encrypted bool
}

// Inspect reads the end of a Parquet file. The error is, or wraps, one of package
// lake/files or of this one: ErrDamaged for a file that is not what its name says,
// ErrEncrypted for one whose key is missing or does not fit.
func (v *Verifier) Inspect(ctx context.Context, f *File) (in Inspection, err error) {
	ctx, cancel := v.limit(ctx)
	defer cancel()
	r, err := v.open(ctx, f, wantFooter)
	if err != nil {
		return in, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	in.Size = r.file.Size()
	var end [8]byte
	if n, err := r.file.ReadAt(end[:], in.Size-int64(len(end))); n < len(end) {
		return in, err
	}
	in.Footer = int64(binary.LittleEndian.Uint32(end[:4]))
	in.Encrypted = string(end[4:]) == "PARE"
	ft, err := r.footer()
	in.Rows, in.RowIDs = ft.rows, ft.embeds()
	return in, err
}

// Length is the size of a file in bytes, of any format.
func (v *Verifier) Length(ctx context.Context, f *File) (n int64, err error) {
	ctx, cancel := v.limit(ctx)
	defer cancel()
	file, err := v.opts.Files.Open(ctx, f.Path, 0)
	if err != nil {
		return 0, err
	}
	return file.Size(), file.Close()
}
