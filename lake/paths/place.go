package paths

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
)

var (
	// ErrRelative: the path depends on the working directory of whoever wrote it.
	ErrRelative = errors.New("paths: not absolute")
	// ErrClimbs: the path has a ".." in it, and where that leads is not known.
	ErrClimbs = errors.New("paths: a path with \"..\"")
	// ErrUnknown: a kind of path that is not known, or one that names no object.
	ErrUnknown = errors.New("paths: of an unknown kind")
)

// Kind is a kind of storage.
type Kind uint8

const (
	// Disk is a file system of this machine.
	Disk Kind = iota + 1
	// S3 is Amazon S3, or what speaks its protocol.
	S3
	// GCS is Google Cloud Storage.
	GCS
	// R2 is Cloudflare R2.
	R2
	// Azure is Azure Blob Storage or Data Lake Storage.
	Azure
)

var kinds = [...]string{Disk: "file", S3: "s3", GCS: "gs", R2: "r2", Azure: "az"}

// String is the scheme of the kind's URLs.
func (k Kind) String() string {
	if int(k) < len(kinds) {
		return kinds[k]
	}
	return ""
}

// Place is one object, or the folder of a listing, byte for byte.
type Place struct {
	Kind Kind
	// Account is Azure's, "" where the URL names none.
	Account string
	// Bucket is the bucket or container, "" on disks.
	Bucket string
	// Name is the object's key, or the absolute path of a file.
	Name string
}

// String spells the place as DuckDB does.
func (p Place) String() string {
	switch {
	case p.Kind == Disk:
		return p.Name
	case p.Account != "":
		return "az://" + p.Account + ".blob.core.windows.net/" + p.Bucket + "/" + p.Name
	}
	return p.Kind.String() + "://" + p.Bucket + "/" + p.Name
}

// schemes are the spellings of each kind.
var schemes = map[string]Kind{
	"file": Disk, "s3": S3, "s3a": S3, "s3n": S3, "gs": GCS, "gcs": GCS, "r2": R2,
	"az": Azure, "azure": Azure, "abfs": Azure, "abfss": Azure, "wasb": Azure, "wasbs": Azure,
}

// Locate says which object a path or URL names. The error is, or wraps, one of the
// package's.
func Locate(path string) (Place, error) {
	scheme, rest, isURL := cutScheme(path)
	var p Place
	switch {
	case !isURL:
		if foreign(path) {
			return Place{}, fmt.Errorf("%w: %q", ErrUnknown, path)
		}
		p = Place{Kind: Disk, Name: path}
	default:
		kind, ok := schemes[scheme]
		if !ok || strings.ContainsAny(rest, "?#") && kind != Disk {
			// With parameters, a URL is read differently by different clients.
			return Place{}, fmt.Errorf("%w: %q", ErrUnknown, path)
		}
		p = ofURL(kind, rest)
	}
	switch {
	case climbs(p.Name):
		return Place{}, fmt.Errorf("%w: %q", ErrClimbs, path)
	case p.Kind == Disk && !strings.HasPrefix(p.Name, "/"):
		return Place{}, fmt.Errorf("%w: %q", ErrRelative, path)
	case p.Kind != Disk && p.Bucket == "":
		return Place{}, fmt.Errorf("%w: %q", ErrUnknown, path)
	}
	return p, nil
}

// ofURL splits what follows a scheme.
func ofURL(kind Kind, rest string) Place {
	if kind == Disk {
		if host, path, ok := strings.Cut(rest, "/"); ok && strings.EqualFold(host, "localhost") {
			rest = "/" + path
		}
		return Place{Kind: Disk, Name: rest}
	}
	host, name, _ := strings.Cut(rest, "/")
	p := Place{Kind: kind, Bucket: host, Name: name}
	if kind != Azure {
		return p
	}
	// container@account.dfs.core.windows.net/name (Hadoop),
	// account.blob.core.windows.net/container/name (DuckDB), container/name.
	if container, account, ok := strings.Cut(host, "@"); ok {
		if account, _, _ = strings.Cut(lower(account), "."); isAccount(account) && isContainer(container) {
			p.Bucket, p.Account = container, account
		}
		return p
	}
	container, blob, _ := strings.Cut(strings.TrimLeft(name, "/"), "/")
	if account, ok := azureAccount(host); ok && isContainer(container) {
		return Place{Kind: Azure, Account: account, Bucket: container, Name: blob}
	}
	return p
}

