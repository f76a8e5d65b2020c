package state

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Options says how a store works. The zero value writes, by the system's clock.
type Options struct {
	// Now is the clock; nil for the system's.
	Now func() time.Time
	// NewID makes the UUID of a run; nil for a random one (version 4).
	NewID func() string
	// ReadOnly makes no tables: where there are none, Open returns ErrNone.
	ReadOnly bool
	// Application is what the catalog shows as the session's name; "" for
	// "eider materialize".
	Application string
}

func (o Options) withDefaults() Options {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.NewID == nil {
		o.NewID = NewID
	}
	if o.Application == "" {
		o.Application = "eider materialize"
	}
	return o
}

// NewID is a random UUID, version 4.
func NewID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[0:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// Store is one connection to the catalog database of a lake. It is not for concurrent use.
type Store struct {
	conn *pgx.Conn
	cfg  *pgx.ConnConfig
	o    Options
}

// Open connects to the catalog database that dsn names, in libpq's key=value form or as a URL,
// and makes the tables if they are not there.
func Open(ctx context.Context, dsn string, o Options) (*Store, error) {
	o = o.withDefaults()
	cfg, err := config(dsn, o.Application)
	if err != nil {
		return nil, err
	}
	s := &Store{cfg: cfg, o: o}
	if err := s.connect(ctx); err != nil {
		return nil, err
	}
	if err := s.ready(ctx); err != nil {
		_ = s.conn.Close(context.WithoutCancel(ctx))
		return nil, err
	}
	return s, nil
}

// config reads a connection string. Statements go without preparing, so that a pooler may be
// between; a lock needs a pooler in session mode.
func config(dsn, application string) (*pgx.ConnConfig, error) {
	cfg, err := pgx.ParseConfig(dsn)
	if err != nil {
		return nil, fmt.Errorf("%w: connection string: %w", ErrConnect, err)
	}
	cfg.DefaultQueryExecMode = pgx.QueryExecModeSimpleProtocol
	if cfg.RuntimeParams["application_name"] == "" {
		cfg.RuntimeParams["application_name"] = application
	}
	return cfg, nil
}

// connect makes a new connection. When it fails the old one stays: a closed one, of which there is an error to be had.
func (s *Store) connect(ctx context.Context) error {
	conn, err := pgx.ConnectConfig(ctx, s.cfg.Copy())
	if err != nil {
		return fmt.Errorf("%w: %w", ErrConnect, err)
	}
	s.conn = conn
	return nil
}

// Alive says with an ErrLost that the connection, and a lock that it held, is gone.
func (s *Store) Alive(ctx context.Context) error {
	if err := s.conn.Ping(ctx); err != nil {
		return fmt.Errorf("%w: %w", ErrLost, err)
	}
	return nil
}

// Close ends the connection, and lets go of its locks.
func (s *Store) Close(ctx context.Context) error { return s.conn.Close(ctx) }

// transact runs f in a transaction. When the connection was lost before it began, it makes a
// new one and tries once more: what is recorded matters more than the lock that is gone.
func (s *Store) transact(ctx context.Context, f func(pgx.Tx) error) error {
	if s.conn.IsClosed() || s.conn.Ping(ctx) != nil {
		_ = s.conn.Close(ctx)
		if err := s.connect(ctx); err != nil {
			return err
		}
	}
	// A repetition is right for every f here: each reads what it depends on. Of those who meet at a
	// row one gets through each time, so there are more attempts than there may be runners at once.
	const attempts = 100
	for i := 0; ; i++ {
		err := pgx.BeginFunc(ctx, s.conn, f)
		if i+1 == attempts || !conflicted(err) {
			return err
		}
	}
}

// conflicted says whether a transaction lost against another one and may be repeated.
func conflicted(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && (pg.Code == "40001" || pg.Code == "40P01" || pg.Code == "23505")
}
