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

// reading returns what a sample of the history is made of.
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
		if l.Account == "" {
			oldest = sms.Earlier(oldest, l.Oldest())
		}
	}
	reading.Oldest = age(oldest)
	for _, c := range v.connectors() {
		n := history.Counts{
			Name: c.Name, Out: c.Config().Direction == config.Out, Accepted: c.Stats.Messages(), Sent: c.Stats.Sent.Load(), Refused: c.Stats.Refused.Load(),
			Waiting: c.Stats.Queued.Load(), Oldest: age(c.Oldest()), Answers: history.AnswersOf(&c.Stats.Answer),
		}
		for _, receipts := range c.Stats.Receipts.Counts() {
			n.Receipts += receipts
		}
		reading.Connectors = append(reading.Connectors, n)
	}
	return reading
}

// memoryHeld returns how many octets the program has of the system.
func memoryHeld() int64 {
	held := []gometrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	gometrics.Read(held)
	return int64(held[0].Value.Uint64() - held[1].Value.Uint64())
}

// record makes samples until the function that it returns is called, and a status, so that problems are found by what was before
// somebody asked.
func record(r *history.Recorder, v *view) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { r.Run(ctx) })
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

// History returns the last hour.
func (s *Server) History() *history.Recorder { return s.recorder }

// history shows the last hour, of the gateway or of ?connector=name.
func (s *Server) history(w http.ResponseWriter, r *http.Request) {
	series := s.recorder.Series(r.FormValue("connector"))
	if series == nil {
		http.Error(w, "cannot show the last hour: there is no such connector", http.StatusNotFound)
		return
	}
	answerJSON(w, series, nil)
}
