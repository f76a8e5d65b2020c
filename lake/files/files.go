package files

import (
	"context"
	"errors"
	"io"
	"strings"
)

var (
	// ErrOutOfReach: nothing was configured for the path, or it is a folder of a machine
	// that is not this one. The server is not meant to read the file.
	ErrOutOfReach = errors.New("files: out of the server's reach")
	// ErrNotFound: the place is within reach and has no such file.
	ErrNotFound = errors.New("files: no such file")
	// ErrDenied: the place is within reach and refuses access.
	ErrDenied = errors.New("files: access denied")
	// ErrNotAFile: the path is a folder, a device, a pipe.
	ErrNotAFile = errors.New("files: not a regular file")
)

// File is an open file. ReadAt may be called by several goroutines.
type File interface {
	io.ReaderAt
	io.Closer
	Size() int64
}

// Reach is how sure the server is to be able to read a path.
type Reach uint8

const (
	// No: the server does not read it.
	No Reach = iota
	// Maybe: it is read if it is there. Nobody promised that it would be.
	Maybe
	// Yes: the operator named the place, so a failure is a finding.
	Yes
)

// Store opens files by absolute path or URL.
type Store interface {
	Reach(path string) Reach
	// Open opens a file. tail is how many bytes of its end are wanted first; where a
	// request costs a round trip, they come with the first one. The error is, or wraps, one
	// of the package's where that is what happened.
	Open(ctx context.Context, path string, tail int64) (File, error)
}

// None is the store of a server that reads no files.
type None struct{}

// Reach is No.
func (None) Reach(string) Reach { return No }

// Open fails.
func (None) Open(context.Context, string, int64) (File, error) { return nil, ErrOutOfReach }

// Local is the word in Config.Paths that stands for every folder of this machine.
const Local = "local"

// Config says what the server may read.
type Config struct {
	// Paths are folders ("/srv/lake", "s3://bucket/lake"). Everything below them is within
	// reach. The word Local makes every other file of this machine one that may be there.
	Paths []string
	S3    S3
}

// Set is the Store that a Config describes.
type Set struct {
	roots []string
	local bool
	disk  disk
	s3    *buckets
}

// New makes a Set. It does no I/O.
func New(c Config) (*Set, error) {
	s := &Set{}
	remote := false
	for _, p := range c.Paths {
		if p == Local {
			s.local = true
			continue
		}
		root, err := folder(p)
		if err != nil {
			return nil, err
		}
		remote = remote || isS3(root)
		s.roots = append(s.roots, root)
	}
	if remote {
		b, err := newBuckets(c.S3)
		if err != nil {
			return nil, err
		}
		s.s3 = b
	}
	return s, nil
}

// folder normalizes a configured folder; it ends with a slash.
func folder(p string) (string, error) {
	p, ok := normalize(p)
	if !ok {
		return "", errors.New("files: " + p + " is neither an absolute path nor an s3:// URL")
	}
	if !strings.HasSuffix(p, "/") {
		p += "/"
	}
	return p, nil
}

// normalize brings the spellings of a place to one; ok is false for what is no absolute
// path, or has parts that lead elsewhere.
func normalize(p string) (string, bool) {
	for _, scheme := range []string{"s3://", "s3a://", "s3n://"} {
		if rest, ok := strings.CutPrefix(p, scheme); ok {
			return "s3://" + rest, !climbs(rest)
		}
	}
	if rest, ok := strings.CutPrefix(p, "file://"); ok {
		p = strings.TrimPrefix(rest, "localhost")
	}
	return p, strings.HasPrefix(p, "/") && !climbs(p)
}

// climbs says whether a path has a ".." in it, which would leave a configured folder.
func climbs(p string) bool {
	for part := range strings.SplitSeq(p, "/") {
		if part == ".." {
			return true
		}
	}
	return false
}

func isS3(p string) bool { return strings.HasPrefix(p, "s3://") }

// Reach says how sure a path is to be readable.
func (s *Set) Reach(path string) Reach {
	p, ok := normalize(path)
	if !ok {
		return No
	}
	for _, r := range s.roots {
		if strings.HasPrefix(p, r) {
			return Yes
		}
	}
	if s.local && !isS3(p) {
		return Maybe
	}
	return No
}

// Open opens a file that is within reach.
func (s *Set) Open(ctx context.Context, path string, tail int64) (File, error) {
	reach := s.Reach(path)
	if reach == No {
		return nil, ErrOutOfReach
	}
	p, _ := normalize(path)
	if isS3(p) {
		return s.s3.open(ctx, p, tail)
	}
	f, err := s.disk.open(p)
	if reach == Maybe && (errors.Is(err, ErrNotFound) || errors.Is(err, ErrDenied)) {
		return nil, errors.Join(ErrOutOfReach, err)
	}
	return f, err
}
