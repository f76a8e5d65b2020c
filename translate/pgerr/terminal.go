package pgerr

import "github.com/eiderdb/eider/lake/retry"

// IsRetryable says whether a text makes DuckLake retry its commit.
func IsRetryable(text string) bool { return retry.Is(text) }

// Terminal makes sure that no quoted input or identifier turns an error into one that
// DuckLake retries: it spells the retry words differently in message, detail and hint.
// The receiver is returned as it is when there is nothing to change, a copy otherwise.
func (e *Error) Terminal() *Error {
	if !IsRetryable(e.Message) && !IsRetryable(e.Detail) && !IsRetryable(e.Hint) {
		return e
	}
	c := *e
	c.Message, c.Detail, c.Hint = retry.Respell(e.Message), retry.Respell(e.Detail), retry.Respell(e.Hint)
	return &c
}
