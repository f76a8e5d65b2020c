package partition

import (
	"fmt"
	"time"
)

// Date is a day of the calendar, in no zone. The zero Date is none.
type Date struct {
	Year  int
	Month time.Month
	Day   int
}

// ParseDate reads YYYY-MM-DD.
func ParseDate(s string) (Date, error) {
	t, err := time.Parse(time.DateOnly, s)
	if err != nil || t.Year() < minYear {
		return Date{}, fmt.Errorf("%q: %w", s, ErrDate)
	}
	return dateOf(t), nil
}

// DateIn is the day that calendars show at t in zone.
func DateIn(t time.Time, zone *time.Location) Date { return dateOf(t.In(zone)) }

func dateOf(t time.Time) Date {
	y, m, d := t.Date()
	return Date{y, m, d}
}

// String writes YYYY-MM-DD.
func (d Date) String() string { return fmt.Sprintf("%04d-%02d-%02d", d.Year, int(d.Month), d.Day) }

// IsZero tells whether d is none.
func (d Date) IsZero() bool { return d == Date{} }

// AddDays is the day n days later, or earlier.
func (d Date) AddDays(n int) Date { return dateOf(d.wall().AddDate(0, 0, n)) }

// Compare is negative if d is before e, 0 if they are the same day.
func (d Date) Compare(e Date) int { return d.wall().Compare(e.wall()) }

// wall is midnight as a wall time: what clocks show, kept in a time.Time of UTC.
func (d Date) wall() time.Time { return time.Date(d.Year, d.Month, d.Day, 0, 0, 0, 0, time.UTC) }
