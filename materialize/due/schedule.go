package due

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/eiderdb/eider/internal/duration"
	"github.com/eiderdb/eider/materialize/wall"
)

// ErrSchedule is returned by ParseSchedule for what is no schedule, or never comes.
var ErrSchedule = errors.New("schedule")

// Schedule is when a script runs by the clock. ParseSchedule makes it.
type Schedule struct {
	text      string
	zone      *time.Location
	cron      *cron.SpecSchedule // of wall times; nil if every is set
	everyHour bool               // no hour is left out
	every     time.Duration
}

const every = "@every "

const fieldsHelp = "write minute, hour, day of the month, month and day of the week, such as \"30 2 * * *\" or \"0 9 * * mon-fri\", or @hourly, @daily, @weekly, @monthly, @every 15m"

// ParseSchedule reads the five fields of cron, in the zone's local time: minute, hour, day
// of the month, month and day of the week, with *, lists, ranges, steps and English names.
// If both days are given, either is enough. @yearly, @monthly, @weekly, @daily and @hourly
// are names for such fields. "@every 15m" ticks at the multiples of a whole number of
// seconds, in UTC since 1970. An empty zone is UTC.
func ParseSchedule(text, zone string) (Schedule, error) {
	s := Schedule{text: strings.TrimSpace(text)}
	fail := func(err error) (Schedule, error) { return Schedule{}, fmt.Errorf("%w %q: %w", ErrSchedule, text, err) }
	var err error
	if s.zone, err = wall.Zone(zone); err != nil {
		return fail(err)
	}
	switch {
	case s.text == "":
		return fail(errors.New(fieldsHelp))
	case strings.Contains(s.text, "TZ="):
		return fail(errors.New("the zone is given by itself, not in the schedule"))
	case strings.HasPrefix(s.text, every):
		s.every, err = duration.Parse(strings.TrimSpace(strings.TrimPrefix(s.text, every)))
		if err == nil && (s.every < time.Second || s.every%time.Second != 0) {
			err = errors.New("whole seconds, from 1s on")
		}
		if err != nil {
			return fail(err)
		}
		return s, nil
	case strings.HasPrefix(s.text, "@"):
	case len(strings.Fields(s.text)) != 5:
		return fail(fmt.Errorf("%d fields; %s", len(strings.Fields(s.text)), fieldsHelp))
	}
	parser := cron.NewParser(cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow | cron.Descriptor)
	parsed, err := parser.Parse(s.text)
	if err != nil {
		return fail(fmt.Errorf("%w; %s", err, fieldsHelp))
	}
	fields, ok := parsed.(*cron.SpecSchedule)
	if !ok {
		return fail(errors.New(fieldsHelp))
	}
	const hours = 1<<24 - 1
	fields.Location = time.UTC // it is asked about wall times
	s.cron, s.everyHour = fields, fields.Hour&hours == hours
	if s.cronNext(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)).IsZero() {
		return fail(errors.New("there is no such day"))
	}
	return s, nil
}

// String is the schedule as it was written, and its zone if that is not UTC.
func (s Schedule) String() string {
	if s.zone == time.UTC {
		return s.text
	}
	return s.text + " " + s.zone.String()
}

// cronNext is the next time of the fields, on the calendar. The parser's library gives up
// after five years; between February 29ths there can be eight.
func (s Schedule) cronNext(after time.Time) time.Time {
	for range 3 {
		if next := s.cron.Next(after); !next.IsZero() {
			return next
		}
		after = after.AddDate(5, 0, 0)
	}
	return time.Time{}
}

// Next is the first tick after a time.
func (s Schedule) Next(after time.Time) time.Time {
	if s.every > 0 {
		step := int64(s.every / time.Second)
		return time.Unix((floorDiv(after.Unix(), step)+1)*step, 0).In(s.zone)
	}
	after = after.In(s.zone)
	if s.everyHour {
		return s.nextPassing(after)
	}
	for at := wall.Of(after); ; {
		at = s.cronNext(at)
		// The first instant that shows this time or a later one: the second time that
		// clocks show it does not count, and what they skip is where they go on.
		if t, ok := wall.First(s.zone, at, at.Add(48*time.Hour)); ok && t.After(after) {
			return t
		}
	}
}

// nextPassing is the next tick of time as it passes: each period without a change of the
// clocks has its own.
func (s Schedule) nextPassing(after time.Time) time.Time {
	shown := wall.Of(after)
	for {
		_, to, offset := wall.Period(after)
		next := s.cronNext(shown).Add(-offset).In(s.zone)
		if to.IsZero() || next.Before(to) {
			return next
		}
		after, shown = to, wall.Of(to).Add(-1) // the first time that is shown counts too
	}
}

// last is the newest tick after one time until another, that one included.
func (s Schedule) last(after, until time.Time) (tick time.Time, ok bool) {
	if !after.Before(until) {
		return time.Time{}, false
	}
	// From until backwards, in windows that grow, since a schedule only goes forward.
	for back := time.Hour; ; back *= 4 {
		from := until.Add(-back)
		if back > math.MaxInt64/8 || !from.After(after) {
			from = after
		}
		for t := s.Next(from); !t.After(until); t = s.Next(t) {
			tick, ok = t, true
		}
		if ok || from.Equal(after) {
			return tick, ok
		}
	}
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
