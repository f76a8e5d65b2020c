package run

import (
	"context"

	"github.com/eiderdb/eider/materialize/state"
)

// connections are those to the catalogs of lakes that are looked at beside a run. Each is made when it is first
// asked for; a lake that cannot be reached is tried once.
type connections struct {
	lake func(name string) (Lake, error)
	made map[string]connection
}

type connection struct {
	source *state.Source
	err    error
	lent   bool // somebody else closes it
}

func newConnections(lake func(string) (Lake, error)) *connections {
	return &connections{lake, map[string]connection{}}
}

// lend has a connection used that is there already.
func (c *connections) lend(name string, source *state.Source) {
	c.made[name] = connection{source: source, lent: true}
}

func (c *connections) source(ctx context.Context, name string) (*state.Source, error) {
	m, ok := c.made[name]
	if !ok {
		var l Lake
		if l, m.err = c.lake(name); m.err == nil {
			m.source, m.err = state.OpenSource(ctx, l.DSN, l.Schema)
		}
		c.made[name] = m
	}
	return m.source, m.err
}

func (c *connections) close(ctx context.Context) {
	for _, m := range c.made {
		if m.err == nil && !m.lent {
			_ = m.source.Close(context.WithoutCancel(ctx))
		}
	}
}
