package admin

import (
	"context"
	"net/http"
	gometrics "runtime/metrics"
	"sync"
	"time"

	"pmg/admin/history"
	"pmg/config"
	"pmg/sms"
)

// reading returns the figures for a sample of the history.
func (v *view) reading() history.Reading {
	now := v.engine.Counters().Now
	age := func(since int64) float64 {
		if since == 0 {
			return 0
		}
		return max(0, seconds(now-since))
	}
	reading := history.Reading{Memory: memoryHeld()}
	var oldest int64
	for _, l := range v.gateway.Table.Lanes() {
		if !l.ToClient() {
			oldest = sms.Earlier(oldest, l.Queues.Oldest())
		}
	}
	reading.Oldest = age(oldest)
	for _, c := range v.connectors() {
		n := history.Counts{
			Name: c.Name, Out: c.Config().Direction == config.Out, Accepted: c.Stats.Messages(), Sent: c.Stats.Sent.Load(),
			Refused: c.Stats.Refused.Load(),
			Waiting: c.Stats.Queued.Load(), Oldest: age(c.Oldest()), Answers: history.AnswersOf(&c.Stats.Answer),
		}
		for _, receipts := range c.Stats.Receipts.Counts() {
			n.Receipts += receipts
		}
		reading.Connectors = append(reading.Connectors, n)
	}
	return reading
}

// accountReading returns the figures of accounts for a sample. It includes accounts that have sent or
// received, up to the number of accounts with metrics.
func (v *view) accountReading() (reading history.Reading) {
	accounts := v.accounts(v.engine.Counters().Now, time.Now())
	for i := range accounts {
		a := &accounts[i]
		if a.Accepted+a.Refused+a.Delivered == 0 {
			continue
		}
		if len(reading.Connectors) == maxAccounts {
			break
		}
		reading.Connectors = append(reading.Connectors, history.Counts{
			Name: a.Name, Accepted: a.Accepted, Sent: a.Delivered, Refused: a.Refused, Waiting: a.Queued, Oldest: a.Oldest,
		})
	}
	return reading
}

// memoryHeld returns the octets of memory that the program has from the system.
func memoryHeld() int64 {
	held := []gometrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	gometrics.Read(held)
	return int64(held[0].Value.Uint64() - held[1].Value.Uint64())
}

// record makes samples until the caller calls the returned function. It also makes a status for each sample,
// because some problems are found by a comparison with earlier figures.
func record(v *view, all ...*history.Recorder) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	for _, r := range all {
		running.Go(func() { r.Run(ctx) })
	}
	running.Go(func() {
		t := time.NewTicker(time.Minute)
		defer t.Stop()
		for v.status(false); ; v.status(false) {
			select {
			case <-t.C:
			case <-ctx.Done():
				return
			}
		}
	})
	return func() { cancel(); running.Wait() }
}

// History returns the last hour of the gateway and of its connectors.
func (s *Server) History() *history.Recorder { return s.recorder }

// AccountHistory returns the last hour of the accounts.
func (s *Server) AccountHistory() *history.Recorder { return s.accounts }

// history shows the last hour, of the gateway, of ?connector=name or of ?account=name.
func (s *Server) history(w http.ResponseWriter, r *http.Request) {
	recorder, name := s.recorder, r.FormValue(history.OfConnectors)
	if account := r.FormValue(history.OfAccounts); account != "" {
		recorder, name = s.accounts, account
	}
	series := recorder.Series(name)
	if series == nil {
		http.Error(
			w, "cannot show the last hour: there is no such "+recorder.Of()+", or it has had no traffic",
			http.StatusNotFound,
		)
		return
	}
	answerJSON(w, series, nil)
}
