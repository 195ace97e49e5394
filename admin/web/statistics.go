package web

import (
	"html/template"
	"net/http"
	"slices"

	"pmg/admin"
	"pmg/events/stats"
)

// A statisticsPage is the model of the page with sums of events.
type statisticsPage struct {
	stats.Table
	By, Account, Connector, Network string
	From, To                        string
	Choices                         []string
	Groups                          int // number of heads that are groups
	JSON, CSV                       template.URL
	Amounts                         string // says in which currency amounts are
	problem
}

// mostSumRows is the maximum number of rows on the page, without the row of sums.
const mostSumRows = 1000

// choices returns the groups that the page offers.
func choices() []string {
	return []string{
		"day", "hour", "month", "account", "connector", "network", "day,account", "day,connector", "month,account",
		"account,network", "connector,network",
	}
}

func (s *site) statistics(r *http.Request) any {
	v := r.URL.Query()
	p := statisticsPage{
		By: v.Get("by"), Account: v.Get("account"), Connector: v.Get("connector"), Network: v.Get("network"),
		From: v.Get("from"), To: v.Get("to"), Choices: choices(), Amounts: s.server.Gateway().Node.Config().AmountsIn(),
	}
	v.Set("format", "csv")
	p.CSV = template.URL(admin.Base + "/stats?" + v.Encode())
	v.Del("format")
	p.JSON = template.URL(admin.Base + "/stats?" + v.Encode())
	if p.By != "" && !slices.Contains(p.Choices, p.By) {
		p.Choices = append(p.Choices, p.By)
	}
	found, err := s.server.Statistics(r)
	if p.problem = problemOf(err); err != nil {
		if p.code == http.StatusNotFound { // the page exists, and shows why it is empty
			p.code = http.StatusOK
		}
		return p
	}
	p.Table, p.Groups = stats.TableOf(&found.Query, found.Rows, mostSumRows, false), len(found.Query.By)
	return p
}
