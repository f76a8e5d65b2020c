package hold

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/parquet-go/parquet-go"

	"github.com/eiderdb/eider/lake/files"
)

var (
	// ErrDamaged: a file is not what its name and the catalog say.
	ErrDamaged = errors.New("hold: damaged file")
	// ErrEncrypted: a file is encrypted and its key is not in the catalog, or does not fit.
	ErrEncrypted = errors.New("hold: encrypted file")
	// ErrBudget: more would have to be read than Options.MaxBytes.
	ErrBudget = errors.New("hold: too much to read")
)

// Field ids of DuckLake's own columns. Readers go by them and not by names; an embedded
// row id counts before everything that the catalog says.
const (
	rowIDField    = 2147483540
	snapshotField = 2147483539
)

// posColumn is the column of a delete file that matters.
const posColumn = "pos"

// File is a file as its row in the catalog describes it.
type File struct {
	Path   string // resolved
	Size   int64
	Footer int64  // 0 when not known
	Key    string // base64 text, "" when it is not encrypted
	Format string // "puffin" for deletion vectors; anything else is Parquet
}

// reader is an open Parquet file.
type reader struct {
	file files.File
	pq   *parquet.File
}

func (r *reader) Close() error { return r.file.Close() }

// guarded runs what eats bytes of a stranger. The Parquet library's own checks are not
// complete; a file that makes it panic is a damaged file.
func guarded(fn func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %v", ErrDamaged, p)
		}
	}()
	return fn()
}

// open opens a Parquet file: one round trip when the catalog knows the footer's size.
func (v *Verifier) open(ctx context.Context, f *File, want wants) (*reader, error) {
	tail := int64(0)
	if f.Footer > 0 && f.Footer <= min(mostFooter, max(f.Size, 0)) {
		tail = f.Footer + 8 // a larger one is asked for when the file itself says so
	}
	file, err := v.opts.Files.Open(ctx, f.Path, tail)
	if err != nil {
		return nil, err
	}
	r := &reader{file: file}
	if r.pq, err = openParquet(file, file.Size(), f.Key, want, v.opts.MaxBytes); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return r, nil
}

func openParquet(r io.ReaderAt, size int64, key string, want wants, limit int64) (pq *parquet.File, err error) {
	err = guarded(func() error {
		var end [8]byte
		if size < 12 {
			return fmt.Errorf("%w: %d bytes are no Parquet file", ErrDamaged, size)
		}
		if _, err := r.ReadAt(end[:], size-8); err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		magic := string(end[4:])
		if magic != "PAR1" && magic != "PARE" {
			return fmt.Errorf("%w: it does not end as a Parquet file does", ErrDamaged)
		}
		n := int64(binary.LittleEndian.Uint32(end[:4]))
		switch {
		case n > size-12:
			return fmt.Errorf("%w: a footer of %d bytes in a file of %d", ErrDamaged, n, size)
		case n > min(mostFooter, limit):
			return ErrBudget
		}
		if magic == "PAR1" {
			foot := make([]byte, n)
			if got, err := r.ReadAt(foot, size-8-n); got < len(foot) {
				return err
			}
			if err := checkFooter(foot); err != nil {
				return err
			}
		}
		o := []parquet.FileOption{
			parquet.SkipMagicBytes(true), parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true),
			parquet.ReadBufferSize(readBuffer),
		}
		if magic == "PARE" {
			raw, err := base64.StdEncoding.DecodeString(key)
			if err != nil || len(raw) == 0 {
				return fmt.Errorf("%w: the catalog has no key for it", ErrEncrypted)
			}
			plain, err := plainFile(r, size, raw, want, limit)
			switch {
			case err == nil:
				r, size = bytes.NewReader(plain), int64(len(plain))
			case errors.Is(err, errNotDuckDB):
				o = append(o, parquet.WithDecryption(footerKey(raw)))
			default:
				return err
			}
		}
		var err error
		pq, err = parquet.OpenFile(r, size, o...)
		if err != nil && magic == "PARE" && strings.Contains(err.Error(), "decrypt") {
			return fmt.Errorf("%w: %w", ErrEncrypted, err)
		}
		return damaged(err)
	})
	return pq, err
}

// readBuffer is how much is read of a column at once. Over the network a request costs a
// round trip, so it is large.
const readBuffer = 4 << 20

// damaged marks an error of the Parquet library, unless it comes from reading.
func damaged(err error) error {
	if err == nil || reading(err) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrDamaged, err)
}

// reading says whether an error is about reaching bytes, not about what they say.
func reading(err error) bool {
	for _, e := range []error{
		files.ErrOutOfReach, files.ErrNotFound, files.ErrDenied, files.ErrNotAFile,
		context.Canceled, context.DeadlineExceeded, ErrBudget, ErrEncrypted, ErrDamaged,
	} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// footerKey is the one key of a file that DuckDB encrypts.
type footerKey []byte

// FooterKey returns the key.
func (k footerKey) FooterKey([]byte) ([]byte, error) { return k, nil }

// ColumnKey returns the same key.
func (k footerKey) ColumnKey([]string, []byte) ([]byte, error) { return k, nil }

// footer is what tier 1 knows of a file.
type footer struct {
	rows int64
	// id and snapshot are the columns with the row ids and their snapshots, -1 for none.
	id, snapshot int
	// bad says why the row-id column cannot be used.
	bad string
	// least and most are the bounds of the row ids, if bounded.
	least, most int64
	bounded     bool
}

// footer reads what a file is made of.
func (r *reader) footer() (ft footer, err error) {
	err = guarded(func() error {
		ft.rows, ft.id, ft.snapshot = r.pq.NumRows(), -1, -1
		for _, c := range r.pq.Root().Columns() {
			var at *int
			switch c.ID() {
			case rowIDField:
				at = &ft.id
			case snapshotField:
				at = &ft.snapshot
			default:
				continue
			}
			if !c.Leaf() || c.Repeated() || c.Type().Kind() != parquet.Int64 {
				if at == &ft.id {
					ft.bad = "it is not one of 64-bit integers"
				}
				continue
			}
			*at = c.Index()
		}
		if ft.id >= 0 {
			ft.bounds(r.pq)
		}
		return nil
	})
	return ft, err
}

func (ft *footer) bounds(pq *parquet.File) {
	ft.least, ft.most = math.MaxInt64, math.MinInt64
	groups := pq.Metadata().RowGroups
	for i := range groups {
		st := &groups[i].Columns[ft.id].MetaData.Statistics
		if len(st.MinValue) != 8 || len(st.MaxValue) != 8 {
			return
		}
		ft.least = min(ft.least, int64(binary.LittleEndian.Uint64(st.MinValue)))
		ft.most = max(ft.most, int64(binary.LittleEndian.Uint64(st.MaxValue)))
	}
	ft.bounded = len(groups) > 0
}

// embeds says whether the file has its rows' ids inside.
func (ft *footer) embeds() bool { return ft.id >= 0 || ft.bad != "" }
