package admin

import (
	"context"
	"fmt"
	"net/http"
	"sync/atomic"
)

// A ReloadFunc has the gateway read its configuration again, and returns what changed,
// in lines for people. file is the one that the caller means, "" for whichever the
// gateway has; force accepts losses that are probably not meant.
type ReloadFunc func(ctx context.Context, file string, force bool) (report string, err error)

// A reloader answers requests to reload.
type reloader struct{ f atomic.Pointer[ReloadFunc] }

// OnReload makes the server answer POST /reload with what f returns. Without it, and
// until it is called, a reload is refused.
func (s *Server) OnReload(f ReloadFunc) { s.reloader.f.Store(&f) }

// ServeHTTP implements http.Handler. The gateway reads its own file, never one that is
// sent to it, because the admin listener has no login.
func (h *reloader) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f := h.f.Load()
	if f == nil {
		http.Error(w, "this gateway cannot reload now", http.StatusServiceUnavailable)
		return
	}
	report, err := (*f)(r.Context(), r.FormValue("file"), r.FormValue("force") != "")
	if err != nil {
		http.Error(w, err.Error(), http.StatusConflict)
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	fmt.Fprintln(w, report)
}
