package hold

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// DuckDB encrypts Parquet files in the layout of Parquet's modular encryption, with one
// key for everything, but without the additional data that the format binds modules to
// their places with. The Parquet library insists on it, so files of DuckDB are decrypted
// here: into a plain file in memory that has the columns that are wanted and no others.

const (
	nonceSize = 12
	tagSize   = 16
)

// errNotDuckDB: the footer does not open without additional data.
var errNotDuckDB = errors.New("not encrypted by DuckDB")

// wants says which columns of a file are to be read.
type wants uint8

const (
	wantFooter wants = iota // none
	wantIDs                 // DuckLake's own, and pos
	wantAll
)

func (w wants) has(e *format.SchemaElement) bool {
	switch w {
	case wantAll:
		return true
	case wantIDs:
		return e.FieldID == rowIDField || e.FieldID == snapshotField || e.Name == posColumn
	}
	return false
}

// plainFile decrypts a file of DuckDB.
func plainFile(r io.ReaderAt, size int64, key []byte, want wants, limit int64) ([]byte, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrEncrypted, err)
	}
	gcm, err := cipher.NewGCM(block)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrEncrypted, err)
	}
	d := decrypter{r: r, gcm: gcm, limit: limit, size: size, left: size}
	if err := d.footer(size); err != nil {
		return nil, err
	}
	d.out.WriteString("PAR1")
	wanted := d.wanted(want)
	for i := range d.meta.RowGroups {
		columns := d.meta.RowGroups[i].Columns
		for j := range columns {
			c := &columns[j]
			c.CryptoMetadata, c.EncryptedColumnMetadata = format.ColumnCryptoMetaData{}, nil
			c.OffsetIndexOffset, c.OffsetIndexLength, c.ColumnIndexOffset, c.ColumnIndexLength = 0, 0, 0, 0
			if j < len(wanted) && wanted[j] {
				if err := d.chunk(&c.MetaData); err != nil {
					return nil, err
				}
			}
		}
	}
	foot, err := thrift.Marshal(&d.protocol, &d.meta)
	if err != nil {
		return nil, err
	}
	d.out.Write(foot)
	d.out.Write(binary.LittleEndian.AppendUint32(nil, uint32(len(foot))))
	d.out.WriteString("PAR1")
	return d.out.Bytes(), nil
}

type decrypter struct {
	r     io.ReaderAt
	gcm   cipher.AEAD
	limit int64
	size  int64
	// left is how much may still be read: no byte of a file is part of two of its columns.
	left     int64
	protocol thrift.CompactProtocol
	meta     format.FileMetaData
	out      bytes.Buffer
}

func (d *decrypter) read(off, n int64) ([]byte, error) {
	switch {
	case off < 0 || n < 0 || off > d.size || n > d.size-off || n > d.left:
		return nil, fmt.Errorf("%w: %d bytes at %d of %d", ErrDamaged, n, off, d.size)
	case n > d.limit:
		return nil, ErrBudget
	}
	d.left -= n
	b := make([]byte, n)
	if got, err := d.r.ReadAt(b, off); int64(got) < n {
		return nil, err
	}
	return b, nil
}

