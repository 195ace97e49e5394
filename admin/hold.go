package admin

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"pmg/admin/access"
	"pmg/connector"
	"pmg/connector/streams"
	"pmg/gateway"
)

// Held is the hold of a connector's messages.
type Held struct {
	Since time.Time `json:"since"`
	Until time.Time `json:"until,omitzero"` // end of the hold; zero: the hold lasts until an operator releases it
	By    string    `json:"by"`             // the operator
}

// Ordered is the answer to a request about an out connector: the connector's state after the request.
type Ordered struct {
	Connector string `json:"connector"`
	Held      *Held  `json:"held,omitempty"`
	Queued    int64  `json:"queued"`
	Sessions  int    `json:"sessions"` // number of open sessions
	Instances int    `json:"instances"`
}

// hold holds the messages of ?connector=name, for the duration ?for or until they are released.
func (s *Server) hold(r *http.Request) (any, error) {
	lasts := time.Duration(0)
	if text := r.FormValue("for"); text != "" {
		var err error
		if lasts, err = time.ParseDuration(text); err != nil || lasts <= 0 {
			return nil, refuse(http.StatusBadRequest, "cannot hold: for must be a duration above 0, like 1h")
		}
	}
	s.rememberBefore(r)
	_, err := s.view.gateway.Hold(s.view.engine, r.FormValue("connector"), lasts, access.CallerOf(r).String())
	return s.ordered(r, "hold", err)
}

// release ends the hold of ?connector=name.
func (s *Server) release(r *http.Request) (any, error) {
	name := r.FormValue("connector")
	s.rememberBefore(r)
	was, err := s.view.gateway.Release(s.view.engine, name, access.CallerOf(r).String())
	if err == nil && !was {
		return nil, refuse(http.StatusConflict, "cannot release: connector "+name+" is not held")
	}
	return s.ordered(r, "release", err)
}

// connect connects the instances of ?connector=name now.
func (s *Server) connect(r *http.Request) (any, error) {
	_, err := s.view.gateway.Connect(s.view.engine, r.FormValue("connector"), access.CallerOf(r).String())
	return s.ordered(r, "connect", err)
}

func (s *Server) ordered(r *http.Request, what string, err error) (any, error) {
	c := s.view.gateway.Table.Connector(r.FormValue("connector"))
	if err != nil || c == nil {
		code := http.StatusConflict
		if c == nil || errors.Is(err, gateway.ErrUnknown) {
			code = http.StatusNotFound
		}
		if err == nil {
			err = gateway.ErrUnknown
		}
		return nil, refuse(code, "cannot "+what+": "+err.Error())
	}
	open, _ := sessions(c)
	answer := Ordered{
		Connector: c.Name, Held: s.view.held(c, s.view.engine.Counters().Now, time.Now()), Queued: c.Queued(),
		Sessions: open, Instances: c.Config().Instances,
	}
	access.After(r, answer)
	return answer, nil
}

// rememberBefore records for the audit log whether a connector was held.
func (s *Server) rememberBefore(r *http.Request) {
	if c := s.view.gateway.Table.Connector(r.FormValue("connector")); c != nil {
		if h := s.view.held(c, s.view.engine.Counters().Now, time.Now()); h != nil {
			access.Before(r, h)
		}
	}
}

// held returns the hold of a connector, nil if there is none. now is the time by the engine's clock, and wall by the wall
// clock.
func (v *view) held(c *connector.Connector, now int64, wall time.Time) *Held {
	h := c.Hold()
	if h == nil {
		return nil
	}
	held := &Held{Since: wall.Add(time.Duration(h.Since - now)), By: h.By}
	if h.Until != 0 {
		held.Until = wall.Add(time.Duration(h.Until - now))
	}
	return held
}

// Kicked is the answer to a request to end sessions.
type Kicked struct {
	Sessions []string `json:"sessions"` // connector/instance
}

// kick logs out the session of ?session=connector/instance, or those of ?account=name.
// It answers before the peers have answered.
func (s *Server) kick(r *http.Request) (any, error) {
	session, account := r.FormValue("session"), r.FormValue("account")
	if (session == "") == (account == "") {
		return nil, refuse(
			http.StatusBadRequest, "cannot end sessions: the request must have session=connector/number or account=name",
		)
	}
	kicked := map[*connector.Link]bool{}
	answer := Kicked{}
	matches := func(name, of string) bool {
		if account != "" && of != account || account == "" && name != session {
			return false
		}
		answer.Sessions = append(answer.Sessions, name)
		s.view.gateway.Node.Log.Info().Str("session", name).Str("account", of).Stringer("operator", access.CallerOf(r)).
			Msg("an operator ends the session")
		return true
	}
	for _, c := range s.view.gateway.Table.Connectors() {
		c.Links(func(l *connector.Link) {
			if matches(l.String(), accountOf(l)) {
				kicked[l] = true
			}
		})
		for _, one := range c.Streams.All() {
			if matches(fmt.Sprintf("%s/%d", c.Name, one.Number), one.Account) {
				one.Stop(streams.Kicked)
			}
		}
	}
	if len(answer.Sessions) == 0 {
		target := "session " + session
		if account != "" {
			target = "session of account " + account
		}
		return nil, refuse(http.StatusNotFound, "cannot end sessions: there is no "+target+"; pmg sessions lists them")
	}
	s.view.engine.Logout(func(l *connector.Link) bool { return kicked[l] })
	access.After(r, answer)
	return answer, nil
}
