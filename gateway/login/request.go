package login

import (
	"context"
	"crypto/subtle"
	"net/netip"
	"time"

	"pmg/config"
	"pmg/connector"
	"pmg/connector/account"
	"pmg/internal/tlsfiles"
	"pmg/protocols"
	"pmg/sms"
)

// Ask decides about the credentials of a request. It must run on a goroutine that may wait. It
// returns after the decision, or when ctx ends; a refusal is delayed until it may be answered. The
// result's account has no session, so the caller need not call End.
func (d *Logins) Ask(
	ctx context.Context, c *connector.Connector, remote netip.AddrPort, certificate tlsfiles.Identity,
	who protocols.Credentials,
) Result {
	l := d.Begin(d.node.Clock.Now(), c, remote, certificate, who)
	l.request = true
	return d.ask(ctx, l)
}

// Stays is how long a password that was right counts on its connection without being compared again, unless the accounts are
// loaded again.
const Stays = time.Minute

// BeginRequests begins the login of the first request on a connection, which counts for all its requests. Otherwise it is as
// Begin. The result's account has no session, so the caller need not call End.
func (d *Logins) BeginRequests(
	now int64, c *connector.Connector, remote netip.AddrPort, certificate tlsfiles.Identity, who protocols.Credentials,
) *Attempt {
	l := d.Begin(now, c, remote, certificate, who)
	l.request, l.stays = true, true
	return l
}

// AskUser decides about the credentials of a user of an account, as Ask does for an account. The
// user has a password of his own.
func (d *Logins) AskUser(
	ctx context.Context, c *connector.Connector, remote netip.AddrPort, certificate tlsfiles.Identity,
	account, user, password string,
) Result {
	l := d.Begin(d.node.Clock.Now(), c, remote, certificate, protocols.Credentials{
		SystemID: []byte(account), Password: []byte(password), Bind: protocols.Transmitter,
	})
	l.request, l.who.AsUser, l.who.User = true, true, user
	l.name = personName(account, user)
	return d.ask(ctx, l)
}

// personName returns the name by which the failed logins of a user are counted: failures of one
// user delay neither the account's programs nor other users.
func personName(account, user string) []byte { return []byte(account + "\x00" + user) }

// StillAccount returns the account of a request in a session that was let in, nil if the account would not be let in now.
func (d *Logins) StillAccount(
	c *connector.Connector, remote netip.AddrPort, certificate tlsfiles.Identity, name string,
) *account.Account {
	a, result := d.accounts.Load().Admit(account.Login{
		SystemID: []byte(name), Connector: c.Name, Addr: remote.Addr(), Bind: protocols.Transmitter, Certificate: certificate,
	}, account.Right)
	if result != account.OK {
		return nil
	}
	return a
}

// AskSecret decides whether a request shows the secret of a connector, which is not empty, and no account's password.
// The others count as failed logins of their address, and wait as those do.
func (d *Logins) AskSecret(ctx context.Context, c *connector.Connector, remote netip.AddrPort, shown, secret string) bool {
	// longer than a system_id, so that no account has this name
	return d.askProof(ctx, c, remote, "a secret of connector "+c.Name, proof{
		isRight: func() bool { return subtle.ConstantTimeCompare([]byte(shown), []byte(secret)) == 1 },
		refusal: "a request was refused: it does not show status_password of the connector",
	})
}

// AskCode decides whether a user whose password was right gives the right code, as isRight reports. Wrong codes count and wait
// as failed logins do, but under a name of their own: the right password does not forgive them.
func (d *Logins) AskCode(
	ctx context.Context, c *connector.Connector, remote netip.AddrPort, account, user string, isRight func() bool,
) bool {
	name := string(personName(account, user)) + "\x00code"
	return d.askProof(ctx, c, remote, name, proof{isRight, "a login was refused: the code of its second factor is wrong"})
}

