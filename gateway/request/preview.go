package request

import (
	"context"

	"pmg/connector"
	"pmg/sms"
)

// Preview runs the steps of intake on a message, and returns the outcome and the name of the connector that would send it, ""
// if the message would be parked. It only counts in the account's rate, so that previews are not a faster way to try numbers.
func (d *Requests) Preview(ctx context.Context, from *connector.Source, item Item) (r Result, to string) {
	s := d.submission(from, &item, d.intake.NewIntake(1))
	s.Preview = true
	defer s.Drop()
	if r.Code = d.intake.TakeWaiting(d.node.Clock.Now(), s); r.Code != sms.OK {
		r.Step, r.Why = s.Refuser(d.intake), s.Why()
	} else {
		a := s.Accepted()
		r.Unit, _ = d.intake.Credit.Price(s.Message, d.node.Clock.Now())
		r.Quote = sms.Quote{
			Price: r.Unit * sms.Money(s.Shorts()), Currency: d.intake.Credit.CurrencyOf(&s.Message.Origin.Tally.Credit),
		}
		if r.Parts = max(int(a.Places()), int(sms.PartsOf(a.Message.Context())), s.Shorts()); a.Share != nil {
			to = a.Share.Lane.Home().Name
		}
	}
	d.pause(ctx, s.After)
	return r, to
}
