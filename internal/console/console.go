package console

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"strings"
	"syscall"
)

// Interruptible returns a context that ends at the first SIGINT or SIGTERM. A second
// signal ends the process.
func Interruptible(parent context.Context) (context.Context, context.CancelFunc) {
	ctx, stop := signal.NotifyContext(parent, os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}

// ProblemsError returns an error that lists the problems, or nil if there are none.
func ProblemsError(problems []string) error {
	if len(problems) == 0 {
		return nil
	}
	return errors.New(strings.Join(problems, ", "))
}

// Plain returns a text without what a terminal would obey, because the server that it comes from may not be a gateway.
func Plain(text string) string {
	return strings.Map(func(c rune) rune {
		if c < ' ' || c >= 0x7f && c < 0xa0 {
			return '?'
		}
		return c
	}, text)
}
