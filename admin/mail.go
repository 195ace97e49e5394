package admin

import (
	"net/http"

	"pmg/admin/access"
)

// Mailed is the answer to a request to send a mail.
type Mailed struct {
	To     string `json:"to"`
	Server string `json:"server"` // server that has taken the mail
}

// testMail sends a mail to the address ?to=, and answers when the server has taken it.
func testMail(s *Server, r *http.Request) (any, error) {
	answer := Mailed{r.FormValue("to"), s.view.gateway.Node.Config().Mail.Server}
	if err := s.view.mail.Test(r.Context(), answer.To); err != nil {
		return nil, err
	}
	access.After(r, answer)
	return answer, nil
}
