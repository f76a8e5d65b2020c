package partition

import (
	"errors"

	"github.com/eiderdb/eider/materialize/wall"
)

// Errors of this package. What is returned wraps one of them and says more.
var (
	// ErrKind is returned by New for a kind that there is not.
	ErrKind = errors.New("no such kind of partition")
	// ErrZone is returned by New for a time zone that the database does not have.
	ErrZone = wall.ErrZone
	// ErrFormat is returned by New for a format that cannot name buckets of the kind.
	ErrFormat = errors.New("partition format")
	// ErrStart is returned by New for a start that is no date.
	ErrStart = errors.New("partition start")
	// ErrKey is returned by New for a key that is no dotted path, and for a dynamic
	// partition without one.
	ErrKey = errors.New("partition key")
	// ErrDate is returned by ParseDate for what is no date.
	ErrDate = errors.New("no date; write YYYY-MM-DD")
	// ErrAmbiguous is returned where a bucket is asked of a format whose values do not
	// tell all buckets apart.
	ErrAmbiguous = errors.New("the format does not tell which time a value is for")
	// ErrValue is returned for a text that is no value of the spec.
	ErrValue = errors.New("no such partition")
	// ErrNoBucket is returned for a value whose hour or day the clocks of the zone skipped.
	ErrNoBucket = errors.New("the clocks skipped this partition")
	// ErrRange is returned for ranges that end before they begin, that hold more than
	// MaxRange buckets, and for instants outside of the years that a format can write.
	ErrRange = errors.New("out of range")
	// ErrDynamic is returned where a dynamic partition is asked for what only time has.
	ErrDynamic = errors.New("a dynamic partition has no times")
	// ErrNotDynamic is returned by ResolveKey for a partition by time.
	ErrNotDynamic = errors.New("a partition by time has no key")
	// ErrPayload is returned by ResolveKey for a payload that is missing or no JSON, or
	// that has no text, number or boolean at the key.
	ErrPayload = errors.New("partition key in the payload")
)
