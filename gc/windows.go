package gc

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Windows are the times of the week at which jobs may run. The zero value is always.
type Windows struct {
	list []window
	text string
}

// window is a span of one day's wall clock on some days; until may lie on the day after.
type window struct {
	days        [7]bool // by time.Weekday
	from, until int     // minutes of the day; until > from, up to 48 hours
}

const dayMinutes = 24 * 60

var dayNames = [7]string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}

// ParseWindows reads a list of windows, separated by commas. Each is days, hours or both:
// "Mon-Fri 22:00-06:00, Sat-Sun, Wed 12:00-13:00". Hours that end before they begin
// reach into the next day, and belong to the day on which they begin.
func ParseWindows(s string) (Windows, error) {
	w := Windows{text: strings.TrimSpace(s)}
	if w.text == "" {
		return w, nil
	}
	for part := range strings.SplitSeq(w.text, ",") {
		one, err := parseWindow(strings.Fields(part))
		if err != nil {
			return Windows{}, err
		}
		w.list = append(w.list, one)
	}
	return w, nil
}

var errWindow = errors.New(`write days and hours: "Mon-Fri 22:00-06:00, Sat-Sun"`)

func parseWindow(words []string) (w window, err error) {
	w.until = dayMinutes
	hours, days := false, false
	for _, word := range words {
		switch first := word[0]; {
		case first >= '0' && first <= '9' && !hours:
			hours = true
			if w.from, w.until, err = parseHours(word); err != nil {
				return w, err
			}
		case !hours && !days:
			days = true
			if w.days, err = parseDays(word); err != nil {
				return w, err
			}
		default:
			return w, errWindow
		}
	}
	if !hours && !days {
		return w, errWindow
	}
	if !days {
		for i := range w.days {
			w.days[i] = true
		}
	}
	return w, nil
}

func parseDays(s string) (days [7]bool, err error) {
	first, last, isRange := strings.Cut(strings.ToLower(s), "-")
	if !isRange {
		last = first
	}
	from, to := dayNumber(first), dayNumber(last)
	if from < 0 || to < 0 {
		return days, fmt.Errorf("%q names no days: Mon, Tue, Wed, Thu, Fri, Sat, Sun", s)
	}
	for d := from; ; d = (d + 1) % 7 {
		days[d] = true
		if d == to {
			return days, nil
		}
	}
}

// dayNumber finds a weekday by its name or the first three letters of it, -1 for none.
func dayNumber(s string) int {
	for i, n := range dayNames {
		if s == n || s == strings.ToLower(time.Weekday(i).String()) {
			return i
		}
	}
	return -1
}

func parseHours(s string) (from, until int, err error) {
	a, b, ok := strings.Cut(s, "-")
	if !ok {
		return 0, 0, errWindow
	}
	if from, err = parseClock(a); err != nil {
		return 0, 0, err
	}
	if until, err = parseClock(b); err != nil {
		return 0, 0, err
	}
	switch {
	case from == until || from == dayMinutes:
		return 0, 0, fmt.Errorf("%q has no length", s)
	case until < from:
		until += dayMinutes
	}
	return from, until, nil
}

func parseClock(s string) (minutes int, err error) {
	var h, m int
	if len(s) != 5 || s[2] != ':' {
		return 0, fmt.Errorf("%q is no time of day: write 22:00", s)
	}
	for _, i := range []int{0, 1, 3, 4} {
		if s[i] < '0' || s[i] > '9' {
			return 0, fmt.Errorf("%q is no time of day: write 22:00", s)
		}
	}
	h, m = int(s[0]-'0')*10+int(s[1]-'0'), int(s[3]-'0')*10+int(s[4]-'0')
	if h > 24 || m > 59 || h == 24 && m > 0 {
		return 0, fmt.Errorf("%q is no time of day", s)
	}
	return h*60 + m, nil
}

// String is the text that the windows were read from.
func (w Windows) String() string { return w.text }

// Open says whether jobs may run at t, on the wall clock of t's location.
func (w Windows) Open(t time.Time) bool {
	if len(w.list) == 0 {
		return true
	}
	at, day := t.Hour()*60+t.Minute(), int(t.Weekday())
	for _, x := range w.list {
		if x.days[day] && at >= x.from && at < x.until ||
			x.days[(day+6)%7] && at+dayMinutes >= x.from && at+dayMinutes < x.until {
			return true
		}
	}
	return false
}

// Change returns the next full minute at which Open changes, within eight days of t; ok is
// false when it does not.
func (w Windows) Change(t time.Time) (at time.Time, ok bool) {
	if len(w.list) == 0 {
		return time.Time{}, false
	}
	is := w.Open(t)
	// Minutes of real time: where the wall clock jumps, so does the window.
	at = t.Truncate(time.Minute)
	for range 8 * dayMinutes {
		at = at.Add(time.Minute)
		if w.Open(at) != is {
			return at, true
		}
	}
	return time.Time{}, false
}