// footer reads the footer: what says how the file is encrypted, and one module.
func (d *decrypter) footer(size int64) error {
	end, err := d.read(size-8, 8)
	if err != nil {
		return err
	}
	n := int64(binary.LittleEndian.Uint32(end))
	if n > min(mostFooter, d.limit) {
		return ErrBudget
	}
	if n > size-12 {
		return fmt.Errorf("%w: a footer of %d bytes in a file of %d", ErrDamaged, n, size)
	}
	b, err := d.read(size-8-n, n)
	if err != nil {
		return err
	}
	if err := checkStruct(b); err != nil {
		return err
	}
	in := d.protocol.NewReaderFromBytes(b)
	var how format.FileCryptoMetaData
	if err := thrift.NewDecoder(in).Decode(&how); err != nil {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	plain, _, err := d.module(b[in.BytesRead():])
	if err != nil {
		return fmt.Errorf("%w: %w", errNotDuckDB, err)
	}
	if err := checkStruct(plain); err != nil {
		return err
	}
	if err := thrift.Unmarshal(&d.protocol, plain, &d.meta); err != nil {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return checkSchema(d.meta.Schema) // which bounds how deep wanted goes
}

// module opens what b starts with: a length, a nonce, and the sealed bytes.
func (d *decrypter) module(b []byte) (plain, rest []byte, err error) {
	if len(b) < 4 {
		return nil, nil, fmt.Errorf("%w: an encrypted part of %d bytes", ErrDamaged, len(b))
	}
	n := int64(binary.LittleEndian.Uint32(b))
	b = b[4:]
	if n < nonceSize+tagSize || n > int64(len(b)) {
		return nil, nil, fmt.Errorf("%w: an encrypted part of %d bytes", ErrDamaged, n)
	}
	plain, err = d.gcm.Open(nil, b[:nonceSize], b[nonceSize:n], nil)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrEncrypted, err)
	}
	return plain, b[n:], nil
}

// wanted marks the leaves of the root's columns that are wanted, in their order.
func (d *decrypter) wanted(want wants) (leaves []bool) {
	at := 1
	var walk func(take bool)
	walk = func(take bool) {
		if at >= len(d.meta.Schema) {
			return
		}
		e := &d.meta.Schema[at]
		at++
		children := int32(0)
		if e.NumChildren.Valid {
			children = e.NumChildren.V
		}
		if children == 0 {
			leaves = append(leaves, take)
		}
		for range children {
			walk(take)
		}
	}
	for at < len(d.meta.Schema) {
		walk(want.has(&d.meta.Schema[at]))
	}
	return leaves
}

// chunk decrypts the pages of a column chunk: each is a header and data, sealed one by one.
func (d *decrypter) chunk(m *format.ColumnMetaData) error {
	from := m.DataPageOffset
	dictionary := m.DictionaryPageOffset > 0 && m.DictionaryPageOffset < from
	if dictionary {
		from = m.DictionaryPageOffset
	}
	b, err := d.read(from, m.TotalCompressedSize)
	if err != nil {
		return err
	}
	start := int64(d.out.Len())
	m.DictionaryPageOffset, m.DataPageOffset, m.IndexPageOffset, m.BloomFilterOffset = 0, start, 0, 0
	first := true
	for left := m.NumValues; left > 0; {
		var plain, data []byte
		if plain, b, err = d.module(b); err != nil {
			return err
		}
		if err := checkStruct(plain); err != nil {
			return err
		}
		var h format.PageHeader
		if err := thrift.Unmarshal(&d.protocol, plain, &h); err != nil {
			return fmt.Errorf("%w: %w", ErrDamaged, err)
		}
		if data, b, err = d.module(b); err != nil {
			return err
		}
		switch {
		case h.Type == format.DictionaryPage && first:
			m.DictionaryPageOffset = start
		case h.DataPageHeader.Valid:
			left -= max(int64(h.DataPageHeader.V.NumValues), 1)
		case h.DataPageHeaderV2.Valid:
			left -= max(int64(h.DataPageHeaderV2.V.NumValues), 1)
		}
		if first = false; h.Type != format.DictionaryPage && m.DictionaryPageOffset == start && m.DataPageOffset == start {
			m.DataPageOffset = int64(d.out.Len())
		}
		h.CompressedPageSize, h.CRC = int32(len(data)), 0
		head, err := thrift.Marshal(&d.protocol, &h)
		if err != nil {
			return err
		}
		d.out.Write(head)
		d.out.Write(data)
		if int64(d.out.Len()) > d.limit {
			return ErrBudget
		}
	}
	m.TotalCompressedSize = int64(d.out.Len()) - start
	return nil
}
