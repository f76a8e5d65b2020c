package cmdline_test

import (
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/spf13/cobra"

	"github.com/eiderdb/eider/internal/cmdline"
)

// What is wrong with how a command is called is told, and is wrong use; what goes wrong in it is not.
func TestWrongUse(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	for _, c := range []struct {
		args  []string
		want  string
		usage bool
	}{
		{[]string{"walk"}, "", false},
		{[]string{"fail"}, "broken", false},
		{nil, "", false},
		{[]string{"--help"}, "", false},
		{[]string{"walks"}, `unknown command "walks"; "duck --help" lists the commands`, true},
		{[]string{"completion"}, `unknown command "completion"; "duck --help" lists the commands`, true},
		{[]string{"walk", "far"}, `duck walk takes no arguments; see "duck walk --help"`, true},
		{[]string{"walk", "--far"}, `unknown flag: --far; see "bird duck walk --help"`, true},
	} {
		root := &cobra.Command{Use: "duck", Short: "A bird"}
		cmdline.Root(root, func(c *cobra.Command) string { return "bird " + c.CommandPath() })
		root.AddCommand(
			&cobra.Command{Use: "walk", Args: cmdline.Exactly(0, "no arguments"), RunE: func(*cobra.Command, []string) error { return nil }},
			&cobra.Command{Use: "fail", RunE: func(*cobra.Command, []string) error { return broken }},
		)
		root.SetArgs(append([]string{}, c.args...))
		root.SetOut(io.Discard)
		root.SetErr(io.Discard)
		got := ""
		err := root.Execute()
		if err != nil {
			got = err.Error()
		}
		if got != c.want || cmdline.IsUsage(err) != c.usage {
			t.Errorf("%q: %q, usage %v; want %q, %v", c.args, got, cmdline.IsUsage(err), c.want, c.usage)
		}
	}
}

func TestUsage(t *testing.T) {
	t.Parallel()
	cause := errors.New("cause")
	err := fmt.Errorf("outer: %w", cmdline.Usage(cause))
	if !cmdline.IsUsage(err) || !errors.Is(err, cause) || err.Error() != "outer: cause" {
		t.Errorf("%v: usage %v", err, cmdline.IsUsage(err))
	}
}
