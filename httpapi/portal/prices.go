package portal

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"pmg/protocols/httpsms/own"
	"pmg/sms"
	"pmg/sms/number"
	"pmg/sms/prices"
)

// mostPrices is the number of prices that one request finds.
const mostPrices = 250_000

// A pricesModel is the model of the page of prices.
type pricesModel struct {
	Currency string // "": the account is not charged
	Q        string
	Rows     []priceRow
	More     bool // there are more rows than the page shows
	CSV      string
}

// A priceRow is the price of a destination.
type priceRow struct {
	For, Name   string // Name: of the network, if it is known
	Price, Next string // "": none
	From        string // day, or time, from which Next is valid
}

// priceList is the page of the account's prices.
type priceList struct{ visit *visit }

func pricesOf(v *visit) (any, *own.Problem) {
	m := pricesModel{Q: strings.TrimSpace(v.x.Request.URL.Query().Get("q")), Currency: priceList{v}.currency()}
	if m.Currency == "" {
		return m, nil
	}
	rows, more, p := priceList{v}.find(m.Q)
	if p != nil {
		return nil, p
	}
	m.Rows, m.More = rows[:min(len(rows), mostShown)], more || len(rows) > mostShown
	m.CSV = Base + "prices.csv?" + url.Values{"q": {m.Q}}.Encode()
	return m, nil
}

func (l priceList) credit() *sms.Credit { return &l.visit.x.Source().Origin.Tally.Credit }

func (l priceList) currency() string { return l.visit.rooms().Money.CurrencyOf(l.credit()) }

// find returns the prices of destinations that fit a text: the beginning of a code or of a number, a whole number, or a part of
// the name of a network. more says that there are more than mostPrices.
func (l priceList) find(q string) (rows []priceRow, more bool, p *own.Problem) {
	v := l.visit
	list := v.rooms().Money.Prices(l.credit())
	if list == nil {
		return nil, false, nil
	}
	name, now := v.rooms().Networks.Name, v.rooms().Node.Clock.WallNow()
	q, to := strings.ToLower(q), number.Read(q)
	fits := func(r *prices.Row) bool {
		if r.Network != 0 {
			return strings.HasPrefix(r.For, q) || strings.Contains(strings.ToLower(name(r.Network)), q)
		}
		p, ok := number.ParsePrefix(r.For)
		return strings.HasPrefix(r.For, q) || ok && p.Fits(to)
	}
	err := v.site.portal.read(v.x, func(context.Context) error {
		var found []prices.Row
		found, more = list.Select(now, mostPrices, fits)
		for _, r := range found {
			row := priceRow{For: r.For}
			if r.Network != 0 {
				row.Name = name(r.Network)
			}
			if r.Valid {
				row.Price = r.Price.String()
			}
			if r.From != 0 {
				row.Next, row.From = r.Next.String(), dayOf(r.From)
			}
			rows = append(rows, row)
		}
		return nil
	})
	if err != nil {
		return nil, false, busyReading()
	}
	return rows, more, nil
}

// dayOf writes a time as a day if it is the beginning of one.
func dayOf(nanoseconds int64) string {
	t := time.Unix(0, nanoseconds).UTC()
	if t.Equal(t.Truncate(24 * time.Hour)) {
		return t.Format(time.DateOnly)
	}
	return t.Format(time.RFC3339)
}

// file answers with the prices as CSV, in the form in which a list is read.
func (l priceList) file() {
	v := l.visit
	currency := l.currency()
	if currency == "" {
		v.missing()
		return
	}
	rows, more, p := l.find(strings.TrimSpace(v.x.Request.URL.Query().Get("q")))
	if p != nil {
		v.refuse(p)
		return
	}
	var b boundedBuffer
	w := csv.NewWriter(&b)
	err := w.Write([]string{"for", "price", "valid_from", "currency", "name"})
	for _, r := range rows {
		if r.Price != "" {
			err = errors.Join(err, w.Write([]string{r.For, r.Price, "", currency, r.Name}))
		}
		if r.Next != "" {
			err = errors.Join(err, w.Write([]string{r.For, r.Next, r.From, currency, r.Name}))
		}
	}
	w.Flush()
	if more || errors.Join(err, w.Error()) != nil {
		v.wrong(http.StatusConflict, v.T("There are too many prices for one file. Search for those that you need."))
		return
	}
	v.answer(http.StatusOK, "text/csv; charset=utf-8", bytes.Clone(b.Bytes()),
		[2]string{"Content-Disposition", `attachment; filename="prices.csv"`})
}
