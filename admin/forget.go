package admin

import (
	"net/http"
	"strings"
	"sync/atomic"

	"pmg/admin/access"
	"pmg/gateway/privacy"
)

// Forgetting is the state of the request to forget numbers that is running.
type Forgetting struct {
	Running bool   `json:"running"`
	Doing   string `json:"doing,omitempty"` // the file that the request works on, or another place
}

// A forgetter carries out one request to forget numbers at a time.
type forgetter struct {
	busy  atomic.Bool
	doing atomic.Pointer[string]
}

// forget removes the stored data about the numbers ?number=, which may be repeated. With ?dry_run=1 it only counts the data.
func forget(s *Server, r *http.Request) (any, error) {
	if err := r.ParseForm(); err != nil {
		return nil, refuse(http.StatusBadRequest, "cannot forget: "+err.Error())
	}
	var texts []string
	for _, text := range r.Form["number"] {
		if text = strings.TrimSpace(text); text != "" {
			texts = append(texts, text)
		}
	}
	numbers, err := privacy.ParseNumbers(texts)
	if err != nil {
		return nil, refuse(http.StatusBadRequest, err.Error())
	}
	if !s.forgetter.busy.CompareAndSwap(false, true) {
		return nil, refuse(http.StatusServiceUnavailable, "cannot forget: another request does that; try again when it has ended")
	}
	defer s.forgetter.busy.Store(false)
	dry := r.FormValue("dry_run") != ""
	s.view.gateway.Node.Log.Info().Stringer("operator", access.CallerOf(r)).Int("numbers", numbers.Len()).Bool("dry_run", dry).
		Msg("an operator asks to forget numbers")
	say := func(doing string) { s.forgetter.doing.Store(&doing) }
	report, err := s.view.gateway.Places(numbers).Forget(r.Context(), numbers, dry, say)
	access.After(r, countsOf(report))
	if err != nil {
		return nil, refuse(http.StatusInternalServerError, err.Error())
	}
	return report, nil
}

// countsOf returns the numbers of removed items for the audit log, which does not contain the phone number.
func countsOf(r *privacy.Report) map[string]int64 {
	counts := map[string]int64{"numbers": int64(r.Numbers), "left": int64(len(r.Left))}
	for _, one := range r.Removed {
		counts[one.What] += one.Count
	}
	return counts
}

// showForgetting shows whether a request to forget numbers is under way.
func showForgetting(s *Server, w http.ResponseWriter, _ *http.Request) {
	f := Forgetting{Running: s.forgetter.busy.Load()}
	if doing := s.forgetter.doing.Load(); f.Running && doing != nil {
		f.Doing = *doing
	}
	answerJSON(w, f, nil)
}

// Retention is the number of items removed from logs since the start because the option retention limits their age.
type Retention struct {
	Files  int64 `metric:"files_total" help:"Closed files of pdu logs and events that were rewritten for retention."`
	Lines  int64 `metric:"lines_total" help:"Lines of these files whose texts or numbers were removed."`
	Octets int64 `metric:"octets_total" help:"Octets of lines that were read for retention."`
	Faults int64 `metric:"faults_total" help:"Times that a file could not be rewritten; the log says why."`
}

func retentionOf(r *privacy.Retainer) Retention {
	return Retention{Files: r.Files.Load(), Lines: r.Lines.Load(), Octets: r.Octets.Load(), Faults: r.Faults.Load()}
}
