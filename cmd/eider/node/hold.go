package node

import (
	"fmt"
	"log/slog"
	"os"
	"strings"

	"github.com/eiderdb/eider/cmd/eider/config"
	"github.com/eiderdb/eider/conflict/hold"
	"github.com/eiderdb/eider/lake/files"
	"github.com/eiderdb/eider/translate/guard"
)

// newHold makes what keeps row ids, with its access to the lakes' files.
func newHold(o *config.Options, getenv func(string) string, log *slog.Logger) (*guard.Hold, error) {
	set, err := LakeFiles(o, getenv, o.LakePaths...)
	if err != nil {
		return nil, err
	}
	cache := o.HoldCache
	if cache == 0 {
		cache = -1
	}
	return &guard.Hold{
		Verifier: hold.New(hold.Options{
			Tier: hold.Tier(o.HoldTier), Files: set, Timeout: o.HoldTimeout, MaxBytes: int64(o.HoldBytes),
			CacheEntries: cache, Logger: log,
		}),
		NullStarts: o.NullRowStarts,
		Gaps:       o.RowIDGaps,
	}, nil
}

// LakeFiles reaches files of lakes below the given folders, with the access that the options
// give.
func LakeFiles(o *config.Options, getenv func(string) string, paths ...string) (*files.Set, error) {
	s3, err := s3Access(o, getenv)
	if err != nil {
		return nil, err
	}
	set, err := files.New(files.Config{Paths: paths, S3: s3})
	if err != nil {
		return nil, fmt.Errorf("%w: lake-paths: %w", config.ErrConfig, err)
	}
	return set, nil
}

// s3Access takes what is not set from the environment variables of Amazon's tools.
func s3Access(o *config.Options, getenv func(string) string) (files.S3, error) {
	a := files.S3{Region: o.S3Region, PathStyle: o.S3PathStyle, AccessKey: o.S3AccessKey}
	a.Endpoint, a.Insecure = endpoint(o.S3Endpoint)
	if a.Region == "" {
		a.Region = getenv("AWS_REGION")
	}
	switch {
	case a.AccessKey == "":
		a.AccessKey, a.SecretKey = getenv("AWS_ACCESS_KEY_ID"), getenv("AWS_SECRET_ACCESS_KEY")
		a.SessionToken = getenv("AWS_SESSION_TOKEN")
	case o.S3SecretFile != "":
		b, err := os.ReadFile(o.S3SecretFile)
		if err != nil {
			return a, fmt.Errorf("%w: s3-secret-file: %w", config.ErrConfig, err)
		}
		a.SecretKey = strings.TrimSpace(string(b))
	default:
		a.SecretKey = getenv("AWS_SECRET_ACCESS_KEY")
	}
	return a, nil
}

// endpoint reads a host, a host and port, or a URL; http:// turns TLS off.
func endpoint(text string) (host string, insecure bool) {
	host, insecure = strings.CutPrefix(text, "http://")
	return strings.TrimSuffix(strings.TrimPrefix(host, "https://"), "/"), insecure
}
