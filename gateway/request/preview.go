package request

import (
	"context"

	"pmg/connector"
	"pmg/gateway/intake"
	"pmg/sms"
)

// Preview has a message take the steps of intake, and returns what would become of it and which connector it would leave
// by, "" if it would be parked. Nothing stays of it but a place in the account's rate, so that nobody tries out numbers
// faster than messages can be sent.
func (d *Desk) Preview(ctx context.Context, from *connector.Source, item Item) (r Result, to string) {
	s := intake.Submission{Way: intake.Submitted, Preview: true, Strict: item.Strict, From: from, Room: room{d.intake.NewIntake(1)}, Change: d.changes(item.Fill)}
	defer s.Drop()
	if r = d.take(&s, &item); r.Code == sms.OK {
		a := s.Accepted()
		if r.Parts = partsOf(a.Message, a.Places()); a.Share != nil {
			to = a.Share.Lane.Home().Name
		}
	}
	d.pause(ctx, s.After)
	return r, to
}
