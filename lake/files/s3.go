package files

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

// S3 is how buckets are reached.
type S3 struct {
	// Endpoint is host or host:port; empty means Amazon's for the region.
	Endpoint string
	Region   string
	// Insecure speaks HTTP without TLS.
	Insecure bool
	// PathStyle puts the bucket into the path and not into the host's name.
	PathStyle bool
	// AccessKey, SecretKey and SessionToken sign requests. Without AccessKey they are not
	// signed, which public buckets allow.
	AccessKey, SecretKey, SessionToken string
	// Transport makes the requests; nil means the client's own.
	Transport http.RoundTripper
}

// DefaultEndpoint is Amazon's.
const DefaultEndpoint = "s3.amazonaws.com"

// leastTail is what is read of an object's end when the caller knows no better: it holds
// the footers of most files, and costs no more than the round trip.
const leastTail = 16 << 10

// buckets opens objects.
type buckets struct{ core *minio.Core }

func newBuckets(c S3) (*buckets, error) {
	client, err := c.Client()
	if err != nil {
		return nil, err
	}
	return &buckets{&minio.Core{Client: client}}, nil
}

// Client makes a client for the buckets. It does no I/O.
func (c S3) Client() (*minio.Client, error) {
	o := &minio.Options{Secure: !c.Insecure, Region: c.Region, Transport: c.Transport}
	if c.PathStyle {
		o.BucketLookup = minio.BucketLookupPath
	}
	if c.AccessKey != "" {
		o.Creds = credentials.NewStaticV4(c.AccessKey, c.SecretKey, c.SessionToken)
	} else {
		o.Creds = credentials.NewStatic("", "", "", credentials.SignatureAnonymous)
	}
	endpoint := c.Endpoint
	if endpoint == "" {
		endpoint = DefaultEndpoint
	}
	client, err := minio.New(endpoint, o)
	if err != nil {
		return nil, fmt.Errorf("files: s3 endpoint %q: %w", endpoint, err)
	}
	return client, nil
}

// object is an object of which the end is in memory. The context of the call that opened
// it ends its requests too: the object is used within that call.
type object struct {
	ctx         context.Context
	core        *minio.Core
	bucket, key string
	size        int64
	tail        []byte
	etag        string
}

// open asks for the end of the object, which tells its size as well.
func (b *buckets) open(ctx context.Context, path string, tail int64) (File, error) {
	bucket, key, ok := strings.Cut(strings.TrimPrefix(path, "s3://"), "/")
	if !ok || bucket == "" || key == "" {
		return nil, ErrNotFound
	}
	o := &object{ctx: ctx, core: b.core, bucket: bucket, key: key}
	var opts minio.GetObjectOptions
	if err := opts.SetRange(0, -max(tail, leastTail)); err != nil {
		return nil, err
	}
	body, info, header, err := b.core.GetObject(ctx, bucket, key, opts)
	if err != nil {
		if r := minio.ToErrorResponse(err); r.StatusCode == http.StatusRequestedRangeNotSatisfiable {
			return o, nil // an empty object
		}
		return nil, objectError(err)
	}
	defer body.Close()
	// A server may send the whole object when it is asked for its end.
	want := max(tail, leastTail)
	if o.tail, err = io.ReadAll(io.LimitReader(body, want+1)); err != nil {
		return nil, objectError(err)
	}
	if int64(len(o.tail)) > want {
		return nil, fmt.Errorf("files: the last %d bytes of an object were asked for, and more came", want)
	}
	o.etag = info.ETag
	o.size = int64(len(o.tail))
	if _, total, ok := strings.Cut(header.Get("Content-Range"), "/"); ok {
		if n, err := strconv.ParseInt(total, 10, 64); err == nil {
			o.size = n
		}
	}
	if int64(len(o.tail)) > o.size {
		return nil, fmt.Errorf("files: object of %d bytes sent %d", o.size, len(o.tail))
	}
	return o, nil
}

func (o *object) Size() int64  { return o.size }
func (o *object) Close() error { return nil }

// ReadAt makes one request, or none when the range is in the end that was read already.
func (o *object) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 {
		return 0, errors.New("files: negative offset")
	}
	if off >= o.size {
		return 0, io.EOF
	}
	n := min(int64(len(p)), o.size-off)
	if n == 0 {
		return 0, nil
	}
	if have := o.size - int64(len(o.tail)); off >= have {
		copy(p[:n], o.tail[off-have:])
	} else {
		var opts minio.GetObjectOptions
		if err := opts.SetRange(off, off+n-1); err != nil {
			return 0, err
		}
		if o.etag != "" {
			if err := opts.SetMatchETag(o.etag); err != nil {
				return 0, err
			}
		}
		body, _, _, err := o.core.GetObject(o.ctx, o.bucket, o.key, opts)
		if err != nil {
			return 0, objectError(err)
		}
		defer body.Close()
		if got, err := io.ReadFull(body, p[:n]); err != nil {
			return got, objectError(err)
		}
	}
	if n < int64(len(p)) {
		return int(n), io.EOF
	}
	return int(n), nil
}

// objectError keeps what is known of the cause; the server's text may name keys and hosts,
// so it stays out of what a client is told.
func objectError(err error) error {
	r := minio.ToErrorResponse(err)
	switch {
	case r.Code == "NoSuchKey" || r.Code == "NoSuchBucket" || r.StatusCode == http.StatusNotFound:
		return ErrNotFound
	case r.Code == "AccessDenied" || r.StatusCode == http.StatusForbidden || r.StatusCode == http.StatusUnauthorized:
		return ErrDenied
	}
	return fmt.Errorf("files: object: %w", err)
}
