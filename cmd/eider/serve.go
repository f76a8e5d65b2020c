package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/eiderdb/eider/cmd/eider/config"
	"github.com/eiderdb/eider/cmd/eider/node"
	"github.com/eiderdb/eider/internal/cmdline"
)

func (a *app) serveCommand() *cobra.Command {
	var printConfig bool
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run the server",
		Long: `Run the server until SIGTERM or SIGINT. Running statements may then end, for --shutdown-timeout at most; a second signal cancels them.

Every flag can also be given as an environment variable (EIDER_ and the name in capitals, - as _: EIDER_LOG_LEVEL) or as a
key of a YAML file (--config). A flag wins over the environment, the environment over the file.`,
		Args: cmdline.Exactly(0, "no arguments"),
	}
	flags := config.AddFlags(cmd.Flags())
	cmd.Flags().BoolVar(&printConfig, "print-config", false, "print the settings in force, as a configuration file, and exit")
	cmd.RunE = func(c *cobra.Command, _ []string) error {
		o, err := config.Load(flags, a.getenv)
		if err != nil {
			return err
		}
		if printConfig {
			return o.Print(a.out)
		}
		return a.serve(c.Context(), o)
	}
	return cmd
}

// collectorFloor is how much memory the garbage collector takes for live that is not: a server
// of small lakes keeps a few MiB and makes a few hundred in a second, for which it would
// collect fifty times. The memory is never touched, so that the system does not have to give it.
const collectorFloor = 64 << 20

// serve runs a node until a signal, or until a part of it fails.
func (a *app) serve(ctx context.Context, o *config.Loaded) error {
	floor := make([]byte, collectorFloor)
	defer runtime.KeepAlive(floor)
	log := newLogger(a.err, o.LogFormat, o.LogLevel)
	n, err := node.Start(ctx, o, log, versionText())
	if err != nil {
		return err
	}
	var cause error
	select {
	case s := <-a.sig:
		log.Info("stopping", "signal", s.String(), "timeout", o.ShutdownTimeout)
	case <-ctx.Done():
		log.Info("stopping")
	case cause = <-n.Failed():
		log.Error("stopping because a part has failed", "error", cause)
	}
	sctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), o.ShutdownTimeout)
	defer cancel()
	stopped := make(chan struct{})
	defer close(stopped)
	go func() {
		select {
		case s := <-a.sig:
			log.Warn("second signal: cancelling statements", "signal", s.String())
			cancel()
		case <-stopped:
		}
	}()
	if err := n.Stop(sctx); err != nil {
		return err
	}
	if cause != nil {
		return fmt.Errorf("server: %w", cause)
	}
	return nil
}

// newLogger writes the log of a process.
func newLogger(w io.Writer, format, level string) *slog.Logger {
	var l slog.Level
	if err := l.UnmarshalText([]byte(level)); err != nil {
		l = slog.LevelInfo
	}
	o := &slog.HandlerOptions{Level: l}
	if format == "json" {
		return slog.New(slog.NewJSONHandler(w, o))
	}
	return slog.New(slog.NewTextHandler(w, o))
}
