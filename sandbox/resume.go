package sandbox

import (
	"time"

	"pmg/gateway/receipts"
	"pmg/protocols/testsms"
	"pmg/sms"
)

// Times of resuming the deliveries of an earlier run.
const (
	resumeEvery = 200 * time.Millisecond // pause between checks whether the gateway has read its store
	// beside the longest delay: how long before the start a message may have come whose receipt is made again
	lookedBack = time.Hour
)

// resume schedules the receipts of messages that an earlier run has accepted, and for which no receipt has come.
func (s *SMSC) resume() {
	defer s.schedule.resumed()
	t := time.NewTicker(resumeEvery)
	defer t.Stop()
	for !s.gateway.Keeper.Recovered() {
		select {
		case <-t.C:
		case <-s.group.Done():
			return
		}
	}
	cfg := s.connector.Config()
	since := s.gateway.Node.Clock.WallNow() - int64(lookedBack) - testsms.LongestDelay*int64(cfg.Test.ReceiptDelay)
	all, err := receipts.Unreported(s.gateway.Keeper, cfg.OperatorName(), idPrefix, peerID(uint64(since/1e3)), mostScheduled)
	if err != nil {
		s.gateway.Node.Log.Warn().Err(err).Str("connector", s.connector.Name).Msg(
			"receipts of messages of earlier runs do not come",
		)
	}
	for i := range all {
		v := &all[i]
		asks := v.Notify
		if v.Parts > 1 {
			asks |= sms.NotifySuccess | sms.NotifyFailure
		}
		if e := testsms.EndingOf(v.Dest.Addr); reports(e, asks) {
			s.schedule.add(&delivery{due: s.due(e), id: v.ID, ending: e})
		}
	}
}
