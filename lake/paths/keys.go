package paths

import "strings"

// Keys are the forms under which a path or URL is compared, most exact first. Two names
// are taken for one object if they share a key, or if one has a tail (Tail) that a key of the other
// ends with. A name without either may be anything.
func Keys(path string) []string {
	scheme, rest, isURL := cutScheme(path)
	if !isURL {
		if foreign(path) {
			return []string{path}
		}
		return localKeys(path)
	}
	kind, known := schemes[scheme]
	switch {
	case known && kind == Disk:
		return localKeys(ofURL(Disk, rest).Name)
	case known:
		return urlKeys(kind, rest)
	case scheme == "http" || scheme == "https":
		return httpKeys(scheme, rest)
	}
	host, name, _ := strings.Cut(rest, "/")
	return []string{join(scheme, host, name)}
}

// Tail is what a name ends with, for a name of which only the end is known: one that is
// relative, or that climbs. ok is false for all others. An empty tail is that of every name.
func Tail(path string) (tail string, ok bool) {
	scheme, rest, isURL := cutScheme(path)
	if !isURL && foreign(path) {
		return "", false
	}
	name := path
	if isURL {
		name = bareName(scheme, rest)
	}
	name = clean(decode(name))
	local := !isURL || scheme == "file"
	if !climbs(name) && (!local || strings.HasPrefix(name, "/") || name == "" && isURL) {
		return "", false
	}
	parts := strings.Split(name, "/")
	for i := len(parts) - 1; i >= 0; i-- {
		if parts[i] == ".." {
			parts = parts[i+1:]
			break
		}
	}
	return strings.Join(parts, "/"), true
}

// bareName is what follows the scheme of a URL, without parameters.
func bareName(scheme, rest string) string {
	if scheme == "file" {
		return ofURL(Disk, rest).Name
	}
	rest, _, _ = strings.Cut(rest, "?")
	return rest
}

func localKeys(path string) []string {
	name := clean(decode(path))
	if !strings.HasPrefix(name, "/") {
		return nil
	}
	return []string{"file://" + name}
}

// join makes a key. The host is folded: those who care for its case are not asked.
func join(scheme, host, name string) string {
	return scheme + "://" + lower(host) + "/" + strings.TrimPrefix(clean(decode(name)), "/")
}

// urlKeys are those of an object's URL, with and without what may be parameters.
func urlKeys(kind Kind, rest string) []string {
	keys := objectKeys(nil, kind, rest)
	if bare, _, ok := strings.Cut(rest, "?"); ok {
		keys = objectKeys(keys, kind, bare)
	}
	return keys
}

// objectKeys cleans the name before the URL is split: of Azure's, a part of it may be the container.
func objectKeys(keys []string, kind Kind, rest string) []string {
	host, name, _ := strings.Cut(rest, "/")
	p := ofURL(kind, host+"/"+strings.TrimPrefix(clean(decode(name)), "/"))
	if p.Account != "" {
		keys = append(keys, join("az", p.Bucket+"@"+p.Account, p.Name))
	}
	return append(keys, join(kind.String(), p.Bucket, p.Name))
}

// httpKeys adds the buckets that a web address may mean: host/bucket/name at any server
// (path style), bucket.host/name (virtual host style), and Azure's.
func httpKeys(scheme, rest string) []string {
	host, name, _ := strings.Cut(rest, "/")
	keys := []string{join(scheme, host, name)}
	spellings := []string{name}
	if bare, _, ok := strings.Cut(name, "?"); ok {
		spellings = append(spellings, bare)
	}
	if _, at, ok := strings.Cut(host, "@"); ok { // user:password
		host = at
	}
	host = lower(host)
	for _, name := range spellings {
		if _, ok := azureAccount(host); ok {
			keys = objectKeys(keys, Azure, host+"/"+name)
			continue
		}
		bucket, object, _ := strings.Cut(strings.TrimLeft(name, "/"), "/")
		// download/storage/v1/b/bucket/o/name and storage/v1/b/bucket/o/name are Google's JSON API.
		if _, after, ok := strings.Cut(name, "storage/v1/b/"); ok {
			bucket, object, _ = strings.Cut(after, "/o/")
		}
		for _, kind := range []Kind{S3, GCS, R2} {
			keys = append(keys, join(kind.String(), bucket, object))
			// A bucket's name may have dots, so every beginning of the host may be one.
			for i := range len(host) {
				if host[i] == '.' {
					keys = append(keys, join(kind.String(), host[:i], name))
				}
			}
		}
	}
	return keys
}

// Same says whether two names may be one object.
func Same(a, b string) bool {
	if _, ok := Tail(b); ok {
		a, b = b, a
	}
	var s Set
	return s.Add(a) != nil || s.Has(b)
}

// suffixes calls f with every end of a key that begins after a slash, and stops when f
// says so.
func suffixes(key string, f func(string) bool) bool {
	for i := len(key) - 1; i >= 0; i-- {
		if key[i] == '/' && i+1 < len(key) && f(key[i+1:]) {
			return true
		}
	}
	return false
}

// Readings are the files of this machine that a name may mean: the path as it is, and
// decoded as often as it can be. There are none for what is not on a disk, and for
// paths that are relative.
func Readings(path string) []string {
	scheme, rest, isURL := cutScheme(path)
	switch {
	case isURL && scheme != "file" || !isURL && foreign(path):
		return nil
	case isURL:
		path = ofURL(Disk, rest).Name
	}
	if !strings.HasPrefix(path, "/") {
		return nil
	}
	out := []string{path}
	for strings.Contains(path, "%") {
		next := decodeOnce(path)
		if next == path {
			break
		}
		path = next
		out = append(out, path)
	}
	return out
}
