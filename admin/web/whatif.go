package web

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"os"
	"slices"
	"time"

	"pmg/admin/access"
	"pmg/config"
	"pmg/config/managed"
	"pmg/events/statement"
	"pmg/events/stats"
)

// whatIfName is the name of the page that tries the configuration of the files.
const whatIfName = "whatif"

// whatIfTime is the time limit of a trial.
const whatIfTime = 100 * time.Second

// Traffic is messages that were sent.
type Traffic struct {
	Account string // "": all accounts
	Days    stats.Days
}

// A Trial is what a configuration would have done with traffic.
type Trial struct {
	Title  string
	Tables []statement.Table
}

// A whatIfPage is the model of the page.
type whatIfPage struct {
	Traffic
	Trial *Trial
	problem
}

// whatIf tries the configuration of the files if the page asks for it.
func (s *site) whatIf(r *http.Request) any {
	v := r.URL.Query()
	p := whatIfPage{
		Traffic: Traffic{v.Get("account"), stats.Days{Month: v.Get("month"), From: v.Get("from"), To: v.Get("to")}},
		problem: problemOf(nil),
	}
	if v.Get("try") != "" {
		access.MarkAudited(r)
		access.Named(r, whatIfName)
		var err error
		p.Trial, err = s.tryOn(r.Context(), nil, p.Traffic)
		p.problem = problemOf(err)
	}
	return p
}

// tryOn tries a configuration on traffic, or that of the files if next is nil. There is one trial at a time.
func (s *site) tryOn(ctx context.Context, next *config.Config, t Traffic) (*Trial, error) {
	if !s.trying.TryLock() {
		return nil, errors.New("another configuration is being tried: try again in a moment")
	}
	defer s.trying.Unlock()
	ctx, cancel := context.WithTimeout(ctx, whatIfTime)
	defer cancel()
	trial, err := s.WhatIf(ctx, next, t)
	if errors.Is(err, context.DeadlineExceeded) {
		return nil, errors.New("there are too many events for the gateway: use pmg whatif -c FILE --events DIR")
	}
	return trial, err
}

// A trialForm is the part of a form that tries what the form would change on traffic.
type trialForm struct {
	Days  string // one of trialDays; "": none
	Trial *Trial
	Wrong string
}

// trialDays are the days whose messages a form can be tried on.
func trialDays() []string { return []string{"today", "yesterday", "the last 30 days"} }

// Choices returns the days that can be chosen.
func (*trialForm) Choices() []string { return trialDays() }

func (f *trialForm) read(v url.Values) {
	if f.Days = v.Get("try.days"); !slices.Contains(trialDays(), f.Days) {
		f.Days = ""
	}
}

// run tries a configuration on the days of the form, if it has any.
func (f *trialForm) run(ctx context.Context, s *site, next *config.Config, account string) {
	if f.Days == "" || next == nil || s.WhatIf == nil {
		return
	}
	t := Traffic{Account: account}
	if f.Days != "the last 30 days" {
		t.Days.Day = f.Days
	}
	var err error
	if f.Trial, err = s.tryOn(ctx, next, t); err != nil {
		f.Wrong = "It cannot be tried: " + err.Error()
	}
}

// withRows calls use with a configuration whose list of prices has other rows. These are in a file while use runs.
func withRows(next *config.Config, list string, rows []byte, use func(*config.Config)) error {
	i := slices.IndexFunc(next.Prices, func(p config.Prices) bool { return p.Name == list })
	if i < 0 {
		return nil
	}
	f, err := os.CreateTemp("", "pmg-prices-*."+managed.Rows(managed.Prices))
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(rows)
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	c := *next
	c.Prices = slices.Clone(next.Prices)
	c.Prices[i].File = f.Name()
	use(&c)
	return nil
}
