package cmdline

import (
	"errors"
	"fmt"
	"net"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// ParseServer reads the connection string of a server, as --server takes it. What is wrong
// with one is wrong use.
func ParseServer(text string) (*pgx.ConnConfig, error) {
	c, err := pgx.ParseConfig(text)
	if err != nil {
		return nil, Usagef("--server: %w; write postgres://USER@HOST:PORT/ or \"host=HOST port=PORT user=USER\"", err)
	}
	return c, nil
}

// Unconnected words the error of a connection that could not be made with c: what the
// server said, or that there is none, and what to do. elsewhere is what else a command can
// be told than another --server, "" for nothing. Other errors stay as they are.
func Unconnected(err error, c *pgx.ConnConfig, elsewhere string) error {
	var failed *pgconn.ConnectError
	var refused *pgconn.PgError
	var op *net.OpError
	switch {
	case !errors.As(err, &failed):
	case errors.As(err, &refused):
		const noPassword = "28P01"
		if refused.Code == noPassword && c.Password == "" {
			return fmt.Errorf("%s: none was given, PGPASSWORD may hold it", refused.Message)
		}
		if more := refused.Detail + refused.Hint; more != "" {
			return fmt.Errorf("%s (%s)", refused.Message, more)
		}
		return errors.New(refused.Message)
	case errors.As(err, &op) && op.Op == "dial":
		return fmt.Errorf("no server answers at %s: start one with \"eider serve\", name another with --server%s (%w)", place(op, c), elsewhere, op.Err)
	}
	return err
}

// place is the address that was tried, or the one that has no meaning.
func place(op *net.OpError, c *pgx.ConnConfig) string {
	if op.Addr != nil {
		return op.Addr.String()
	}
	return net.JoinHostPort(c.Host, fmt.Sprint(c.Port))
}
