package admin

import (
	"fmt"
	"net/http"

	"pmg/admin/access"
	"pmg/connector"
	"pmg/connector/streams"
)

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
