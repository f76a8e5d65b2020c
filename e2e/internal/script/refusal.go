package script

import (
	"errors"
	"fmt"
	"strings"
)

// retryWords are what a DuckLake client looks for in an error before it tries a commit
// again.
var retryWords = []string{"primary key", "unique", "conflict", "concurrent"}

// ErrUnclear is every error of Refusal.
var ErrUnclear = errors.New("the refusal is not clear")

// Refusal says whether the text of a failed statement is a refusal that a person can act
// on: DuckLake's own "Transaction conflict", or a server's text that the client does not
// take for a lost race, so that it was told at the first attempt. Exhausted retries,
// crashes of the client and lost connections are none.
func Refusal(text string) error {
	lower := strings.ToLower(text)
	for _, w := range []string{"exceeded the maximum retry count", "internal error", "invalidated", "fatal", "timeout:", "connection"} {
		if strings.Contains(lower, w) {
			return fmt.Errorf("%w: it says %q", ErrUnclear, w)
		}
	}
	if strings.Contains(lower, "transaction conflict - ") {
		return nil
	}
	for _, w := range retryWords {
		if strings.Contains(lower, w) {
			return fmt.Errorf("%w: %q makes a client try again", ErrUnclear, w)
		}
	}
	return nil
}
