package server

import (
	"context"
	"time"
)

// stmt is the message that runs, or the messages of the extended protocol since the
// last Sync: what a cancel request hits, and what is timed and logged.
type stmt struct {
	ctx   context.Context
	text  string
	began time.Time
	mark  time.Time // when the last statement of the message ended
}

// begin makes the running message cancellable. In the extended protocol the context of
// the first message after Sync goes on to be used.
func (c *conn) begin(text string) context.Context {
	c.state.Store(stateActive)
	now := time.Now()
	c.batch.text, c.batch.mark = text, now
	c.out.reset()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.mu.running = true
	if c.batch.ctx != nil {
		return c.batch.ctx
	}
	c.batch.began = now
	c.batch.ctx, c.mu.cancel = context.WithCancelCause(context.Background())
	if c.mu.stop == stopNow {
		c.mu.cancel(errAdminShutdown())
	}
	return c.batch.ctx
}

// end says that the message has run: a cancel request finds nothing any more.
func (c *conn) end() {
	c.mu.Lock()
	c.mu.running = false
	c.mu.Unlock()
}

// endBatch lets go of the context.
func (c *conn) endBatch() {
	c.mu.Lock()
	cancel := c.mu.cancel
	c.mu.cancel, c.mu.running = nil, false
	c.mu.Unlock()
	if cancel != nil {
		cancel(nil)
	}
	c.batch = stmt{}
}

// logStatement writes the statement log and the slow-statement log.
func (c *conn) logStatement(err error) {
	o := &c.srv.opts
	if c.batch.text == "" && err == nil {
		return
	}
	if !o.LogStatements && o.SlowStatement <= 0 {
		return
	}
	took := time.Since(c.batch.began)
	slow := o.SlowStatement > 0 && took >= o.SlowStatement
	if !slow && !o.LogStatements {
		return
	}
	text := c.batch.text
	const longest = 4096
	if len(text) > longest {
		text = text[:longest] + "…"
	}
	args := []any{"statement", text, "took", took}
	if err != nil {
		args = append(args, "error", err)
	}
	if slow {
		c.log.Warn("slow statement", args...)
		return
	}
	c.log.Info("statement", args...)
}