// azureAccount takes the account out of account.blob.core.windows.net and its like.
func azureAccount(host string) (string, bool) {
	account, domain, ok := strings.Cut(lower(host), ".")
	ok = ok && (strings.HasPrefix(domain, "blob.") || strings.HasPrefix(domain, "dfs.") || strings.HasPrefix(domain, "z"))
	return account, ok && isAccount(account)
}

// isContainer says whether Azure may take the name for a container.
func isContainer(s string) bool {
	for _, c := range lower(s) {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' && c != '$' {
			return false
		}
	}
	return s != ""
}

// isAccount says whether Azure would take the name for an account.
func isAccount(s string) bool {
	for i := range len(s) {
		if (s[i] < 'a' || s[i] > 'z') && (s[i] < '0' || s[i] > '9') {
			return false
		}
	}
	return s != ""
}

// cutScheme splits a URL; the scheme is in lower case. file:/path is one without slashes.
func cutScheme(path string) (scheme, rest string, ok bool) {
	if scheme, rest, ok = strings.Cut(path, "://"); ok && plainScheme(scheme) {
		return lower(scheme), rest, true
	}
	if len(path) > 5 && strings.EqualFold(path[:6], "file:/") {
		return "file", path[5:], true
	}
	return "", path, false
}

// lower folds ASCII letters only, and leaves bytes that are no text alone.
func lower(s string) string {
	b := []byte(s)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}

func plainScheme(s string) bool {
	for i := range len(s) {
		c := s[i] | 0x20
		if (c < 'a' || c > 'z') && (i == 0 || (s[i] < '0' || s[i] > '9') && s[i] != '+' && s[i] != '-' && s[i] != '.') {
			return false
		}
	}
	return s != ""
}

// foreign says whether the path is of a machine with another idea of paths: C:\lake,
// C:/lake, \\host\share.
func foreign(path string) bool {
	if strings.HasPrefix(path, `\\`) {
		return true
	}
	return len(path) >= 3 && path[1] == ':' && (path[2] == '/' || path[2] == '\\') && (path[0]|0x20) >= 'a' && (path[0]|0x20) <= 'z'
}

// climbs says whether a path has a ".." among its parts.
func climbs(path string) bool {
	for part := range strings.SplitSeq(path, "/") {
		if part == ".." {
			return true
		}
	}
	return false
}

// decode undoes percent-encoding until nothing of it is left. Broken escapes stay.
func decode(s string) string {
	for strings.Contains(s, "%") {
		next := decodeOnce(s)
		if next == s {
			break
		}
		s = next
	}
	return s
}

func decodeOnce(s string) string {
	if u, err := url.PathUnescape(s); err == nil {
		return u
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			if u, err := url.PathUnescape(s[i : i+3]); err == nil {
				b.WriteString(u)
				i += 2
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// clean makes slashes single and drops "." and empty parts. An absolute path stays one.
func clean(s string) string {
	b := make([]byte, 0, len(s))
	if strings.HasPrefix(s, "/") {
		b = append(b, '/')
	}
	for part := range strings.SplitSeq(s, "/") {
		if part == "" || part == "." {
			continue
		}
		if n := len(b); n > 0 && b[n-1] != '/' {
			b = append(b, '/')
		}
		b = append(b, part...)
	}
	return string(b)
}

// Folder is the place of a listing of everything below the path. Its name ends with a
// slash, unless it is a whole bucket. On disks "." and double slashes are followed; in
// buckets they are letters like any other.
func Folder(path string) (Place, error) {
	p, err := Locate(path)
	if err != nil {
		return Place{}, err
	}
	if p.Kind == Disk {
		p.Name = clean(p.Name)
	}
	if p.Name != "" && !strings.HasSuffix(p.Name, "/") {
		p.Name += "/"
	}
	return p, nil
}
