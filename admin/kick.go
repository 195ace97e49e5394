package admin

import (
	"net/http"
	"strconv"
	"strings"

	"pmg/admin/access"
	"pmg/connector"
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
		return nil, refuse(http.StatusBadRequest, "cannot end sessions: the request must have session=connector/number or account=name")
	}
	kicked := map[*connector.Link]bool{}
	answer := Kicked{}
	for _, c := range s.view.gateway.Connectors() {
		c.Links(func(l *connector.Link) {
			if account != "" && accountOf(l) == account || account == "" && isSession(session, l) {
				kicked[l] = true
				answer.Sessions = append(answer.Sessions, l.String())
				s.view.gateway.Log.Info().Stringer("session", l).Str("account", accountOf(l)).Stringer("operator", access.CallerOf(r)).
					Msg("an operator ends the session")
			}
		})
	}
	if len(kicked) == 0 {
		target := "session " + session
		if account != "" {
			target = "session of account " + account
		}
		return nil, refuse(http.StatusNotFound, "cannot end sessions: there is no "+target)
	}
	s.view.engine.Logout(func(l *connector.Link) bool { return kicked[l] })
	access.After(r, answer)
	return answer, nil
}

// isSession reports whether the session has the name, which is connector/number.
func isSession(name string, l *connector.Link) bool {
	i := strings.LastIndexByte(name, '/')
	return i >= 0 && name[:i] == l.Connector.Name && name[i+1:] == strconv.Itoa(l.Instance.Number)
}
