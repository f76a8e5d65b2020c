package clean

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"

	"github.com/go-kit/log"
	"github.com/thanos-io/objstore"
	"github.com/thanos-io/objstore/providers/azure"

	"github.com/eiderdb/eider/lake/files"
	"github.com/eiderdb/eider/lake/paths"
)

// AccessOptions say where the server may delete, and with which credentials.
type AccessOptions struct {
	// Folders are those in which files may be deleted: "/srv/lake", "s3://bucket/lake". A
	// user of a catalog chooses the paths in it, so nothing is deleted that the operator did
	// not name. Empty: nothing is.
	Folders []string
	// Spare are folders of this machine in which nothing is ever deleted, even if they are
	// below one of Folders: the store's own.
	Spare []string
	// S3 is for s3:// paths.
	S3 files.S3
	// GCS is for gs:// paths, which are reached through Google's S3 interface with HMAC
	// keys, as DuckDB does. Endpoint is storage.googleapis.com when empty.
	GCS files.S3
	// Azure is for az:// and abfss:// paths.
	Azure Azure
}

// Azure says how containers are reached.
type Azure struct {
	// Account is the storage account of paths that name none.
	Account string
	// Key is its key. Empty: what Azure's environment variables and the machine's
	// identity say.
	Key string
	// ConnectionString stands for key and endpoint. Account is its account.
	ConnectionString string
}

// googleEndpoint is Google's.
const googleEndpoint = "storage.googleapis.com"

// Set is the Access that options describe. It is safe for concurrent use.
type Set struct {
	o       AccessOptions
	folders []paths.Place
	spare   []string

	mu   sync.Mutex
	open map[paths.Place]Storage // by place without a name
}

var _ Access = (*Set)(nil)

// NewAccess makes a Set. It does no I/O but to follow links of folders.
func NewAccess(o AccessOptions) (*Set, error) {
	s := &Set{o: o, open: map[paths.Place]Storage{}}
	for _, f := range o.Folders {
		p, err := paths.Folder(f)
		if err != nil {
			return nil, fmt.Errorf("folder to delete in: %w", err)
		}
		if p.Kind == paths.Disk && p.Name == "/" {
			return nil, errors.New("clean: the whole machine is no folder to delete in")
		}
		s.folders = append(s.folders, p)
	}
	for _, f := range o.Spare {
		abs, err := filepath.Abs(f)
		if err != nil {
			return nil, fmt.Errorf("folder to spare: %w", err)
		}
		s.spare = append(s.spare, abs)
		if real, err := filepath.EvalSymlinks(abs); err == nil && real != abs {
			s.spare = append(s.spare, real)
		}
	}
	return s, nil
}

// Storage implements Access.
func (s *Set) Storage(at paths.Place) (Storage, error) {
	if at.Kind == paths.Disk {
		return s.disk(at.Name)
	}
	for _, f := range s.folders {
		if f.Kind == at.Kind && f.Bucket == at.Bucket && (f.Account == at.Account || f.Account == "") && strings.HasPrefix(at.Name, f.Name) {
			return s.remote(at)
		}
	}
	return nil, ErrNoAccess
}

// disk finds the folder that a file is in by its real name: a link may lead from a folder
// that was named into one that was not, or that is spared.
func (s *Set) disk(name string) (Storage, error) {
	real, ok := realName(name)
	if !ok {
		return nil, ErrNoAccess
	}
	for _, f := range s.spare {
		for _, n := range []string{filepath.Clean(name), real} {
			if _, in := below(f, n); in {
				return nil, fmt.Errorf("%w: the server's own folder", ErrNoAccess)
			}
		}
	}
	for _, f := range s.folders {
		if f.Kind != paths.Disk {
			continue
		}
		root, err := filepath.EvalSymlinks(f.Name)
		if err != nil {
			continue
		}
		if _, in := below(root, real); in {
			return &disk{root: root}, nil
		}
	}
	return nil, ErrNoAccess
}

// realName follows the links of the folders of a name. What is not there has none.
func realName(name string) (string, bool) {
	name = filepath.Clean(name)
	if !filepath.IsAbs(name) {
		return "", false
	}
	rest := ""
	for dir := name; ; {
		// The last part is not followed: a file that is a link is not the file it leads to.
		if dir != name || rest != "" || dir == "/" {
			if real, err := filepath.EvalSymlinks(dir); err == nil {
				return filepath.Join(real, rest), true
			}
		}
		if dir == "/" {
			return "", false
		}
		rest = filepath.Join(filepath.Base(dir), rest)
		dir = filepath.Dir(dir)
	}
}

func (s *Set) remote(at paths.Place) (Storage, error) {
	key := at
	key.Name = ""
	s.mu.Lock()
	defer s.mu.Unlock()
	if b, ok := s.open[key]; ok {
		return b, nil
	}
	b, err := s.connect(key)
	if err == nil {
		s.open[key] = b
	}
	return b, err
}

func (s *Set) connect(at paths.Place) (Storage, error) {
	switch at.Kind {
	case paths.S3, paths.GCS:
		c := s.o.S3
		if at.Kind == paths.GCS {
			if c = s.o.GCS; c.Endpoint == "" {
				c.Endpoint = googleEndpoint
			}
		}
		if c.AccessKey == "" {
			return nil, fmt.Errorf("%w: there are no keys for %s", ErrNoAccess, at.Kind)
		}
		client, err := c.Client()
		if err != nil {
			return nil, err
		}
		return &bucket{client: client, single: at.Kind == paths.GCS}, nil
	case paths.Azure:
		b, err := s.container(at)
		if err != nil {
			return nil, err
		}
		return objects{b}, nil
	}
	return nil, fmt.Errorf("%w: there is no client for %s", ErrNoAccess, at.Kind)
}

func (s *Set) container(at paths.Place) (objstore.Bucket, error) {
	a := s.o.Azure
	if at.Account != "" && at.Account != a.Account && (a.Key != "" || a.ConnectionString != "") {
		return nil, fmt.Errorf("%w: the key is of another account", ErrNoAccess)
	}
	c := azure.DefaultConfig
	c.StorageCreateContainer = false // a container that is not there is a mistake
	c.ContainerName, c.StorageAccountName = at.Bucket, a.Account
	c.StorageAccountKey, c.StorageConnectionString = a.Key, a.ConnectionString
	if at.Account != "" {
		c.StorageAccountName = at.Account
	}
	if c.StorageAccountName == "" {
		return nil, fmt.Errorf("%w: no account of Azure is set", ErrNoAccess)
	}
	b, err := azure.NewBucketWithConfig(log.NewNopLogger(), c, "eider", nil)
	if err != nil {
		return nil, fmt.Errorf("azure: %w", err)
	}
	return b, nil
}
