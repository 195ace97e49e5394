package operate

import (
	"context"

	"pmg/sms"
)

// Cancel deletes stored messages for which is returns true, like an operator. If dry is true, it only counts them. It does not
// delete messages that are under way.
func (d *Operations) Cancel(ctx context.Context, is func(*sms.Message) bool, dry bool) (cancelled, underWay int64, err error) {
	change := QueueChange{What: DeleteMessages, DryRun: dry, Operator: "forget"}
	for _, state := range []string{"", StateDead} {
		selected := Selection{State: state, Is: is}
		for from := uint64(0); ; {
			page, err := d.ChangeStored(ctx, change, selected, from, PageMatches)
			if err != nil {
				return cancelled, underWay, err
			}
			for i := range page.Messages {
				switch page.Messages[i].Result {
				case ResultUnderWay:
					underWay++
				case ResultDeleted, "":
					cancelled++
				}
			}
			if from, selected.UpTo = page.Next, page.UpTo; from == 0 {
				break
			}
			if err := ctx.Err(); err != nil {
				return cancelled, underWay, err
			}
		}
	}
	return cancelled, underWay, nil
}
