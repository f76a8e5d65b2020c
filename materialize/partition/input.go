package partition

import (
	"fmt"
	"strings"
)

// Input is the type of the HTML field in which a person picks a value: date,
// datetime-local, week or month. A format of its own, and a dynamic partition, need text.
func (s Spec) Input() string {
	if !s.Default() {
		return kinds[Dynamic].input
	}
	return kinds[s.Kind].input
}

// FromInput is the value for what stands in a field of the type Input: hours lose their
// minutes. An empty field is the empty value, which is none.
func (s Spec) FromInput(text string) (string, error) {
	value := text
	if s.Kind == Hourly && s.Default() {
		hour, minute, ok := strings.Cut(text, ":")
		if ok && !clock(minute) {
			return "", fmt.Errorf("%w: %q; a field for hours has YYYY-MM-DDTHH:MM", ErrValue, text)
		}
		value = hour
	}
	if value == "" && text == "" {
		return "", nil
	}
	if err := s.Check(value); err != nil {
		return "", err
	}
	return value, nil
}

// ToInput is what a field of the type Input shows for a value: hours have their first
// minute. The empty value is an empty field.
func (s Spec) ToInput(value string) (string, error) {
	if value == "" {
		return "", nil
	}
	if err := s.Check(value); err != nil {
		return "", err
	}
	if s.Kind == Hourly && s.Default() {
		value += ":00"
	}
	return value, nil
}

// clock tells whether s is minutes, with or without seconds and parts of them.
func clock(s string) bool {
	minute, second, more := strings.Cut(s, ":")
	if more {
		second, _, _ = strings.Cut(second, ".")
	}
	below60 := func(s string) bool { return len(s) == 2 && s[0] >= '0' && s[0] <= '5' && s[1] >= '0' && s[1] <= '9' }
	return below60(minute) && (!more || below60(second))
}
