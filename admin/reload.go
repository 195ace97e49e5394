package admin

import (
	"context"
	"net/http"
	"strings"

	"pmg/admin/access"
)

// A ReloadFunc makes the gateway read its configuration again, and returns a report of
// the changes for people. file is the configuration that the caller expects, or "" for
// any. force accepts removals that are probably a mistake.
type ReloadFunc func(ctx context.Context, file string, force bool) (report string, err error)

// Reloaded is the answer to a request to reload.
type Reloaded struct {
	Report []string `json:"report"` // lines for people
}

// reload has the gateway read its configuration again. It reads its own file only and no other that a request names.
func (s *Server) reload(r *http.Request) (any, error) {
	if s.reloads == nil {
		return nil, refuse(http.StatusNotFound, "cannot reload: this gateway has no file")
	}
	report, err := s.reloads(r.Context(), r.FormValue("file"), r.FormValue("force") != "")
	if err != nil {
		return nil, err
	}
	done := Reloaded{strings.Split(report, "\n")}
	access.After(r, done.Report)
	return done, nil
}
