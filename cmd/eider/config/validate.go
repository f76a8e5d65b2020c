package config

import (
	"fmt"
	"net"
	"slices"
	"strings"
)

// Validate refuses settings that cannot work together.
func (o *Options) Validate() error {
	if len(o.Listen) == 0 && o.UnixSocket == "" {
		return fmt.Errorf("%w: there is nothing to listen on: set listen or unix-socket", ErrConfig)
	}
	for _, addr := range o.Listen {
		local, err := IsLoopback(addr)
		if err != nil {
			return fmt.Errorf("%w: listen: %w", ErrConfig, err)
		}
		if !local && o.UserFile == "" {
			return fmt.Errorf("%w: listen %s lets other machines in, and without users everybody could read and change every catalog: "+
				"make users with \"eider user add NAME --user-file FILE\" and set --user-file (EIDER_USER_FILE), or listen on 127.0.0.1", ErrConfig, addr)
		}
	}
	if o.AdminListen != "" {
		if slices.Contains(o.Listen, o.AdminListen) && !strings.HasSuffix(o.AdminListen, ":0") {
			return fmt.Errorf("%w: listen and admin-listen are both %s: they need ports of their own", ErrConfig, o.AdminListen)
		}
		if _, err := IsLoopback(o.AdminListen); err != nil {
			return fmt.Errorf("%w: admin-listen: %w", ErrConfig, err)
		}
	}
	if (o.TLSCert == "") != (o.TLSKey == "") {
		return fmt.Errorf("%w: tls-cert and tls-key belong together, set both", ErrConfig)
	}
	if o.RequireTLS && o.TLSCert == "" {
		return fmt.Errorf("%w: require-tls needs tls-cert and tls-key", ErrConfig)
	}
	if o.Data == "" && o.Engine != "memory" {
		return fmt.Errorf("%w: data names no folder", ErrConfig)
	}
	if o.MaxConnections < 1 {
		return fmt.Errorf("%w: max-connections must be at least 1", ErrConfig)
	}
	if o.MaxNotifications < 1 {
		return fmt.Errorf("%w: max-notifications must be at least 1", ErrConfig)
	}
	if o.CommitTurn && o.CommitTurnBound <= 0 {
		return fmt.Errorf("%w: commit-turn-bound must be more than 0; commit-turn=false turns turns off", ErrConfig)
	}
	if o.HoldTier > 3 {
		return fmt.Errorf("%w: hold-tier must be 0, 1, 2 or 3", ErrConfig)
	}
	if o.S3SecretFile != "" && o.S3AccessKey == "" {
		return fmt.Errorf("%w: s3-secret-file needs s3-access-key", ErrConfig)
	}
	const leastMessage, mostMessage = 64 << 10, 1<<31 - 16
	if o.MaxMessage < leastMessage || o.MaxMessage > mostMessage {
		return fmt.Errorf("%w: max-message must be between 64KiB and 2047MiB", ErrConfig)
	}
	return nil
}

// IsLoopback says whether a listening address is reachable from this machine only.
func IsLoopback(addr string) (bool, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil || port == "" {
		return false, fmt.Errorf("%q is no host:port, such as 127.0.0.1:5434", addr)
	}
	if _, err := net.LookupPort("tcp", port); err != nil {
		return false, fmt.Errorf("%q: there is no port %s", addr, port)
	}
	if strings.EqualFold(host, "localhost") {
		return true, nil
	}
	ip := net.ParseIP(strings.Trim(host, "[]"))
	return ip != nil && ip.IsLoopback(), nil
}
