package main

import (
	"bufio"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/eiderdb/eider/internal/cmdline"
	"github.com/eiderdb/eider/server/users"
)

func (a *app) userCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "user",
		Short: "Manage the users of a server",
		Long: `Manage the file with the users of a server, which "eider serve --user-file" reads. It holds no passwords but
SCRAM-SHA-256 verifiers, one line per user. A running server notices changes.`,
		Args: cmdline.Exactly(0, "a command: add, list or remove"),
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	file := cmd.PersistentFlags().String("user-file", "", "the file (EIDER_USER_FILE)")
	cmd.AddCommand(a.userAddCommand(file), a.userListCommand(file), a.userRemoveCommand(file))
	return cmd
}

func (a *app) userAddCommand(file *string) *cobra.Command {
	var fromStdin bool
	var iterations int
	cmd := &cobra.Command{
		Use:   "add NAME",
		Short: "Add a user, or change a password",
		Long:  `Add a user, or change a password. The password is asked for, or read from standard input where that is no terminal.`,
		Args:  cmdline.Exactly(1, "the name of one user"),
		RunE: func(_ *cobra.Command, args []string) error {
			path, err := a.userFile(*file)
			if err != nil {
				return err
			}
			if iterations < users.DefaultIterations {
				return cmdline.Usagef("--iterations must be at least %d", users.DefaultIterations)
			}
			password, err := a.readPassword(fromStdin)
			if err != nil {
				return err
			}
			f, err := users.Create(path)
			if err != nil {
				return err
			}
			v, err := users.NewVerifier(password, iterations, rand.Reader)
			if err != nil {
				return err
			}
			added, err := f.Set(args[0], v)
			if err != nil {
				return err
			}
			what := "changed the password of"
			if added {
				what = "added"
			}
			_, err = fmt.Fprintf(a.out, "%s user %s in %s\n", what, args[0], path)
			return err
		},
	}
	cmd.Flags().BoolVar(&fromStdin, "password-stdin", false, "read the password from standard input even if that is a terminal")
	cmd.Flags().IntVar(&iterations, "iterations", users.DefaultIterations, "rounds of the key derivation: more make guessing slower, and logins")
	return cmd
}

func (a *app) userListCommand(file *string) *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the users",
		Args:  cmdline.Exactly(0, "no arguments"),
		RunE: func(*cobra.Command, []string) error {
			path, err := a.userFile(*file)
			if err != nil {
				return err
			}
			f, err := users.Open(path)
			if err != nil {
				return err
			}
			for _, name := range f.Names() {
				fmt.Fprintln(a.out, name)
			}
			return nil
		},
	}
}

func (a *app) userRemoveCommand(file *string) *cobra.Command {
	return &cobra.Command{
		Use:   "remove NAME",
		Short: "Remove a user",
		Long:  "Remove a user. Connections that are open stay open.",
		Args:  cmdline.Exactly(1, "the name of one user"),
		RunE: func(_ *cobra.Command, args []string) error {
			path, err := a.userFile(*file)
			if err != nil {
				return err
			}
			f, err := users.Open(path)
			if err != nil {
				return err
			}
			if err := f.Remove(args[0]); err != nil {
				return err
			}
			_, err = fmt.Fprintf(a.out, "removed user %s from %s\n", args[0], path)
			return err
		},
	}
}

// userFile is the file that a user command works on.
func (a *app) userFile(flag string) (string, error) {
	if flag != "" {
		return flag, nil
	}
	if env, ok := a.getenv("EIDER_USER_FILE"); ok && env != "" {
		return env, nil
	}
	return "", cmdline.Usagef("which user file? Set --user-file or EIDER_USER_FILE")
}

// readPassword asks for a password twice, or takes the first line of standard input.
func (a *app) readPassword(fromStdin bool) (string, error) {
	if f, ok := a.in.(*os.File); ok && !fromStdin && term.IsTerminal(int(f.Fd())) {
		fmt.Fprint(a.err, "Password: ")
		one, err := term.ReadPassword(int(f.Fd()))
		fmt.Fprintln(a.err)
		if err != nil {
			return "", fmt.Errorf("read the password: %w", err)
		}
		fmt.Fprint(a.err, "Again: ")
		two, err := term.ReadPassword(int(f.Fd()))
		fmt.Fprintln(a.err)
		if err != nil {
			return "", fmt.Errorf("read the password: %w", err)
		}
		if string(one) != string(two) {
			return "", errors.New("the passwords are not the same")
		}
		return checkPassword(string(one))
	}
	line, err := bufio.NewReader(a.in).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return "", fmt.Errorf("read the password: %w", err)
	}
	return checkPassword(strings.TrimRight(line, "\r\n"))
}

func checkPassword(p string) (string, error) {
	if p == "" {
		return "", errors.New("the password is empty")
	}
	return p, nil
}
