package types

import "time"

// DateStyle is the output form of dates and times.
type DateStyle uint8

// The date styles.
const (
	DateStyleISO DateStyle = iota
	DateStyleSQL
	DateStylePostgres
	DateStyleGerman
)

// DateOrder is how an ambiguous date is read, and written by the non-ISO styles.
type DateOrder uint8

// The date orders.
const (
	OrderMDY DateOrder = iota
	OrderDMY
	OrderYMD
)

// IntervalStyle is the output form of intervals.
type IntervalStyle uint8

// The interval styles.
const (
	IntervalPostgres IntervalStyle = iota
	IntervalPostgresVerbose
	IntervalSQLStandard
	IntervalISO8601
)

// Env is what a session's settings make of values. It is read only here; a nil *Env
// means DefaultEnv with the zero transaction time.
type Env struct {
	Location         *time.Location // TimeZone; nil means UTC
	DateStyle        DateStyle
	DateOrder        DateOrder
	IntervalStyle    IntervalStyle
	ByteaEscape      bool      // bytea_output = escape
	ExtraFloatDigits int       // above 0: shortest text that reads back the same
	Now              time.Time // transaction start, for 'now', 'today' and times without a date
	// RegName prints a value of a reg type as the name of what it stands for; nil, or false,
	// prints the number. Names need a catalog, which this package does not know.
	RegName func(t OID, v uint32) (string, bool)
	// RegInput reads the name of what a reg type other than regtype stands for; nil refuses names.
	RegInput func(t OID, name string) (uint32, error)
}

// DefaultEnv is a session's environment before any SET.
func DefaultEnv() *Env { return &Env{Location: time.UTC, ExtraFloatDigits: 1} }

var defaultEnv = Env{Location: time.UTC, ExtraFloatDigits: 1}

func (e *Env) orDefault() *Env {
	if e == nil {
		return &defaultEnv
	}
	return e
}

func (e *Env) loc() *time.Location {
	if e == nil || e.Location == nil {
		return time.UTC
	}
	return e.Location
}