// AskOIDC decides whether somebody may log in to an account at its OpenID provider, as isRight reports. Failures count and
// wait as failed logins do, under a name of their own.
func (d *Logins) AskOIDC(
	ctx context.Context, c *connector.Connector, remote netip.AddrPort, account string, isRight func() bool,
) bool {
	name := string(personName(account, "")) + "\x00oidc"
	return d.askProof(ctx, c, remote, name, proof{isRight, "a login at the OpenID provider of an account was refused"})
}

// AskReset runs do for a request for a new password of a user, when such a request has its turn. Each of them counts and waits as
// a failed login of its address, under a name of its own: neither the answer nor its time shows whether there is such a user.
func (d *Logins) AskReset(
	ctx context.Context, c *connector.Connector, remote netip.AddrPort, account, user string, do func(),
) {
	d.askProof(ctx, c, remote, string(personName(account, user))+"\x00reset", proof{
		isRight: func() bool { do(); return false },
		refusal: "a link for a new password was asked for",
	})
}

func (d *Logins) askProof(ctx context.Context, c *connector.Connector, remote netip.AddrPort, name string, p proof) bool {
	l := d.Begin(d.node.Clock.Now(), c, remote, tlsfiles.Identity{}, protocols.Credentials{SystemID: []byte(name)})
	l.proof = &p
	return d.ask(ctx, l).Code == sms.OK
}

// ask runs an attempt to its decision.
func (d *Logins) ask(ctx context.Context, l *Attempt) Result {
	for {
		step, again := l.Next(d.node.Clock.Now())
		switch step {
		case Decided:
			d.sleep(ctx, l.Result.AnswerAfter)
			return l.Result
		case Works:
			goesOn := context.AfterFunc(ctx, l.Abandon)
			l.Work()
			if !goesOn() {
				return Result{Code: sms.BindFailed}
			}
		case Waits:
			if !d.sleep(ctx, again) {
				l.Abandon()
				return Result{Code: sms.BindFailed}
			}
		}
	}
}

// AskKey decides about the API key of a request. It does not delay, because keys are too long to be
// guessed.
func (d *Logins) AskKey(
	c *connector.Connector, remote netip.AddrPort, certificate tlsfiles.Identity, key string,
) (Result, *config.Key) {
	a, k, result := d.admitKey(c, remote, certificate, key)
	if result != account.OK && d.node.LogLimits.Refusals.Next(c.Name, d.node.Clock.Now()) {
		d.node.Log.Warn().Str("connector", c.Name).Stringer("remote", remote.Addr()).Stringer("reason", result).
			Msg("a key was refused: " + result.String())
	}
	return Result{Account: a, Code: result.Code()}, k
}

// Still reports whether a request that was let in earlier would be let in now. It computes no hash, and does not count as an
// attempt: the password was right then, and is right now unless the account's passwords have changed.
func (d *Logins) Still(
	c *connector.Connector, remote netip.AddrPort, certificate tlsfiles.Identity, who protocols.Credentials,
) bool {
	l := account.Login{
		SystemID: who.SystemID, Password: who.Password, Connector: c.Name, Addr: remote.Addr(), Bind: who.Bind,
		Certificate: certificate,
	}
	t := d.accounts.Load()
	_, result := t.Admit(l, t.Lookup(l))
	return result == account.OK
}

// StillKey returns the key of a request that was let in before, nil if it would not be let in now.
func (d *Logins) StillKey(c *connector.Connector, remote netip.AddrPort, certificate tlsfiles.Identity, key string) *config.Key {
	_, k, _ := d.admitKey(c, remote, certificate, key)
	return k
}

func (d *Logins) admitKey(
	c *connector.Connector, remote netip.AddrPort, certificate tlsfiles.Identity, key string,
) (*account.Account, *config.Key, account.Result) {
	l := account.Login{Connector: c.Name, Addr: remote.Addr(), Bind: protocols.Transmitter, Certificate: certificate}
	return d.accounts.Load().AdmitKey(l, key, time.Unix(0, d.node.Clock.WallNow()))
}

// sleep waits until a time by the engine's clock. It returns false if ctx ends first.
func (d *Logins) sleep(ctx context.Context, until int64) bool {
	wait := until - d.node.Clock.Now()
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
