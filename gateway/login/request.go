package login

import (
	"context"
	"net/netip"
	"time"

	"pmg/account"
	"pmg/config"
	"pmg/connector"
	"pmg/internal/tlsfiles"
	"pmg/protocols"
	"pmg/sms"
)

// Ask decides about the credentials of a request, on a goroutine that may wait. It returns when they are decided, and
// a refusal not before it may be answered, or when ctx is done. The account of its result has no session, so that
// nothing need be ended.
func (d *Desk) Ask(ctx context.Context, c *connector.Connector, remote netip.AddrPort, certificate tlsfiles.Identity, who protocols.Credentials) Result {
	l := d.Begin(d.Clock.Now(), c, remote, certificate, who)
	l.request = true
	for {
		step, again := l.Next(d.Clock.Now())
		switch step {
		case Decided:
			d.sleep(ctx, l.Result.AnswerAfter)
			return l.Result
		case Hashes:
			l.Hash()
		case Waits:
			if !d.sleep(ctx, again) {
				l.Abandon()
				return Result{Code: sms.BindFailed}
			}
		}
	}
}

// AskKey decides about the key of a request, without a wait: it is too long to be guessed.
func (d *Desk) AskKey(c *connector.Connector, remote netip.AddrPort, certificate tlsfiles.Identity, key string) (Result, *config.Key) {
	l := account.Login{Connector: c.Name, Addr: remote.Addr(), Bind: protocols.Transmitter, Certificate: certificate}
	a, k, result := d.accounts.Load().AdmitKey(l, key, time.Unix(0, d.Clock.WallNow()))
	if result != account.OK && d.Storms.Refusals.Next(c.Name, d.Clock.Now()) {
		d.Log.Warn().Str("connector", c.Name).Stringer("remote", remote.Addr()).Stringer("reason", result).Msg("a key was refused: " + result.String())
	}
	return Result{Account: a, Code: result.Code()}, k
}

// sleep waits until a time by the engine's clock. It reports false if ctx is done before.
func (d *Desk) sleep(ctx context.Context, until int64) bool {
	wait := until - d.Clock.Now()
	if wait <= 0 {
		return ctx.Err() == nil
	}
	t := time.NewTimer(time.Duration(wait))
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
