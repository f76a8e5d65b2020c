package cmdline

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
)

type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// Usage marks an error as a mistake in how a command was called. Its text stays.
func Usage(err error) error { return usageError{err} }

// Usagef is Usage of fmt.Errorf.
func Usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// IsUsage says whether an error is, or wraps, one of Usage.
func IsUsage(err error) bool {
	var u usageError
	return errors.As(err, &u)
}

// Root makes c the root of a program's commands: without a command it shows its help, and
// what it does not know is wrong use. Errors are left to the caller to print. called is how
// people call a command, for the texts that lead to its help.
func Root(c *cobra.Command, called func(*cobra.Command) string) {
	c.SilenceUsage, c.SilenceErrors = true, true
	c.Args = func(c *cobra.Command, args []string) error {
		if len(args) > 0 {
			return Usagef("unknown command %q; \"%s --help\" lists the commands", args[0], c.Name())
		}
		return nil
	}
	c.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
	c.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return Usagef("%w; see \"%s --help\"", err, called(c))
	})
	c.CompletionOptions.DisableDefaultCmd = true
}

// Exactly is cobra.ExactArgs with a message for people. what says what the command takes.
func Exactly(n int, what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) != n {
			return Usagef("%s takes %s; see \"%s --help\"", c.CommandPath(), what, c.CommandPath())
		}
		return nil
	}
}
