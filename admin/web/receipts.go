package web

import (
	"net/http"

	"pmg/admin"
	"pmg/config"
	"pmg/internal/figuretext"
	"pmg/sms"
)

// A receiptsPage is the model of the page about delivery receipts.
type receiptsPage struct {
	Orphans   int64
	Figures   []admin.Figure
	Rows      []receiptRow
	Operators []admin.Operator
}

// A receiptRow counts the receipts of the SMSC of a connector.
type receiptRow struct {
	Name      string
	Sent      int64
	Receipts  int64
	Delivered string // share of delivered
	Share     string // share of final receipts among the messages that the SMSC accepted
	Delay     string // mean time to a final receipt
	States    []portion
}

func (l *lists) receipts(*http.Request) any {
	status := l.server.Status(false)
	p := receiptsPage{Orphans: status.Orphans, Figures: admin.Figures(status.Receipts), Operators: status.Operators}
	for i := range status.Connectors {
		c := &status.Connectors[i]
		if c.Direction != config.Out {
			continue
		}
		row := receiptRow{Name: c.Name, Sent: c.Sent, Delay: "–", States: portions(c.Receipts), Share: "–"}
		for _, n := range c.Receipts {
			row.Receipts += n
		}
		delivered, undelivered := c.Receipts[sms.StateDelivered.String()], c.Untaken
		for _, s := range sms.States() {
			if s.Final() && s != sms.StateDelivered {
				undelivered += c.Receipts[s.String()]
			}
		}
		row.Delivered = figuretext.Percent(figuretext.DeliveredShare(delivered, undelivered))
		if c.Delays.Count > 0 {
			row.Delay = figuretext.Age(c.Delays.MeanSeconds)
		}
		if c.Sent > 0 {
			row.Share = percent(c.Delays.Count, c.Sent)
		}
		p.Rows = append(p.Rows, row)
	}
	return p
}
