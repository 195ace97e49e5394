package admin

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"pmg/admin/access"
)

// A ReloadFunc makes the gateway read its configuration again, and returns a report of
// the changes for people. file is the configuration that the caller expects, or "" for
// any. force accepts removals that are probably a mistake.
type ReloadFunc func(ctx context.Context, file string, force bool) (report string, err error)

// ServeHTTP implements http.Handler. The gateway reads its own file only and no other
// that a request names.
func (f ReloadFunc) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	report, err := f(r.Context(), r.FormValue("file"), r.FormValue("force") != "")
	if err != nil {
		http.Error(w, err.Error(), http.StatusConflict)
		return
	}
	access.After(r, strings.Split(report, "\n"))
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	fmt.Fprintln(w, report)
}
