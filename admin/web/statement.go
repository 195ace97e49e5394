package web

import (
	"html/template"
	"net/http"
	"time"

	"pmg/admin"
	"pmg/events/statement"
)

// statementName is the name of the page with the statement of a month.
const statementName = "statement"

// A statementPage is the model of that page.
type statementPage struct {
	Account, Connector, Month string
	Title                     string // what the statement is about; "": there is none
	Tables                    []statement.Table
	JSON, CSV                 template.URL
	Accounts, Connectors      []string // those with prices or costs
	problem
}

func (s *site) statement(r *http.Request) any {
	v := r.URL.Query()
	p := statementPage{
		Account: v.Get("account"), Connector: v.Get("connector"), Month: v.Get("month"), problem: problemOf(nil),
	}
	p.Accounts, p.Connectors = s.server.Charged()
	if p.Month == "" {
		p.Month = time.Now().UTC().Format("2006-01")
	}
	if p.Account == "" && p.Connector == "" {
		return p
	}
	made, err := s.server.Statement(r)
	if p.problem = problemOf(err); err != nil {
		return p
	}
	p.Title, p.Tables = made.Title(), made.Tables()
	p.JSON = template.URL(admin.Base + "/statement?" + v.Encode())
	v.Set("format", "csv")
	p.CSV = template.URL(admin.Base + "/statement?" + v.Encode())
	return p
}
