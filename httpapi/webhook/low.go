package webhook

import (
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
	"time"

	"pmg/gateway/mail"
	"pmg/gateway/settle"
	"pmg/protocols/httpsms/own"
	"pmg/sms"
)

// lowPauses returns the pauses after which a webhook is called again if it did not accept the event that the balance is low.
func lowPauses() []time.Duration {
	return []time.Duration{10 * time.Second, time.Minute, 10 * time.Minute, time.Hour, 6 * time.Hour}
}

// mostLows is the number of clients that are informed concurrently. Further clients wait.
const mostLows = 1000

// tellLows informs clients whose balances become low, until the service is closed.
func (c *Service) tellLows() {
	places := make(chan struct{}, mostLows)
	for {
		select {
		case <-c.group.Done():
			return
		case places <- struct{}{}:
		}
		select {
		case <-c.group.Done():
			return
		case l := <-c.rooms.Low:
			c.group.Go(func() {
				defer func() { <-places }()
				c.mailLow(l)
				c.tellLow(l)
			})
		}
	}
}

// mailLow sends a mail to each address of an account whose balance has become low. A mail that the server does not take for now
// is sent again while the balance is low and the address is one of the account's.
func (c *Service) mailLow(l settle.Low) {
	a := c.rooms.Options.Account(l.Account)
	if a == nil || !c.rooms.Mail.IsOn() {
		return
	}
	currency, _ := c.rooms.Node.Config().Currencies(l.Account, "")
	low, _ := sms.ReadMoney(a.Policies.Balance.Low)
	at := time.Unix(0, l.At).In(a.Zone())
	for _, to := range a.Policies.Mail {
		c.rooms.Mail.Add(mail.Letter{
			Kind: "low balance", Account: l.Account, To: to, Subject: "The balance of " + l.Account + " is low",
			Text: fmt.Sprintf(
				"The balance of account %s is %s %s. It fell below %s %s at %s (%s).\n\n"+
					"This is said once until the balance has risen again.\n",
				l.Account, l.Balance, currency, low, currency, at.Format(time.DateTime), at.Location(),
			),
			Still: func() bool { return c.isLowStill(l.Account, to) },
		})
	}
}

// isLowStill reports whether the balance of an account is low, and an address gets mail about that.
func (c *Service) isLowStill(account, to string) bool {
	a := c.rooms.Options.Account(account)
	return a != nil && slices.Contains(a.Policies.Mail, to) && c.rooms.Node.Origins.TallyOf(account).Credit.IsLow()
}

// tellLow calls the webhook of an account repeatedly for some hours, while its balance is low.
func (c *Service) tellLow(l settle.Low) {
	id := "low_" + strings.ToLower(rand.Text())
	for _, pause := range lowPauses() {
		if c.toldLow(l, id) {
			return
		}
		wait := time.NewTimer(pause)
		select {
		case <-c.group.Done():
			wait.Stop()
			return
		case <-wait.C:
		}
		if !c.rooms.Node.Origins.TallyOf(l.Account).Credit.IsLow() {
			return
		}
	}
	if !c.toldLow(l, id) {
		c.rooms.Node.Log.Warn().Str("account", l.Account).Msg("no webhook of the account has accepted the event of a low balance")
	}
}

// toldLow calls the webhook of an account once. It reports true if the webhook has accepted the event, or is
// not called with such events.
func (c *Service) toldLow(l settle.Low, id string) bool {
	a := c.rooms.Options.Account(l.Account)
	if a == nil || a.Webhook == "" || hasOtherForm(a) {
		return true
	}
	low, _ := sms.ReadMoney(a.Policies.Balance.Low)
	d := delivery{account: a, request: own.LowBalance(a.Webhook, l.Account, l.Balance, low, l.At), id: id}
	if err := d.sign(time.Unix(0, c.rooms.Node.Clock.WallNow())); err != nil {
		return false
	}
	target, err := webhookTarget(a, a.Webhook, false)
	if err != nil {
		return false
	}
	o := c.caller.Do(c.group, d.request, target)
	return o.Code == sms.OK || o.Gone
}
